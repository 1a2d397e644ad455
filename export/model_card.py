"""The version's README.md: a Hugging Face model card, written from recipe and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator

from export.contract import Provenance, VariantName
from export.evidence import Evidence, What
from export.evidence_words import (
    WHAT,
    WHERE,
    code,
    measured,
    one_line,
    percent,
    plain,
    told,
    told_held,
    told_sure,
    told_worst,
    worst,
)
from export.recipe import Recipe, RecipeFile
from export.spec import decision, decoded_inputs, judged_outputs, stream_of
from export.stages.results import FILE_NAMES

# What Hugging Face calls pipelines; another task is told as a tag.
PIPELINES = {
    "audio-classification", "automatic-speech-recognition", "feature-extraction", "fill-mask",
    "image-classification", "image-feature-extraction", "image-segmentation", "object-detection",
    "question-answering", "sentence-similarity", "tabular-classification", "tabular-regression",
    "text-classification", "token-classification", "voice-activity-detection",
    "zero-shot-image-classification",
}  # fmt: skip
# SPDX identifiers that Hugging Face knows, in its lower case; any other is "other" with a name.
LICENCES = {
    "afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd-2-clause", "bsd-3-clause",
    "bsl-1.0", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
    "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "ecl-2.0", "epl-2.0", "eupl-1.2", "gpl-2.0",
    "gpl-3.0", "isc", "lgpl-2.1", "lgpl-3.0", "mit", "mpl-2.0", "ms-pl", "ncsa", "ofl-1.1",
    "osl-3.0", "postgresql", "unlicense", "wtfpl", "zlib",
}  # fmt: skip
SHOWN: tuple[What, ...] = ("accuracy", "label_agreement", "cosine", "max_difference")
METRICS: tuple[What, ...] = ("accuracy", "label_agreement", "cosine")
GIVEN = {
    "image": "a picture file", "drawing": "a drawing, as a picture file", "text": "a text",
    "sound": "a WAV file", "table": "a row of the table", "bytes": "any file",
    "tensor": "the tensors themselves",
}  # fmt: skip
ANSWERS = {
    "scores": "a probability for each label; labels and top k are named in contract.json",
    "embedding": "a vector of length 1: two inputs are alike as their dot product says",
    "frames": "a probability for each frame",
    "boxes": "boxes in pixels of the input tensor, with scores and classes, best first",
    "values": "the network's outputs as they are",
}  # fmt: skip


def model_card(recipe: Recipe, version: int, evidence: Evidence, provenance: Provenance) -> str:
    """Markdown with front matter: what it is, how it is used, what it was measured to be."""
    file = recipe.file
    lines = [
        "---",
        *_front_matter(recipe, evidence),
        "---",
        f"# {plain(file.title)}",
        "",
        plain(file.description),
        "",
        f"Version {version}, built {provenance.built}. Every limit of its recipe held.",
        "",
        "## How to use it",
        *_use(recipe),
        "",
        "## Inputs and outputs",
        *_tensors(file),
        "",
        "## Variants",
        *_variants(recipe, evidence),
        "",
        "## Evidence",
        *_evidence(recipe, evidence),
        "",
        "## Intended use and limits",
        *_limits(file, evidence),
        "",
        "## Data",
        plain(file.data.about),
        "",
        "## Licence",
        f"{plain(file.licence)}.",
        "",
        "## Made with",
        ", ".join(f"{tool} {number}" for tool, number in provenance.tools.items()) + ".",
    ]
    return "\n".join(lines) + "\n"


def _front_matter(recipe: Recipe, evidence: Evidence) -> Iterator[str]:
    """YAML. Every text is a JSON string, which is a YAML one too."""
    file = recipe.file
    licence = file.licence.lower()
    if licence in LICENCES:
        yield f"license: {_quoted(licence)}"
    else:
        yield 'license: "other"'
        yield f"license_name: {_quoted(file.licence)}"
    yield 'library_name: "onnx"'
    if file.task in PIPELINES:
        yield f"pipeline_tag: {_quoted(file.task)}"
    yield "tags:"
    tags = ["likewise", "onnx", file.input.kind, file.task]
    yield from (f"- {_quoted(tag)}" for tag in dict.fromkeys(tags))
    results = list(_results(recipe, evidence))
    if results:
        yield from ("model-index:", f"- name: {_quoted(recipe.name)}", "  results:", *results)


def _results(recipe: Recipe, evidence: Evidence) -> Iterator[str]:
    """What was measured on labelled data, a metric a variant."""
    found = [
        item
        for what in METRICS
        for variant in recipe.file.variants.offer
        if (item := worst(measured(evidence, what, variant))) and item.data == "labelled data"
    ]
    if not found:
        return
    file = recipe.file
    yield "  - task:"
    yield f"      type: {_quoted(file.task)}"
    yield "    dataset:"
    yield f"      type: {_quoted(recipe.name)}"
    yield f"      name: {_quoted(file.data.about)}"
    yield "    metrics:"
    for item in found:
        scored = item.what == "accuracy" and file.data.score is not None
        yield f"    - type: {_quoted('score' if scored else item.what)}"
        yield f"      name: {_quoted(f'{_name(file, item.what)}, {item.variant}')}"
        yield f"      value: {item.value:.6f}"
        yield "      verified: false"  # Hugging Face's word for what they ran themselves


def _use(recipe: Recipe) -> Iterator[str]:
    yield "In a page, with Likewise's library (`web/src/runtime` in its repository):"
    yield "```ts"
    yield "import { load } from './runtime';"
    yield ""
    yield f"const model = await load('/models/{recipe.name}/');"
    yield f"const {{ answers, sure, ran }} = await model.predict(given); // {_given(recipe.file)}"
    yield "await model.close();"
    yield "```"
    yield "It decodes as the training did, checks every file's SHA-256, proves itself on the golden"
    yield "examples of this version, and says which variant ran where. In Python the files here are"
    yield "plain ONNX; what they take is already decoded:"
    yield "```python"
    yield "import onnxruntime"
    yield ""
    yield 'session = onnxruntime.InferenceSession("model.onnx")'
    feeds = ", ".join(f"{json.dumps(name)}: {_variable(name)}" for name in _fed(recipe.file))
    yield f"answers = session.run(None, {{{feeds}}})"
    yield "```"


def _given(file: RecipeFile) -> str:
    return GIVEN[file.input.kind]


def _fed(file: RecipeFile) -> list[str]:
    stream = stream_of(file.input)
    states = [state.input for state in stream.states] if stream else []
    return [tensor.name for tensor in decoded_inputs(file.input)] + states


def _variable(name: str) -> str:
    return name if name.isidentifier() else "values"


def _tensors(file: RecipeFile) -> Iterator[str]:
    yield f"Given is {_given(file)}; contract.json names how it is decoded. The graph then takes:"
    for tensor in decoded_inputs(file.input):
        shape = "any shape" if tensor.shape is None else str(tensor.shape).replace("'", "")
        yield f"- {code(tensor.name)}: {tensor.dtype} {shape}"
    if stream := stream_of(file.input):
        yield f"in steps of {stream.step_samples:,} samples, and the stream's states, zeros at"
        yield "first and then what the step before gave:"
        yield from (f"- {code(one.input)}, given by {code(one.output)}" for one in stream.states)
    yield f"It answers {ANSWERS[file.output.kind]}:"
    yield from (f"- {code(name)}" for name in judged_outputs(decision(file.output, ("", ""))))


def _variants(recipe: Recipe, evidence: Evidence) -> Iterator[str]:
    whats = [what for what in SHOWN if any(m.what == what for m in evidence.measurements)]
    names = [_name(recipe.file, what) for what in whats]
    yield _row("variant", "file", "size", *names, "time in the browser")
    yield _row("---", "---", "---:", *("---:" for _ in whats), "---:")
    for variant in recipe.file.variants.offer:
        values = [told_sure(evidence, what, variant) for what in whats]
        size = told_worst(evidence, "size_mb", variant)
        yield _row(
            variant, code(FILE_NAMES[variant]), size, *values,
            told_worst(evidence, "time_vs_fp32", variant, "wasm"),
        )  # fmt: skip
    yield ""
    yield "Each value is the worst of all places, with its 95 % interval; times are against fp32."


def _evidence(recipe: Recipe, evidence: Evidence) -> Iterator[str]:
    yield f"Compared with: {plain(evidence.judge)}."
    yield ""
    yield f"- {told_held(evidence)}."
    yield from _inputs(evidence)
    for variant in recipe.file.variants.offer:
        yield from _counted(evidence, "label_agreement", variant, "of the answers are the judge's")
        if tested := worst(measured(evidence, "paired_p_value", variant)):
            lost = told_worst(evidence, "accuracy_loss_points", variant)
            yield (
                f"- {variant}: {lost} of right answers lost against fp32; paired test: p "
                f"{told('paired_p_value', tested.value)} on {tested.count:,} inputs."
            )
    yield from (f"- {plain(note)}" for note in evidence.notes)
    yield ""
    yield "Every value is beside its limit in evidence.json; details.json tells how answers spread."


def _inputs(evidence: Evidence) -> Iterator[str]:
    equal = [m for m in evidence.measurements if m.what == "differing_input_bytes"]
    most = max(equal, key=lambda item: item.count, default=None)
    if most is not None:
        differ = told("differing_input_bytes", max(item.value for item in equal))
        yield f"- Input tensors, Python's and the page's: {differ} differ on {most.count:,} inputs."


def _counted(evidence: Evidence, what: What, variant: VariantName, words: str) -> Iterator[str]:
    if item := worst(measured(evidence, what, variant)):
        yield (
            f"- {variant}: {told(what, item.value)} {words} (worst place: {WHERE[item.where]}, "
            f"{item.count:,} {item.data})."
        )


def _limits(file: RecipeFile, evidence: Evidence) -> Iterator[str]:
    yield f"Made for this: {plain(file.description)}"
    yield ""
    if file.output.kind == "scores" and file.output.ask_a_person_below is not None:
        share = percent(file.output.ask_a_person_below, 0)
        yield f"- Below {share} it says that it is not sure: then a person should look."
    if not any(item.data == "labelled data" for item in evidence.measurements):
        yield "- There is no labelled data: how often it is right was not measured, only that it"
        yield "  answers as the framework does."
    else:
        yield "- How often it is right was measured on the data below; on other data it may differ."
    yield "- Nothing was measured about fairness between groups of people."


def _name(file: RecipeFile, what: What) -> str:
    scored = what == "accuracy" and file.data.score is not None
    return "Score of the recipe" if scored else WHAT[what]


def _quoted(text: str) -> str:
    return json.dumps(one_line(text), ensure_ascii=False)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
