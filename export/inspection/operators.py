"""Operators, their domains and versions, functions and how much they unfold to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import onnx

from export.inspection.reason import Before, Reason
from export.inspection.walk import Scope, node_name, scopes, shown

# Of the shipped runtimes, onnxruntime and onnxruntime-web 1.30.
LOADS_OPSET, LOADS_IR = 26, 13
# What is published: newer ones leave nodes of the WebGPU build on the CPU.
BEST_OPSET, BEST_IR = 20, 10
STANDARD = ("", "ai.onnx")
DOMAINS = {*STANDARD, "ai.onnx.ml", "com.microsoft"}
PYTHON = re.compile(r"^(PyOp|PyCustomOp|PyFunc|PyFuncStateless|EagerPyFunc|PythonOp\w*)$")
PYTHON_DOMAIN = re.compile(r"(^|\.)(python|pyop|pyfunc)(\.|$)|^ai\.onnx\.contrib$", re.IGNORECASE)

MOST_NODES = 100_000
MOST_DEPTH = 16

FunctionKey = tuple[str, str]


def amount_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """More nodes or deeper graphs than a trained model has; the cheapest check, so the first."""
    count = len(model.graph.node) + sum(len(f.node) for f in model.functions)
    deepest = 0
    if count <= MOST_NODES:
        count = 0
        for scope in scopes(model):
            count += len(scope.nodes)
            deepest = max(deepest, scope.depth)
    if count > MOST_NODES:
        yield Reason("too-many-nodes", f"{name}: {count:,} nodes, limit {MOST_NODES:,}; a loop was "
                     "unrolled as it went; export it with a scan or less steps")  # fmt: skip
    if deepest > MOST_DEPTH:
        yield Reason("deep-nesting", f"{name}: graphs lie {deepest} deep in each other, limit "
                     f"{MOST_DEPTH}; take the conditions out of each other")  # fmt: skip


def operator_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Versions that are too new, operators that no shipped runtime can have."""
    yield from _versions(model, name)
    own = {(f.domain, f.name) for f in model.functions}
    foreign: dict[str, list[onnx.NodeProto]] = {}
    for scope in scopes(model):
        for node in scope.nodes:
            domain = "" if node.domain in STANDARD else node.domain
            if (node.domain, node.op_type) in own:
                continue
            if domain not in DOMAINS or PYTHON.match(node.op_type):
                foreign.setdefault(domain, []).append(node)
    yield from (_foreign(name, domain, nodes) for domain, nodes in foreign.items())
    yield from _unknown(model, name, own)


