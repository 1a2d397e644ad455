"""The server: page, version files and the Open Inference Protocol v2, over one port."""
