"""The server: page, version files and the Open Inference Protocol v2, over one port."""

from server.app import create_app

__all__ = ["create_app"]
