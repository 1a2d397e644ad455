"""Commands of `likewise`, one file each; cli.py puts them together."""
