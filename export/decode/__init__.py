"""Decoders: from a file to the bytes that the model sees. The rules are in docs/decoders.md."""
