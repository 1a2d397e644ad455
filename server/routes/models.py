"""The published versions as files: index.json, contracts, and what the contracts name."""

from __future__ import annotations

from flask import Blueprint, Response, request

from server.catalogue import Catalogue, Version
from server.errors import NotFound
from server.files import IMMUTABLE, REVALIDATE, send


def models(catalogue: Catalogue) -> Blueprint:
    """Routes of the files under models/, as they lie on disk now: the page checks their hashes."""
    routes = Blueprint("models", __name__, url_prefix="/models")

    @routes.get("/index.json")
    def index() -> Response:
        return _send("index.json", REVALIDATE)

    @routes.get("/<name>/<int:number>/contract.json")
    def contract(name: str, number: int) -> Response:
        if number not in catalogue.versions(name):
            raise NotFound(f"{name}/{number} is not published")
        catalogue.check_there(name, number)
        return _send(f"{name}/{number}/contract.json", REVALIDATE)

    @routes.get("/<name>/<int:number>/<path:file>")
    def version_file(name: str, number: int, file: str) -> Response:
        version = catalogue.published(name, number)
        return _send(f"{name}/{number}/{file}", IMMUTABLE, _published_sha256(version, file))

    @routes.get("/<path:rest>")
    def unknown(rest: str) -> Response:  # noqa: ARG001  # the route names it
        raise NotFound("no such file is published")

    def _send(file: str, cache: str, expected: str | None = None) -> Response:
        return send(
            request,
            catalogue.models / file,
            root=catalogue.models,
            digests=catalogue.digests,
            cache=cache,
            expected=expected,
        )

    return routes


def _published_sha256(version: Version, file: str) -> str:
    for ref in version.contract.files():
        if ref.file == file:
            return ref.sha256
    raise NotFound(f"{version.label} has no file of that name")
