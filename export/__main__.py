"""`python -m export` is the command `likewise`."""

from export.cli import main

main()
