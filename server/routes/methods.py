"""The methods of a part of the site, told from that part's own routes."""

from __future__ import annotations

from flask import Flask, Response, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import Map

from server.errors import NotFound


def keep_to_own_routes(app: Flask, prefix: str) -> None:
    """Below `prefix` only its own routes count, not the page's route for any path.

    Unknown paths are 404 for every method; OPTIONS and 405 name the methods of the very route.
    """

    def below(path: str) -> bool:
        return path == prefix or path.startswith(f"{prefix}/")

    rules = [rule.empty() for rule in app.url_map.iter_rules() if below(rule.rule)]
    own = Map(rules, merge_slashes=False).bind("")

    @app.before_request
    def answer_for_the_route() -> Response | None:
        if not below(request.path):
            return None
        allowed = sorted(own.allowed_methods(request.path))
        if not allowed:
            raise NotFound(f"no such endpoint below {prefix}")
        if request.method == "OPTIONS":
            return Response(headers={"Allow": ", ".join(allowed)})
        if request.method not in allowed:
            raise MethodNotAllowed(allowed)
        return None
