"""Source archives from the Python package index that pip is set to use, without running them.

pip asks a source archive for its metadata, which runs its setup.py; this only fetches the file.
The format is PEP 503's, which every index speaks.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from export.errors import SourceError

TIMEOUT_S = 120
LINK = re.compile(r"""<a\s[^>]*?href\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
ARCHIVES = (".tar.gz", ".zip", ".tar.bz2")
# pip knows its settings from files, variables and defaults; nothing else tells them all at once.
ASK_PIP = """
import json
from pip._internal.commands import create_command
options, _ = create_command("download").parse_args([])
print(json.dumps([[options.index_url, *options.extra_index_urls], options.cert]))
"""


@dataclass(frozen=True)
class Indexes:
    """Addresses of package indexes, and the file of certificates to trust."""

    urls: list[str]
    certificates: str | None


def fetch_source(name: str, version: str, sha256: str, folder: Path) -> Path:
    """The source archive with that hash, or else of that name and version, in `folder`.

    SourceError when no index has it. The caller checks the hash.
    """
    indexes = _indexes()
    page_of = re.sub(r"[-_.]+", "-", name).lower()
    tried = []
    for index in indexes.urls:
        page = f"{index.rstrip('/')}/{page_of}/"
        try:
            with _open(page, indexes) as opened:
                text, address = opened.read().decode("utf-8", "replace"), opened.geturl()
            for link in _links(text, name, version, sha256):
                target = folder / Path(urllib.parse.urlsplit(link).path).name
                with (
                    _open(urllib.parse.urljoin(address, link), indexes, page) as archive,
                    target.open("wb") as written,
                ):
                    shutil.copyfileobj(archive, written)
                return target
            tried.append("an index has no such source archive")
        except (OSError, ValueError) as error:
            tried.append(str(error))
    raise SourceError(f"{name} {version}: no source archive: {'; '.join(tried) or 'no index'}")


def _indexes() -> Indexes:
    done = subprocess.run(
        [sys.executable, "-c", ASK_PIP], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise SourceError(f"pip does not tell which package index it uses: {done.stderr[-200:]}")
    urls, certificates = json.loads(done.stdout)
    return Indexes([url for url in urls if url.startswith(("https:", "http:"))], certificates)


def _links(page: str, name: str, version: str, sha256: str) -> list[str]:
    links = [html.unescape(link) for link in LINK.findall(page)]
    exact = [link for link in links if link.endswith(f"#sha256={sha256}")]
    wanted = _plain(f"{name}-{version}")
    return exact + [
        link for link in links if (file := Path(urllib.parse.urlsplit(link).path).name)
        and any(file.endswith(end) and _plain(file.removesuffix(end)) == wanted for end in ARCHIVES)
    ]  # fmt: skip


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", urllib.parse.unquote(name)).lower()


def _open(url: str, indexes: Indexes, index: str | None = None) -> Any:
    """Open an address; a name and password in an index's address go only to that host."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("https", "http"):
        raise ValueError(f"{parts.scheme}: is no address of an index")
    login = parts
    if index and urllib.parse.urlsplit(index).hostname == parts.hostname:
        login = urllib.parse.urlsplit(index)
    host = parts.netloc.rpartition("@")[2]
    request = urllib.request.Request(parts._replace(netloc=host, fragment="").geturl())  # noqa: S310
    request.add_header("Accept", "application/vnd.pypi.simple.v1+html, text/html;q=0.5, */*;q=0.1")
    if login.username:
        user, password = (urllib.parse.unquote(x or "") for x in (login.username, login.password))
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {pair}")
    context = ssl.create_default_context(cafile=indexes.certificates)
    return urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context)  # noqa: S310
