"""The Open Inference Protocol v2 for the published versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from flask import Blueprint, Response, request
from pydantic import BaseModel

from export.contract import Tensor, Variant
from export.errors import LikewiseError
from server import strict_json, tensors
from server.bodies import read_body
from server.catalogue import Catalogue, Version
from server.config import Config
from server.engines import Engine, Task
from server.errors import BadRequest, NotFound, NotReady
from server.protocol import HEADER_LENGTH, InferRequest, parse, read_request, write_response

EXTENSIONS = ["binary_tensor_data", "model_repository"]


class RepositoryQuery(BaseModel):
    """Body of POST /v2/repository/index."""

    ready: bool = False


def v2(config: Config, catalogue: Catalogue, engine: Engine) -> Blueprint:
    """Routes of the protocol; errors are answered in its own shape by the application."""
    routes = Blueprint("v2", __name__, url_prefix="/v2")

    @routes.get("")
    @routes.get("/")
    def server_metadata() -> Response:
        return _json({"name": "likewise", "version": _own_version(), "extensions": EXTENSIONS})

    @routes.get("/health/live")
    def live() -> Response:
        return _json({"live": True})

    @routes.get("/health/ready")
    def ready() -> Response:
        current = {name: entry.version for name, entry in catalogue.index().models.items()}
        rows = [_state(catalogue, name, number) for name, number in current.items()]
        if reasons := [row["reason"] for row in rows if row["state"] != "READY"]:
            raise NotReady("; ".join(reasons))
        return _json({"ready": True})

    @routes.post("/repository/index")
    def repository() -> Response:
        body = read_body(request, config.max_body_bytes)
        query = parse(RepositoryQuery, body) if body.strip() else RepositoryQuery()
        listed = [
            _state(catalogue, name, number)
            for name in catalogue.index().models
            for number in catalogue.versions(name)
        ]
        return _json([row for row in listed if row["state"] == "READY" or not query.ready])

    @routes.get("/models/<name>")
    @routes.get("/models/<name>/versions/<number>")
    def metadata(name: str, number: str | None = None) -> Response:
        contract = catalogue.verified(name, _number(number)).contract
        return _json(
            {
                "name": name,
                "versions": [str(n) for n in catalogue.versions(name)],
                "platform": "onnxruntime_onnx",
                "inputs": [_described(tensor) for tensor in contract.inputs],
                "outputs": [_described(tensor) for tensor in contract.outputs],
            }
        )

    @routes.get("/models/<name>/ready")
    @routes.get("/models/<name>/versions/<number>/ready")
    def model_ready(name: str, number: str | None = None) -> Response:
        _check_ready(catalogue, name, _number(number))
        return _json({"name": name, "ready": True})

    @routes.post("/models/<name>/infer")
    @routes.post("/models/<name>/versions/<number>/infer")
    def infer(name: str, number: str | None = None) -> Response:
        version = catalogue.verified(name, _number(number))
        asked = read_request(
            version.contract,
            read_body(request, config.max_body_bytes),
            request.headers.get(HEADER_LENGTH),
            max_batch=config.max_batch,
            max_values=config.max_body_bytes,  # no value takes less than a byte
        )
        return _infer(catalogue, engine, version, asked)

    return routes


def _infer(catalogue: Catalogue, engine: Engine, version: Version, asked: InferRequest) -> Response:
    variant = _variant(version, asked.variant)
    catalogue.check_variant(version, variant)
    task = Task(
        contract=version.contract,
        variant=variant,
        read=lambda: catalogue.variant_bytes(version, variant),
        inputs=asked.inputs,
        outputs=[wanted.tensor.name for wanted in asked.outputs],
    )
    arrays = engine.infer(task)
    head: dict[str, object] = {
        "model_name": version.contract.name,
        "model_version": str(version.contract.version),
        "parameters": {
            "variant": variant.name,
            "provider": engine.provider,
            "version": version.contract.version,
        },
    }
    if asked.id is not None:
        head["id"] = asked.id
    body = write_response(head, list(zip(asked.outputs, arrays, strict=True)))
    if body.json_bytes is None:
        return Response(body.data, content_type="application/json")
    response = Response(body.data, content_type="application/octet-stream")
    response.headers[HEADER_LENGTH] = str(body.json_bytes)
    return response


def _variant(version: Version, name: str | None) -> Variant:
    if name is None:
        return version.best()
    if name not in version.passing():
        raise BadRequest(
            f"variant {tensors.quoted(name)} of {version.label} is not served;"
            f" passed here: {', '.join(version.passing()) or 'none'}"
        )
    return version.contract.variant(name)


def _check_ready(catalogue: Catalogue, name: str, number: int | None) -> None:
    version = catalogue.verified(name, number)
    catalogue.check_variant(version, version.best())


def _state(catalogue: Catalogue, name: str, number: int) -> dict[str, str]:
    try:
        _check_ready(catalogue, name, number)
    except LikewiseError as error:
        return _row(name, number, "UNAVAILABLE", str(error))
    return _row(name, number, "READY", "")


def _row(name: str, number: int, state: str, reason: str) -> dict[str, str]:
    return {"name": name, "version": str(number), "state": state, "reason": reason}


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise NotFound(f"version {tensors.quoted(text)} is no version number")
    return int(text)


def _described(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "datatype": tensors.datatype(tensor),
        "shape": tensors.shape(tensor),
    }


def _own_version() -> str:
    try:
        return version("likewise")
    except PackageNotFoundError:
        return "unknown"


def _json(value: object) -> Response:
    return Response(strict_json.dumps(value), content_type="application/json")
