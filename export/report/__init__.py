"""`likewise report`: one self-contained page of a version's evidence, with pictures."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from export.report.charts import charts
from export.report.confusion import confusion, reliability
from export.report.summary import facts, verdict
from export.report.tables import limit_rows, offers, places
from export.report.version import Reported, read_version
from export.report.worst import worst_groups

HERE = Path(__file__).parent


def report(models: Path, name: str, version: int | None = None) -> str:
    """The page of a published version, the current one by default.

    Every file of the version is compared with its hash first: the page tells of this evidence and
    no other. Raises SetupError for a name or version that is not published, Refused for a file
    that is not what was published.
    """
    return page(read_version(models, name, version))


def page(reported: Reported) -> str:
    """HTML with everything in it: no script, and nothing to be fetched."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.html").render(
        contract=reported.contract,
        evidence=reported.evidence,
        entry=reported.entry,
        used=reported.used,
        style=Markup((HERE / "page.css").read_text()),  # noqa: S704 - our own file
        verdict=verdict(reported),
        facts=facts(reported),
        charts=charts(reported),
        places=places(reported),
        offers=offers(reported),
        limits=limit_rows(reported),
        confusion=confusion(reported),
        reliability=reliability(reported),
        worst=worst_groups(reported),
    )