def function_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Functions that call themselves, or unfold to more nodes than anyone can run."""
    calls: dict[FunctionKey, list[FunctionKey]] = {}
    sizes: dict[FunctionKey, int] = {}
    roots: list[FunctionKey] = []
    known = {(f.domain, f.name) for f in model.functions}
    owner: FunctionKey | None = None
    for scope in scopes(model):  # what is nested follows what holds it
        if scope.depth == 0:
            owner = (scope.function.domain, scope.function.name) if scope.function else None
        called = [key for n in scope.nodes if (key := (n.domain, n.op_type)) in known]
        if owner is None:
            roots += called
        else:
            calls.setdefault(owner, []).extend(called)
            sizes[owner] = sizes.get(owner, 0) + len(scope.nodes)
    unfolded: dict[FunctionKey, int] = {}
    for key in known:
        if (turning := _unfold(key, calls, sizes, unfolded)) is not None:
            yield Reason("recursive-function", f"{name}: the function {shown(turning[1])} calls "
                         "itself; ONNX does not allow that, and it never ends")  # fmt: skip
            return
    total = sum(unfolded[key] for key in roots)
    if total > MOST_NODES:
        yield Reason("function-bomb", f"{name}: its functions unfold to {total:,} nodes, limit "
                     f"{MOST_NODES:,}; inline what is needed")  # fmt: skip


def publishing_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """What runs here but not everywhere a published file must."""
    if BEST_IR < model.ir_version <= LOADS_IR:
        yield Reason("too-new", f"{name}: IR version {model.ir_version}, limit {BEST_IR}; "
                     f"set it to {BEST_IR}", "publishing")  # fmt: skip
    for opset in model.opset_import:
        if opset.domain in STANDARD and BEST_OPSET < opset.version <= LOADS_OPSET:
            yield Reason("too-new", f"{name}: opset {opset.version}, limit {BEST_OPSET}; export "
                         f"it with opset {BEST_OPSET}", "publishing")  # fmt: skip
        elif opset.domain not in DOMAINS and opset.domain not in {
            f.domain for f in model.functions
        }:
            yield Reason("foreign-domain", f"{name}: imports the operators of "
                         f"{shown(opset.domain)}, which no browser has; take the import out",
                         "publishing")  # fmt: skip
    if model.functions:
        first = shown(model.functions[0].name)
        why = f"{name}: functions of its own, {len(model.functions)} in all, first {first}"
        yield Reason("local-functions", f"{why}; inline them", "publishing")
    weights = {t.name for t in model.graph.initializer}
    listed = [v.name for v in model.graph.input if v.name in weights]
    if listed:
        why = f"{name}: weights listed as inputs, {len(listed)} in all, first {shown(listed[0])}"
        way = "whoever runs it could change them; take them off the inputs"
        yield Reason("weights-as-inputs", f"{why}; {way}", "publishing")


def _versions(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    if model.ir_version > LOADS_IR:
        yield Reason("too-new", f"{name}: IR version {model.ir_version}; the shipped runtimes load "
                     f"{LOADS_IR} at most; set it to {BEST_IR}")  # fmt: skip
    seen: dict[str, int] = {}
    for opset in model.opset_import:
        domain = "" if opset.domain in STANDARD else opset.domain
        if domain in seen:  # skl2onnx writes the same one twice; two versions leave it open which
            before: Before = "publishing" if seen[domain] == opset.version else "running"
            told = f"{name}: imports {shown(domain) or 'ai.onnx'} twice"
            versions = f"in opset {seen[domain]} and {opset.version}"
            yield Reason("duplicate-opset", f"{told}, {versions}; keep one", before)
        seen[domain] = opset.version
        if domain == "" and opset.version > LOADS_OPSET:
            yield Reason("too-new", f"{name}: opset {opset.version}; the shipped runtimes load "
                         f"{LOADS_OPSET} at most; export it with opset {BEST_OPSET}")  # fmt: skip
        if opset.version < 1:
            yield Reason("bad-opset", f"{name}: opset {opset.version} of "
                         f"{shown(domain) or 'ai.onnx'}; they begin at 1")  # fmt: skip
    if not seen:
        yield Reason("bad-opset", f"{name}: names no opset, so its operators mean nothing")


def _foreign(name: str, domain: str, nodes: list[onnx.NodeProto]) -> Reason:
    which = f"{len(nodes)} in all, first {node_name(nodes[0])}"
    if PYTHON_DOMAIN.search(domain) or PYTHON.match(nodes[0].op_type):
        why = f"{name}: operators that run Python code, {which}; no runtime here does that"
        return Reason("python-operator", f"{why}. Export the model without them")
    why = f"{name}: operators of {shown(domain)}, {which}, which no shipped runtime has"
    return Reason("foreign-domain", f"{why}; export the model with standard operators")


def _unknown(model: onnx.ModelProto, name: str, own: set[FunctionKey]) -> Iterator[Reason]:
    imported = {o.domain if o.domain not in STANDARD else "": o.version for o in model.opset_import}
    found: dict[tuple[str, str], str] = {}
    for scope in scopes(model):
        versions = imported if scope.function is None else _imports(scope, imported)
        for node in scope.nodes:
            domain = "" if node.domain in STANDARD else node.domain
            key = (domain, node.op_type)
            if key in found or (node.domain, node.op_type) in own or domain == "com.microsoft":
                continue
            if domain in DOMAINS and not PYTHON.match(node.op_type):
                found[key] = _lacking(node, domain, versions.get(domain))
    for (_, operator), why in found.items():
        if why:
            yield Reason("unknown-operator", f"{name}: {shown(operator)}: {why}")


def _imports(scope: Scope, imported: dict[str, int]) -> dict[str, int]:
    own: Iterable[onnx.OperatorSetIdProto] = scope.function.opset_import if scope.function else ()
    return {**imported, **{o.domain if o.domain not in STANDARD else "": o.version for o in own}}


def _lacking(node: onnx.NodeProto, domain: str, version: int | None) -> str:
    told = domain or "ai.onnx"
    if version is None:
        return f"no opset of {told} is imported"
    if not onnx.defs.has(node.op_type, domain):
        return f"there is no such operator in {told}"
    try:
        onnx.defs.get_schema(node.op_type, min(version, 2**31 - 1), domain)
    except onnx.defs.SchemaError:
        return f"not in opset {version} of {told}; export the model with a newer one"
    return ""


def _unfold(
    start: FunctionKey, calls: dict[FunctionKey, list[FunctionKey]],
    sizes: dict[FunctionKey, int], unfolded: dict[FunctionKey, int],
) -> FunctionKey | None:  # fmt: skip
    """Fill in how many nodes a function unfolds to; the function that turns round, if one does."""
    stack, open_ones = [start], set[FunctionKey]()
    while stack:
        key = stack[-1]
        if key in unfolded:
            stack.pop()
            continue
        missing = [c for c in dict.fromkeys(calls.get(key, [])) if c not in unfolded]
        if not missing:
            inner = calls.get(key, [])
            unfolded[key] = sizes.get(key, 0) + sum(unfolded[c] for c in inner)
            open_ones.discard(key)
            stack.pop()
            continue
        open_ones.add(key)
        for one in missing:
            if one in open_ones:
                return one
        stack.extend(missing)
    return None
