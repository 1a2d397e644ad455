"""How far a variant is from what the recipe aims at."""

from __future__ import annotations

from export.errors import RecipeError
from export.evaluate import Evaluation
from export.recipe.limits import Aim


def missed_by(aim: Aim, fp32: Evaluation, got: Evaluation) -> float:
    """The sum of what each measure lacks, in shares of one; 0: the aim is reached.

    RecipeError where the aim names a measure that this model or its data does not have.
    """
    missed = 0.0
    if aim.label_agreement is not None:
        missed += max(0.0, aim.label_agreement - _had("label_agreement", got.label_agreement))
    if aim.accuracy_loss_points is not None:
        lost = _had("accuracy", fp32.accuracy) - _had("accuracy", got.accuracy)
        missed += max(0.0, lost - aim.accuracy_loss_points / 100 - 1e-9)
    if aim.cosine is not None:
        missed += max(0.0, aim.cosine - _had("cosine", got.cosine))
    return missed


def loss(fp32: Evaluation, got: Evaluation) -> float:
    """How much worse than fp32, over all that was measured, in shares of one."""
    lost = 0.0
    if got.label_agreement is not None and fp32.label_agreement is not None:
        lost += fp32.label_agreement - got.label_agreement
    if got.accuracy is not None and fp32.accuracy is not None:
        lost += fp32.accuracy - got.accuracy
    if got.cosine is not None and fp32.cosine is not None:
        lost += fp32.cosine - got.cosine
    return max(0.0, lost)


def words(got: Evaluation) -> str:
    """For a line of progress."""
    told = {"agreement": got.label_agreement, "accuracy": got.accuracy, "cosine": got.cosine}
    return ", ".join(f"{name} {value:.3f}" for name, value in told.items() if value is not None)


def aim_words(aim: Aim) -> str:
    """For a line of progress."""
    told = {
        "agreement": aim.label_agreement,
        "points lost at most": aim.accuracy_loss_points,
        "cosine": aim.cosine,
    }
    return ", ".join(f"{name} {value:g}" for name, value in told.items() if value is not None)


def _had(what: str, value: float | None) -> float:
    if value is None:
        raise RecipeError(
            f"variants.q8.aim needs {what}, and nothing measures it here: aim at another measure, "
            "or give labelled data (for accuracy with labels or [data] score)"
        )
    return value
