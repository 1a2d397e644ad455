"""Python's decoder and the browser's on the same files: equal bytes, or the same refusal."""

from __future__ import annotations

import base64
import io
import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Playwright

from export.browser import VerifyPage, launch
from export.contract import (
    Contract,
    DrawingInput,
    ImageInput,
    Index,
    Resize,
    Tensor,
    read_contract,
    to_json,
)
from export.decode.pixels import decode, tensor_size
from export.errors import DecodeError
from export.version import index_entry
from export.workspace import ROOT
from server.process import running_server
from tests.agreement.conftest import digits_folder

CASES = ROOT / "tests/cases"


def photo(width: int, height: int, seed: int = 0) -> Image.Image:
    """Smooth colour fields with noise: what photos ask of a decoder, without their licence."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (5, 7, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    noisy = smooth.astype(int) + random.integers(-20, 21, smooth.shape)
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


def file(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def with_alpha(mode: str) -> Image.Image:
    random = np.random.default_rng(7)
    picture = photo(61, 47).convert("RGBA")
    picture.putalpha(Image.fromarray(random.integers(0, 256, (47, 61), dtype=np.uint8)))
    return picture if mode == "RGBA" else picture.convert(mode)


def turned(kind: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return file(photo(64, 40), kind, exif=exif)


def keyed(mode: str) -> bytes:
    palette = photo(50, 50).quantize(16)
    return (
        file(palette, "PNG", transparency=3)
        if mode == "P"
        else file(photo(50, 50), "PNG", transparency=(1, 2, 3))
    )


XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
<r:Description xmlns:t="http://ns.adobe.com/tiff/1.0/" t:Orientation="6"/></r:RDF></x:xmpmeta>'
)

FILES: dict[str, Callable[[], bytes]] = {
    "jpeg 4:2:0": lambda: file(photo(333, 217), "JPEG", quality=85),
    "jpeg 4:4:4": lambda: file(photo(200, 301), "JPEG", quality=95, subsampling=0),
    "jpeg progressive": lambda: file(photo(222, 111), "JPEG", progressive=True),
    "jpeg grey": lambda: file(photo(97, 89).convert("L"), "JPEG"),
    "jpeg of a profile": lambda: file(photo(80, 80), "JPEG", icc_profile=profile()),
    "jpeg small": lambda: file(photo(3, 2), "JPEG"),
    "jpeg large": lambda: file(photo(4000, 3000), "JPEG"),
    "png rgb": lambda: file(photo(123, 77), "PNG"),
    "png grey": lambda: file(photo(77, 123).convert("L"), "PNG"),
    "png 1 bit": lambda: file(photo(64, 64).convert("1"), "PNG"),
    "png palette": lambda: file(photo(60, 60).quantize(32), "PNG"),
    "png rgba": lambda: file(with_alpha("RGBA"), "PNG"),
    "png grey and alpha": lambda: file(with_alpha("LA"), "PNG"),
    "png palette, one colour clear": lambda: keyed("P"),
    "png rgb, one colour clear": lambda: keyed("RGB"),
    "png of a profile": lambda: file(photo(80, 80), "PNG", icc_profile=profile()),
    "png 1 x 1": lambda: file(photo(1, 1), "PNG"),
    "webp lossy": lambda: file(photo(150, 130), "WEBP", quality=80),
    "webp lossless": lambda: file(photo(90, 140), "WEBP", lossless=True),
    "webp with alpha": lambda: file(with_alpha("RGBA"), "WEBP", lossless=True, exact=True),
    "jpeg turned by xmp alone": lambda: file(photo(64, 40), "JPEG", xmp=XMP),
    "jpeg of damaged exif": lambda: file(photo(64, 40), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff"),
    **{f"jpeg turned {turn}": partial(turned, "JPEG", turn) for turn in range(1, 9)},
    **{f"png turned {turn}": partial(turned, "PNG", turn) for turn in (3, 6)},
    **{f"webp turned {turn}": partial(turned, "WEBP", turn) for turn in (3, 6)},
    # to be refused, by both
    "empty": lambda: b"",
    "text": lambda: b"<!doctype html><title>Not found</title>",
    "gif": lambda: file(photo(9, 9).quantize(8), "GIF"),
    "png 16 bits": lambda: file(Image.fromarray(np.zeros((9, 9), np.uint16)), "PNG"),
    "jpeg cut short": lambda: file(photo(100, 100), "JPEG")[:-200],
    "png cut short": lambda: file(photo(100, 100), "PNG")[:-2000],
    "png without its end": lambda: file(photo(100, 100), "PNG")[:-8],
    "webp cut short": lambda: file(photo(100, 100), "WEBP")[:-50],
    "png damaged": lambda: damaged(file(photo(100, 100), "PNG"), 0.5),
    "png header only": lambda: file(photo(9, 9), "PNG")[:40],
    "jpeg header only": lambda: file(photo(9, 9), "JPEG")[:15],
    "png too large": lambda: too_large(),
    "drawing empty": lambda: file(Image.new("L", (50, 50), 255), "PNG"),
}
REFUSED = {
    "empty": "unsupported-picture",
    "text": "unsupported-picture",
    "gif": "unsupported-picture",
    "png 16 bits": "unsupported-picture",
    "png too large": "picture-too-large",
} | {
    name: "broken-picture" for name in FILES if re.search("cut short|without|damaged$|only$", name)
}
PUBLIC = sorted(
    path for case in CASES.glob("img-*") for path in case.glob("*.*g")
)  # fmt: skip


def profile() -> bytes:
    from PIL import ImageCms

    return ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()


def damaged(data: bytes, where: float) -> bytes:
    at = int(len(data) * where)
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def too_large() -> bytes:
    header = file(photo(1, 1), "PNG")
    chunk = header[12:16] + (20_000).to_bytes(4, "big") * 2 + header[24:29]
    return header[:12] + chunk + zlib.crc32(chunk).to_bytes(4, "big") + header[33:]


assert len(PUBLIC) >= 15, "the public cases have moved"


@dataclass(frozen=True)
class Decoders:
    """Python's and the browser's decoder, for one contract."""

    page: VerifyPage
    handle: int
    spec: ImageInput | DrawingInput
    size: tuple[int, int]

    def python(self, data: bytes) -> str:
        """Hex of the tensor, or the refusal's code."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return decode(data, self.spec, self.size).tobytes().hex()
            except DecodeError as error:
                return error.code

    def browser(self, data: bytes) -> str:
        """The same, as the browser has it."""
        (there,) = self.page.call("decode", self.handle, [base64.b64encode(data).decode()])
        code: str | None = there.get("error", {}).get("code")
        return code or base64.b64decode(there["tensors"][0]["data"]).hex()


