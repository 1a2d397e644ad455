"""The page: what `npm run build` put into web/dist."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, request

from server.digests import Digests
from server.errors import NotFound
from server.files import IMMUTABLE, REVALIDATE, send

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Likewise: the page is not built</title>
<h1>The page is not built</h1>
<p>This server looks for the built page in the folder that <code>LIKEWISE_WEB</code> names
and finds no <code>index.html</code> there.</p>
<p>Run <code>make run</code>, which builds and serves it, or <code>npm run build</code>
and reload.</p>
</html>
"""


def page(web: Path, digests: Digests) -> Blueprint:
    """Routes of the built page in `web`. Unknown paths are 404, never the page itself."""
    routes = Blueprint("page", __name__)

    @routes.get("/")
    def index() -> Response:
        if not (web / "index.html").is_file():
            return Response(NOT_BUILT, status=503, headers={"Cache-Control": "no-store"})
        return file("index.html")

    @routes.get("/<path:name>")
    def file(name: str) -> Response:
        if not is_plain(name):
            raise NotFound("no such page")
        # Names under assets/ hold a hash of the content, so what they name never changes.
        cache = IMMUTABLE if name.startswith("assets/") else REVALIDATE
        return send(request, web / name, root=web, digests=digests, cache=cache, precompressed=True)

    return routes


def is_plain(name: str) -> bool:
    """Whether the path stays where it is put: no empty, hidden or upward segment."""
    return "\\" not in name and all(part and not part.startswith(".") for part in name.split("/"))
