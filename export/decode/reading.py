"""Text and JSON from outside, as docs/decoders.md reads them for every kind alike."""

from __future__ import annotations

import codecs
import json
from typing import NoReturn

from export.errors import DecodeError

# ASCII's, and nothing beyond: languages differ in what else they call white space.
WHITE_SPACE = "\t\n\v\f\r "


def read_utf8(data: bytes) -> str:
    """The text without a byte order mark; DecodeError naming the first byte that is no UTF-8."""
    # Told by its bytes, since the codec "utf-8-sig" counts from behind the mark.
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        return data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = start + error.start
        raise DecodeError(
            f"not UTF-8: byte {at} is 0x{data[at]:02x} ({error.reason}); save the text as UTF-8"
        ) from error


def is_json(text: str) -> bool:
    """Whether a file that may also be another format is a JSON object."""
    return text.lstrip(WHITE_SPACE).startswith("{")


def read_json_object(text: str) -> dict[str, object]:
    """Strict JSON, every number as float64 as in JavaScript; DecodeError saying where it is not."""
    try:
        # Integers too, whose many digits would otherwise be read slowly or not at all.
        value = json.loads(text, parse_constant=_refuse, parse_int=float)
    except json.JSONDecodeError as error:
        raise DecodeError(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise DecodeError("not JSON that can be read: it is nested too deeply") from error
    if not isinstance(value, dict):
        raise DecodeError(f"JSON {quoted(value)}; give an object")
    return value


def quoted(value: object) -> str:
    """A value from outside, made short and harmless for a message."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (ValueError, TypeError, RecursionError):
        text = "a value"
    return text if len(text) <= 60 else f"{text[:60]}..."


def _refuse(constant: str) -> NoReturn:
    raise DecodeError(f"not JSON: {constant} is no JSON number; leave the value out or give null")
