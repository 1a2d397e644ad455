"""Evidence in words, as the page has them: names, values with units, the value to judge by."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from export.contract import Backend, VariantName
from export.evidence import Evidence, Measurement, What, Where
from export.stages.gate import AT_LEAST, BACKEND_OF

WHAT: dict[What, str] = {
    "accuracy": "Right answers",
    "accuracy_loss_points": "Right answers lost",
    "batch_difference": "Difference between alone and in a batch",
    "cosine": "Likeness to the judge's vector (cosine)",
    "differing_input_bytes": "Differing bytes of the input",
    "label_agreement": "Same answer as the judge",
    "max_difference": "Largest difference of an output",
    "paired_p_value": "Chance that the loss is chance (paired test)",
    "p95_ms": "95 of 100 runs end within",
    "size_mb": "Size",
    "size_vs_fp32": "Size against fp32",
    "time_vs_fp32": "Time against fp32",
    "median_ms": "Median time of a run",
}
WHERE: dict[Where, str] = {
    "publication": "Files",
    "python-cpu": "Python, CPU",
    "chromium-wasm-1-thread": "Browser, wasm, 1 thread",
    "chromium-wasm-2-threads": "Browser, wasm, 2 threads",
    "chromium-webgpu": "Browser, WebGPU",
}
STATUS = {"passed": "offered", "unverified": "not verified", "not-offered": "not offered"}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What Markdown would take for its own: anywhere, around words, and at a line's beginning.
MARKS = re.compile(r"([\\`*\[\]<|~$&]|(?<![^\W_])_|_(?![^\W_])|^[#>+=-]|^\d+(?=[.)] ))")


def told(what: What, value: float) -> str:
    """A measured value or a limit, with its unit."""
    match what:
        case "accuracy" | "label_agreement":
            return percent(value, 2)
        case "accuracy_loss_points":
            return f"{value:.2f} points"
        case "differing_input_bytes":
            return f"{value:,.0f} {'byte' if value == 1 else 'bytes'}"
        case "batch_difference" | "max_difference":
            return difference(value)
        case "cosine":
            return f"{math.floor(value * 1e6) / 1e6:g}"  # never rounded up to 1
        case "paired_p_value":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        case "size_mb":
            return size(value * 1e6)
        case "size_vs_fp32" | "time_vs_fp32":
            return f"{value:.2f} times"
        case "median_ms" | "p95_ms":
            return duration(value)


def interval(item: Measurement) -> str:
    """ "98.8-99.6 %": the 95 % interval of a value; empty where none was measured."""
    if item.low is None or item.high is None:
        return ""
    return f"{told(item.what, item.low).split(' ')[0]}-{told(item.what, item.high)}"


def percent(share: float, digits: int = 1) -> str:
    """A share in per cent. What is not certain is never rounded to certainty, either way."""
    least, shown = 10.0**-digits, share * 100
    if 0 < shown < least / 2:
        return f"< {least:g} %"
    if 100 - least / 2 < shown < 100:
        return f"> {100 - least:.{digits}f} %"
    return f"{shown:.0f} %" if shown in (0, 100) else f"{shown:.{digits}f} %"


def difference(value: float) -> str:
    """A difference of outputs: "0", "0.20", "1.6 × 10⁻⁶"."""
    if value == 0:
        return "0"
    if value >= 0.01:
        return f"{value:.2f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} × {power(int(exponent))}"


def power(exponent: int) -> str:
    """A power of ten: "10⁻⁶"."""
    return f"10{str(exponent).translate(SUPERSCRIPTS)}"


def duration(ms: float) -> str:
    """A duration: "4.1 ms", "312 ms", "1.25 s"."""
    if ms >= 1000:
        return f"{ms / 1000:.{1 if ms >= 10_000 else 2}f} s"
    digits = 0 if ms >= 10 else 1 if ms >= 0.1 or ms == 0 else 2
    return f"{ms:.{digits}f} ms"


def size(count: float) -> str:
    """Bytes in the unit that suits them: "318 bytes", "4.1 kB", "3.9 MB"."""
    if count >= 1e5:
        return f"{count / 1e6:.{2 if count < 1e6 else 1}f} MB"
    return f"{count / 1e3:.1f} kB" if count >= 1e3 else f"{count:.0f} bytes"


def worst(items: Iterable[Measurement]) -> Measurement | None:
    """The one to judge by: the least of what should be much, the most of what should be little."""
    found = list(items)
    if not found:
        return None
    much = found[0].what in AT_LEAST or found[0].what == "paired_p_value"
    return (min if much else max)(found, key=lambda item: item.value)


def measured(
    evidence: Evidence, what: What, variant: VariantName | None, backend: Backend | None = None
) -> list[Measurement]:
    """Of a variant, at one backend or anywhere; on labelled data where there are any.

    Without what missed its limit: there the variant is not offered.
    Golden examples were chosen: labelled data tell how it does on what comes.
    """
    mine = [
        item
        for item in evidence.measurements
        if item.what == what and item.variant == variant and item.passed is not False
        and backend in (None, BACKEND_OF.get(item.where))
    ]  # fmt: skip
    labelled = [item for item in mine if item.data == "labelled data"]
    return labelled or mine


def limits(evidence: Evidence) -> list[Measurement]:
    """Of each limit the worst value, over all places that are held to it."""
    groups: dict[tuple[What, VariantName | None, float], list[Measurement]] = {}
    for item in evidence.measurements:
        if item.limit is not None:
            groups.setdefault((item.what, item.variant, item.limit), []).append(item)
    return [least for items in groups.values() if (least := worst(items))]


def told_held(evidence: Evidence) -> str:
    """Of a published version: how many limits held, and what that means for the others."""
    judged = [item.passed for item in evidence.measurements if item.passed is not None]
    held = f"{sum(judged)} of {len(judged)} limits held"
    return held if all(judged) else f"{held}; where one was missed, the variant is not offered"


def room(item: Measurement) -> str:
    """How far a value is from its limit: points above it, or how much of it is used."""
    if item.limit is None:
        return ""
    if item.what in AT_LEAST:
        return f"{(item.value - item.limit) * 100:.2f} points"
    if item.what == "accuracy_loss_points":
        return f"{item.limit - item.value:.2f} points"
    return "none needed" if item.limit == 0 else f"{100 * item.value / item.limit:.0f} % used"


def place(item: Measurement) -> str:
    """Where and on how much it was measured."""
    where = WHERE[item.where]
    return where if item.data == "files" else f"{where}, {item.count:,} {item.data}"


def told_sure(evidence: Evidence, what: What, variant: VariantName) -> str:
    """The value to judge by with its interval, in words; empty where nothing was measured."""
    item = worst(measured(evidence, what, variant))
    if item is None:
        return ""
    sure = interval(item)
    return told(what, item.value) + (f" ({sure})" if sure else "")


def told_worst(
    evidence: Evidence, what: What, variant: VariantName, backend: Backend | None = None
) -> str:
    """The value to judge by, in words; empty where nothing was measured."""
    item = worst(measured(evidence, what, variant, backend))
    return told(what, item.value) if item else ""


def plain(text: str) -> str:
    """Anybody's text as one line of Markdown that shows it as it is."""
    return MARKS.sub(lambda found: _escaped(found[0]), one_line(text))


def code(text: str) -> str:
    """A name as Markdown's code."""
    return f"`{one_line(text).replace('`', chr(39)).replace('|', '/')}`"


def _escaped(mark: str) -> str:
    return f"&#{ord(mark[0])};{mark[1:]}" if mark.isdigit() else f"\\{mark}"


def one_line(text: str) -> str:
    """Without line breaks and what no one sees."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