PICTURE = ImageInput(
    kind="image",
    tensor="pixels",
    resize=Resize(filter="bicubic", short_side=64),
    fit="centre-crop",
    padding=[128, 128, 128],
    orientation="exif",
    background=[250, 120, 10],
    colour_profile="ignore",
)
BOXED = PICTURE.model_copy(
    update={"fit": "letterbox", "resize": Resize(filter="lanczos"), "padding": [7, 99, 200]}
)
COLOURS = Tensor(name="pixels", dtype="uint8", shape=["batch", 48, 64, 3])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, digits: Contract) -> Path:
    """digits, and the same file under contracts that take colour pictures (only decoded here)."""
    folder = tmp_path_factory.mktemp("decoders")
    contracts = [digits.model_copy(update={"version": 1})]
    for name, spec in (("cropped", PICTURE), ("boxed", BOXED)):
        changed = {"name": name, "version": 1, "input": spec, "inputs": [COLOURS]}
        contracts.append(digits.model_copy(update=changed))
    for contract in contracts:
        shutil.copytree(digits_folder(), folder / contract.name / "1")
        (folder / contract.name / "1/contract.json").write_bytes(to_json(contract))
    entries = {c.name: index_entry(folder, folder / c.name / "1", c) for c in contracts}
    (folder / "index.json").write_bytes(to_json(Index(schema_version=2, models=entries)))
    return folder


@pytest.fixture(scope="module", params=["cropped", "boxed", "digits"])
def decoders(
    request: pytest.FixtureRequest, playwright: Playwright, models: Path
) -> Iterator[Decoders]:
    name = str(request.param)
    with running_server(models, ROOT / "web/dist") as server:
        browser = launch(playwright)
        page = VerifyPage(browser, server.url, name)
        loaded = page.call("load", page.models, {"variant": "fp32", "threads": 1})
        contract = read_contract(models / name / "1/contract.json")
        assert isinstance(contract.input, ImageInput | DrawingInput)
        size = tensor_size(contract.inputs[0])
        yield Decoders(page, int(loaded["handle"]), contract.input, size)
        browser.close()


@pytest.mark.parametrize("name", FILES)
def test_both_decoders_give_the_same(decoders: Decoders, name: str) -> None:
    data = FILES[name]()
    outcome = decoders.python(data)
    assert decoders.browser(data) == outcome
    drawn = decoders.spec.kind == "drawing"
    expected = "nothing-drawn" if drawn and name == "drawing empty" else REFUSED.get(name)
    assert outcome == expected or (expected is None and re.fullmatch("[0-9a-f]+", outcome))


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_both_decoders_give_the_same_for_public_cases(decoders: Decoders, path: Path) -> None:
    data = path.read_bytes()
    assert decoders.browser(data) == decoders.python(data)
