"""The application: routes put together, headers on every answer, one shape of error."""

from __future__ import annotations

import logging
import time

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from export.errors import ContractError, LikewiseError
from server import strict_json
from server.catalogue import Catalogue
from server.config import Config
from server.digests import Digests
from server.engines.local import LocalEngine
from server.errors import ServerError
from server.headers import HEADERS
from server.routes.methods import keep_to_own_routes
from server.routes.models import models
from server.routes.page import page
from server.routes.v2 import v2

log = logging.getLogger("likewise.server")


def create_app(config: Config) -> Flask:
    """The WSGI application. Models are read when asked for, so it starts at once."""
    app = Flask("server", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = config.max_body_bytes
    app.url_map.merge_slashes = False
    catalogue = Catalogue(config.models)
    engine = LocalEngine(
        threads=config.infer_threads,
        at_once=config.infer_at_once,
        timeout_s=config.infer_timeout_s,
    )
    app.register_blueprint(v2(config, catalogue, engine))
    app.register_blueprint(models(catalogue))
    app.register_blueprint(page(config.web, Digests()))
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(LikewiseError, _our_error)
    app.register_error_handler(Exception, _unexpected_error)
    app.before_request(_start_clock)
    keep_to_own_routes(app, "/v2")
    app.after_request(_finish)
    return app


def _http_error(error: HTTPException) -> Response:
    # The original response, because it carries headers that belong to the status: Allow.
    response = Response(status=error.code, headers=error.get_response().headers)
    name = (error.name or "failed").lower().replace(" ", "-")
    return _filled(response, name, error.description or error.name)


def _our_error(error: LikewiseError) -> Response:
    status, headers = 500, {}
    if isinstance(error, ServerError):
        status, headers = error.status, error.headers
    elif isinstance(error, ContractError):
        status = 503
    return _filled(Response(status=status, headers=headers), error.code, str(error))


def _unexpected_error(error: Exception) -> Response:
    log.error("unexpected error", exc_info=error)
    return _filled(Response(status=500), "failed", "the server failed; its log says why")


def _filled(response: Response, code: str, message: str) -> Response:
    protocol = request.path == "/v2" or request.path.startswith("/v2/")
    response.data = strict_json.dumps(
        {"error": message} if protocol else {"error": {"code": code, "message": message}}
    )
    response.content_type = "application/json"
    response.headers["Cache-Control"] = "no-store"
    return response


def _start_clock() -> None:
    g.started = time.perf_counter()


def _finish(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    started = g.get("started", time.perf_counter())
    line = {
        "method": request.method,
        "path": request.path,
        "status": response.status_code,
        "bytes": response.content_length,
        "ms": round((time.perf_counter() - started) * 1000, 1),
    }
    log.info("%s", strict_json.dumps(line).decode())
    return response
