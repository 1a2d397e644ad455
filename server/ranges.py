"""Range and If-Range of RFC 9110: which part of a file a request asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

# 18 digits are more than any file has bytes; longer numbers are no range that we know.
_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """The bytes from `start` up to, not including, `stop`."""

    start: int
    stop: int


class Unsatisfiable(Exception):
    """The range lies wholly outside the file: 416."""


def wanted_part(header: str | None, size: int) -> Part | None:
    """The one part that a Range header asks for; None means the whole file.

    Unknown units, several ranges and malformed ones are ignored, as RFC 9110 (14.2) allows: the
    whole file is never wrong. Raises Unsatisfiable for a part beyond the end. A file of no
    bytes is always answered whole.
    """
    match = _ONE_RANGE.fullmatch(header or "")
    if match is None or match.groups() == ("", "") or size == 0:
        return None
    first, last = match.groups()
    if first == "":
        return _suffix(int(last), size)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise Unsatisfiable
    return Part(int(first), min(int(last) + 1, size) if last else size)


def part_still_valid(if_range: str | None, etag: str) -> bool:
    """Whether If-Range lets a part be sent: absent, or this very strong ETag.

    A weak tag, a date (we send no Last-Modified) or another tag gets the whole file, so a
    download is never spliced from two versions.
    """
    return if_range is None or if_range.strip() == etag


def _suffix(length: int, size: int) -> Part:
    if length == 0:
        raise Unsatisfiable
    return Part(max(size - length, 0), size)
