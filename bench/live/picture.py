"""Picture of a run: slots over time by job, paler while replicas start."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _SLOT, _LEFT, _TOP, _LINE = 900, 22, 40, 28, 16
_TICK_SECONDS = 30


def draw(file: Path, title: str, slots: int, trace: list[dict[str, Any]]) -> None:
    """Writes the picture as SVG.

    Args:
        file: to write.
        title: above the picture.
        slots: of the cluster.
        trace: what each job had at each look, as ``run.json`` has it.
    """
    end = max(trace[-1]["t"], 1.0)
    names = sorted({name for row in trace for name in row["jobs"]})
    hue = {name: round(360 * n / max(1, len(names))) for n, name in enumerate(names)}
    scale = (_WIDTH - _LEFT - 10) / end
    bottom = _TOP + slots * _SLOT
    height = bottom + 24 + _LINE * len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="sans-serif"'
        ' font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="16" font-size="13">{escape(title)}</text>',
    ]
    for before, after in itertools.pairwise(trace):
        x, width = _LEFT + scale * before["t"], scale * (after["t"] - before["t"])
        taken = 0
        for name in names:
            phase, replicas, training, _ = before["jobs"].get(name, ["", 0, 0, None])
            ready = min(training or 0, replicas) if phase == "Running" else 0
            for begin, count, light in ((taken, ready, 50), (taken + ready, replicas - ready, 85)):
                if count > 0:
                    y = bottom - (begin + count) * _SLOT
                    parts.append(
                        f'<rect x="{x:.1f}" y="{y}" width="{width + 0.2:.1f}" height="{count * _SLOT}"'
                        f' fill="hsl({hue[name]},65%,{light}%)"/>'
                    )
            taken += replicas
    for second in range(0, int(end) + 1, _TICK_SECONDS):
        x = _LEFT + scale * second
        parts.append(f'<text x="{x:.0f}" y="{bottom + 14}" text-anchor="middle">{second} s</text>')
    for slot in range(slots + 1):
        y = bottom - slot * _SLOT
        parts.append(f'<path d="M{_LEFT} {y}H{_WIDTH - 10}" stroke="#bbb" stroke-width="0.5"/>')
    parts.append(f'<text x="4" y="{_TOP + 10}">slots</text>')
    for n, name in enumerate(names):
        y = bottom + 24 + _LINE * n
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="12" height="12" fill="hsl({hue[name]},65%,50%)"/>')
        parts.append(f'<text x="{_LEFT + 18}" y="{y + 10}">{escape(name)}</text>')
    parts.append("</svg>")
    file.write_text("\n".join(parts))
