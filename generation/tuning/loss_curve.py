"""Draw the loss curve of a training as points of an SVG line. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

# The drawing's own units; the page scales it.
WIDTH, HEIGHT = 400, 120


@dataclass(frozen=True)
class Curve:
    """`points`: "x,y x,y …" of a polyline; the lowest and highest loss are at the bottom and the top."""

    points: str
    low: float
    high: float
    last: float
    width: int = WIDTH
    height: int = HEIGHT


def loss_curve(losses: Sequence[Sequence[float]]) -> Curve | None:
    """Draw the curve of [[step, loss], …]; None without losses."""
    if not losses:
        return None
    values = [float(loss) for _, loss in losses]
    low, high = min(values), max(values)
    first, last = float(losses[0][0]), float(losses[-1][0])
    points = " ".join(
        f"{(step - first) / ((last - first) or 1) * WIDTH:.1f},{(high - loss) / ((high - low) or 1) * HEIGHT:.1f}"
        for step, loss in losses
    )
    return Curve(points, low, high, values[-1])
