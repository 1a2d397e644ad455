"""JSON as RFC 8259 has it: no NaN, no Infinity, and no input that fells the parser."""

from __future__ import annotations

import json
from typing import NoReturn

from server.errors import BadRequest


def loads(data: bytes) -> object:
    """Parse UTF-8 JSON. Raises BadRequest, saying where, for anything that is not JSON."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise BadRequest(f"the JSON is not UTF-8: byte {error.start} is wrong") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadRequest(f"the body is not JSON: {error.msg} at {where}") from error
    except RecursionError as error:
        raise BadRequest("the JSON is nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise BadRequest("the JSON holds a number that is too long") from error


def dumps(value: object) -> bytes:
    """Compact strict JSON; ValueError for NaN and Infinity.

    Everything beyond ASCII is escaped: what a client sent may not be valid Unicode.
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _refuse(constant: str) -> NoReturn:
    raise BadRequest(f"the body is not JSON: {constant} is no JSON number")
