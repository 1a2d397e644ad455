"""Names: who gives what to whom, each once, nobody to himself, and nothing but plain characters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import onnx

from export.inspection.reason import Reason
from export.inspection.walk import Scope, graphs_of, node_name, scopes, shown

Free = dict[int, set[str]]
"""By the identity of a sub-graph: the names that it takes from outside."""

LONGEST = 4096
TURNING = {"\u2028", "\u2029", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


def text_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Names that would deceive or break whoever reads them."""
    for where, text in _names(model):
        if not isinstance(text, str):  # what protobuf gives where it is no UTF-8
            yield Reason("bad-name", f"{name}: {where} has a name that is no UTF-8; rename it")
            return
        bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in TURNING]
        if bad:
            yield Reason("bad-name", f"{name}: {where} is named {shown(text)} with the control "
                         f"character U+{ord(bad[0]):04X}; rename it")  # fmt: skip
            return
        if len(text) > LONGEST:
            yield Reason("bad-name", f"{name}: {where} has a name of {len(text):,} characters, "
                         f"limit {LONGEST:,}; rename it")  # fmt: skip
            return


def name_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Duplicates, cycles and values from nowhere."""
    everything = list(scopes(model))  # kept, because free names are known by the graphs' identity
    free = _free_names(everything)
    for scope in everything:
        if scope.depth == 0:  # what is nested is resolved together with what holds it
            yield from _resolve(scope, name, free)
        else:
            yield from _duplicates(scope, name)


def _resolve(scope: Scope, name: str, free: Free) -> Iterator[Reason]:
    yield from _duplicates(scope, name)
    yield from _ordered(scope, name, set(), free)


def _ordered(scope: Scope, name: str, outer: set[str], free: Free) -> Iterator[Reason]:
    """The scope, then what is nested in it, which sees its names too."""
    known = outer | _given(scope)
    yield from _order(scope, name, known, free)
    inside = known | {o for node in scope.nodes for o in node.output}
    for node in scope.nodes:
        for attribute in node.attribute:
            for graph in graphs_of(attribute):
                where = f"{attribute.name} of {node_name(node)}"
                inner = Scope(where, scope.depth + 1, list(graph.node), graph)
                yield from _ordered(inner, name, inside, free)


def _given(scope: Scope) -> set[str]:
    if scope.function is not None:
        return {"", *scope.function.input}
    graph = scope.graph
    if graph is None:
        return {""}
    sparse = [s.values.name for s in graph.sparse_initializer]
    return {"", *(v.name for v in graph.input), *(t.name for t in graph.initializer), *sparse}


def _order(scope: Scope, name: str, known: set[str], free: Free) -> Iterator[Reason]:
    """Nodes in the order given, then whatever of the rest can follow; what is left turns round."""
    made = {o for node in scope.nodes for o in node.output if o}
    nowhere = [
        (node, missing)
        for node in scope.nodes
        if (missing := sorted(_needs(node, free) - made - known))
    ]
    for node, missing in nowhere[:3]:
        yield Reason("undefined-input", f"{name}: {node_name(node)} takes {shown(missing[0])}, "
                     f"which nothing in {scope.where} gives; export it again")  # fmt: skip
    outputs = _outputs(scope)
    for output in [o for o in outputs if o not in made | known][:3]:
        yield Reason("undefined-output", f"{name}: the output {shown(output)} of {scope.where} is "
                     "given by no node; export it again")  # fmt: skip
    if nowhere:
        return
    waiting, unsorted = _unordered(scope.nodes, set(known), free)
    if waiting:
        yield Reason("cycle", f"{name}: {len(waiting)} nodes of {scope.where} wait for each other, "
                     f"first {node_name(waiting[0])}; export it again")  # fmt: skip
    elif unsorted:
        yield Reason("unsorted", f"{name}: {unsorted} nodes of {scope.where} come before what they "
                     "take; sort them", "publishing")  # fmt: skip


def _unordered(
    nodes: Iterable[onnx.NodeProto], known: set[str], free: Free
) -> tuple[list[onnx.NodeProto], int]:
    """Nodes that can never run, and how many come too early."""
    early: list[onnx.NodeProto] = []
    for node in nodes:
        if _needs(node, free) <= known:
            known.update(node.output)
        else:
            early.append(node)
    count = len(early)
    consumers: dict[str, list[int]] = {}
    missing = [_needs(node, free) - known for node in early]
    for position, names in enumerate(missing):
        for one in names:
            consumers.setdefault(one, []).append(position)
    ready = [p for p, names in enumerate(missing) if not names]
    done = set(ready)
    while ready:
        for output in early[ready.pop()].output:
            for position in consumers.get(output, []):
                missing[position].discard(output)
                if not missing[position] and position not in done:
                    done.add(position)
                    ready.append(position)
    return [node for p, node in enumerate(early) if p not in done], count


def _needs(node: onnx.NodeProto, free: Free) -> set[str]:
    needs = {i for i in node.input if i}
    for attribute in node.attribute:
        for graph in graphs_of(attribute):
            needs |= free.get(id(graph), set())
    return needs


def _free_names(everything: Sequence[Scope]) -> Free:
    """Of each sub-graph: the names it takes from outside."""
    free: Free = {}
    for scope in reversed(everything):  # inner ones come later, so they are known first
        graph = scope.graph
        if graph is None or not scope.depth:
            continue
        inside = _given(scope) | {o for node in scope.nodes for o in node.output}
        outputs = {v.name for v in graph.output}
        needs = {n for node in scope.nodes for n in _needs(node, free)} | outputs
        free[id(graph)] = needs - inside
    return free


def _duplicates(scope: Scope, name: str) -> Iterator[Reason]:
    graph = scope.graph
    groups = {"nodes' outputs": [o for node in scope.nodes for o in node.output if o]}
    if graph is not None:
        groups["inputs"] = [v.name for v in graph.input]
        if not scope.depth:
            groups["outputs"] = [v.name for v in graph.output]
        sparse = [s.values.name for s in graph.sparse_initializer]
        groups["weights"] = [*(t.name for t in graph.initializer), *sparse]
        given = {*groups["inputs"], *groups["weights"]}
        groups["values"] = [*given, *dict.fromkeys(groups["nodes' outputs"])]
    for what, names in groups.items():
        twice = [n for n, count in Counter(names).items() if count > 1]
        if twice:
            yield Reason("duplicate-name", f"{name}: {len(twice)} {what} of {scope.where} share a "
                         f"name, first {shown(twice[0])}; which one is meant depends on the "
                         "runtime; export it again")  # fmt: skip


def _outputs(scope: Scope) -> list[str]:
    if scope.function is not None:
        return list(scope.function.output)
    return [v.name for v in scope.graph.output] if scope.graph is not None else []


def _names(model: onnx.ModelProto) -> Iterator[tuple[str, object]]:
    for opset in model.opset_import:
        yield "a domain", opset.domain
    for scope in scopes(model):
        for node in scope.nodes:
            for text in (node.name, node.op_type, node.domain, *node.input, *node.output):
                yield f"a node or value of {scope.where}", text
        if scope.graph is not None:
            for value in (*scope.graph.input, *scope.graph.output):
                yield "an input or output", value.name
                for dim in value.type.tensor_type.shape.dim:
                    yield f"a size of {shown(value.name)}", dim.dim_param
            for tensor in scope.graph.initializer:
                yield "a weight", tensor.name
