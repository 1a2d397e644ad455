"""What a file tells about the machine and the person it was made by."""

from __future__ import annotations

import re
from collections.abc import Iterator

import onnx

from export.inspection.reason import Reason
from export.inspection.walk import node_name, scopes, shown

SECRETS = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access key": re.compile(r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{30,}|hf_\w{30,}|sk-[\w-]{20,})"),
    "a password": re.compile(r"(?i)\b(password|passwd|secret|api_?key|token)\b\s*[=:]\s*\S"),
    "an e-mail address": re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w\b"),
    "a path of a machine": re.compile(
        r"(?<![\w/])/(home|Users|root|mnt|tmp|opt|srv|var|work|workspace|data|content)/[^\s:]+"
        r"|\b[A-Za-z]:\\\\?[^\s]+|\bfile://|\\\\[\w.-]+\\"
    ),
}


def metadata_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Notes of nodes, values and graphs, whatever they say; of the model, where they say too much.

    What they say is never repeated.
    """
    noted = [where for where, texts in _notes(model) if any(texts)]
    told = next((what for _, texts in _notes(model) for t in texts if (what := _secret(t))), None)
    if noted:
        also = f", with {told} among them" if told else ""
        why = f"{name}: notes of whoever made it{also}, {len(noted)} in all, first at {noted[0]}"
        yield Reason("private-metadata", f"{why}; take them out", "publishing")
    for where, text in _texts(model):
        if what := _secret(text):
            yield Reason("private-metadata", f"{name}: {where} holds {what}; take it out",
                         "publishing")  # fmt: skip


def _secret(text: object) -> str | None:
    text = str(text)  # bytes, where it is no UTF-8
    return next((what for what, pattern in SECRETS.items() if pattern.search(text)), None)


def _notes(model: onnx.ModelProto) -> Iterator[tuple[str, list[str]]]:
    for scope in scopes(model):
        for holder in (scope.graph, scope.function):
            if holder is not None:
                yield scope.where, [holder.doc_string, *_values(holder.metadata_props)]
        for node in scope.nodes:
            texts = [node.doc_string, *_values(node.metadata_props)]
            yield node_name(node), [*texts, *(a.doc_string for a in node.attribute)]
        if scope.graph is not None:
            graph = scope.graph
            for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
                yield shown(value.name), [value.doc_string, *_values(value.metadata_props)]


def _texts(model: onnx.ModelProto) -> Iterator[tuple[str, str]]:
    """Where a word is allowed, but not every one."""
    yield "the model's description", model.doc_string
    yield "the producer", f"{model.producer_name} {model.producer_version} {model.domain}"
    for entry in model.metadata_props:
        yield f"the metadata {shown(entry.key)}", f"{entry.key}={entry.value}"
    for scope in scopes(model):
        for node in scope.nodes:
            yield "the name of a node", node.name


def _values(entries: object) -> list[str]:
    return [f"{e.key}={e.value}" for e in entries]  # type: ignore[attr-defined]
