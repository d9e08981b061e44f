"""Data of the examples, made on the spot: drawn shapes, drawn digits, and the stories that Kastor ships."""

import math
from pathlib import Path

import torch
from torch.utils.data import TensorDataset

STORIES = "engine/src/main/resources/dev/kastor/engine/data/stories.txt"

# Ends of the seven strokes of a digit, in [-1, 1], and the strokes of each digit.
STROKES = torch.tensor(
    [
        [[-0.5, -1.0], [0.5, -1.0]],
        [[0.5, -1.0], [0.5, 0.0]],
        [[0.5, 0.0], [0.5, 1.0]],
        [[-0.5, 1.0], [0.5, 1.0]],
        [[-0.5, 0.0], [-0.5, 1.0]],
        [[-0.5, -1.0], [-0.5, 0.0]],
        [[-0.5, 0.0], [0.5, 0.0]],
    ]
)
DIGITS = ["012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356"]


def shapes(n: int, seed: int) -> TensorDataset:
    """Images ``[n, 3, 32, 32]`` of ten kinds of shapes at any place, size and angle, and their kinds ``[n]``."""
    g = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 10, (n,), generator=g)
    u, v = _coordinates(n, 32, sizes=(0.5, 0.8), most_degrees=45, shift=0.2, generator=g)
    square, disc = torch.maximum(u.abs(), v.abs()), u.square() + v.square()
    masks = [
        disc < 1,
        (disc < 1) & (disc > 0.4),
        square < 0.85,
        (square < 0.85) & (square > 0.5),
        (v > -0.7) & (v + 1.7 * u.abs() < 1),
        (torch.minimum(u.abs(), v.abs()) < 0.25) & (square < 1),
        (disc < 1) & (torch.sin(7 * u) > 0),
        (disc < 1) & (torch.sin(5 * u) * torch.sin(5 * v) > 0),
        (u.abs() < 1) & (v.abs() < 0.3),
        (disc < 1) & (v > 0),
    ]
    drawn = torch.stack(masks)[kinds, torch.arange(n)].float()[:, None]
    ink, paper = torch.rand(2, n, 3, 1, 1, generator=g)
    images = paper + drawn * (ink - paper) + 0.1 * torch.randn(n, 3, 32, 32, generator=g)
    return TensorDataset(images - 0.5, kinds)


def digits(n: int, seed: int) -> TensorDataset:
    """Images ``[n, 1, 28, 28]`` of digits in seven strokes, turned and shifted, and the digits ``[n]``."""
    g = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 10, (n,), generator=g)
    u, v = _coordinates(n, 28, sizes=(0.45, 0.75), most_degrees=25, shift=0.25, generator=g)
    images = torch.zeros(n, 28, 28)
    for number, (start, end) in enumerate(STROKES):
        has = torch.tensor([str(number) in strokes for strokes in DIGITS])[kinds][:, None, None]
        along = ((u - start[0]) * (end - start)[0] + (v - start[1]) * (end - start)[1]) / (end - start).square().sum()
        along = along.clamp(0, 1)
        x, y = (start[i] + along * (end - start)[i] for i in (0, 1))
        near = torch.exp(-((u - x).square() + (v - y).square()) / 0.03)
        images = torch.maximum(images, near * has)
    return TensorDataset((images + 0.4 * torch.randn(n, 28, 28, generator=g))[:, None], kinds)


def _coordinates(
    n: int, pixels: int, sizes: tuple[float, float], most_degrees: float, shift: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Coordinates ``[n, pixels, pixels]`` of each pixel as the thing that is drawn there has them."""
    random = torch.rand(4, n, 1, 1, generator=generator)
    size = sizes[0] + (sizes[1] - sizes[0]) * random[0]
    angle = (2 * random[1] - 1) * most_degrees * math.pi / 180
    line = torch.linspace(-1, 1, pixels)
    x = (line[None, None, :] + (2 * random[2] - 1) * shift) / size
    y = (line[None, :, None] + (2 * random[3] - 1) * shift) / size
    return angle.cos() * x + angle.sin() * y, angle.cos() * y - angle.sin() * x


def stories(held_out: bool) -> torch.Tensor:
    """Bytes ``[length]`` of the stories: nine tenths to train on, or the held-out rest."""
    text = torch.frombuffer(bytearray((Path(__file__).resolve().parents[2] / STORIES).read_bytes()), dtype=torch.uint8)
    cut = len(text) * 9 // 10
    return (text[cut:] if held_out else text[:cut]).long()
