"""What the server answers when it cannot do what was asked."""

from __future__ import annotations

from collections.abc import Mapping

from export.errors import LikewiseError


class ServerError(LikewiseError):
    """Base of the server's errors: an HTTP status and headers beside the code and the message."""

    status = 500

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})


class BadRequest(ServerError):
    """The request is malformed, or names something that this model does not have."""

    status = 400
    code = "bad-request"


class NotFound(ServerError):
    """No such page, file, model or version is published."""

    status = 404
    code = "not-found"


class Changed(ServerError):
    """The file is no longer the one that If-Match names."""

    status = 412
    code = "changed"


class OutOfRange(ServerError):
    """The part asked for lies beyond the file's end."""

    status = 416
    code = "out-of-range"


class TooLarge(ServerError):
    """The request's body, as sent or unpacked, is over the limit."""

    status = 413
    code = "too-large"


class UnsupportedEncoding(ServerError):
    """The body's Content-Encoding is none that the server can undo."""

    status = 415
    code = "unsupported-encoding"


class NotANumber(ServerError):
    """The answer holds NaN or Infinity, which JSON cannot carry."""

    status = 422
    code = "not-a-number"


class BadContract(ServerError):
    """A published contract or model does not hold what it promises; a publisher must act."""

    status = 503
    code = "bad-contract"


class WrongBytes(ServerError):
    """A file on disk is not the file that was published. It is not used."""

    status = 503
    code = "wrong-bytes"


class Unverified(ServerError):
    """No variant of the version passed verification on this server's backend."""

    status = 503
    code = "unverified"


class NotReady(ServerError):
    """A current version cannot be used; the message says which and why."""

    status = 503
    code = "not-ready"


class Busy(ServerError):
    """No engine came free in time."""

    status = 503
    code = "busy"


class TimedOut(ServerError):
    """The model ran past its deadline and was stopped."""

    status = 504
    code = "timed-out"
