"""A release of clips whose colour says what a caption is true of, and servers that see it in the JPEG they are sent."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from PIL import Image

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.media.encode import write_mp4
from tests import factories
from tests.hub.chat_server import pictures_of

COLOURS = {"red": (200, 40, 40), "green": (40, 160, 40), "blue": (40, 40, 200)}


def make_release(n: int = 3, *, foils: int = 1, slug: str = "served") -> Release:
    """n items on n clips, each of one colour; a foil names another colour."""
    project = factories.make_project(slug=slug)
    subtest = factories.make_subtest(project, name="colours", foils_per_item=foils)
    for number in range(n):
        add_item(subtest, number, foils)
    return freeze_release(None, project)


def add_item(subtest: Any, number: int, foils: int = 1) -> None:
    names = list(COLOURS)
    colour = names[number % len(names)]
    name = f"videos/{subtest.project.slug}{number}.mp4"
    path = Path(settings.MEDIA_ROOT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mp4(path, np.stack([frame_of(number)] * 4), fps=4)
    video = factories.make_video(subtest.project, key=f"clip{number}", file=name, sha256=f"{number:064d}")
    caption = factories.make_caption(video, f"clip {number} is {colour}")
    others = [f"clip {number} is {other}" for other in names if other != colour]
    factories.make_item(subtest, caption, others[:foils], key=f"i{number}", state=ItemState.VALID)


def frame_of(number: int) -> np.ndarray:
    """A frame of clip `number`."""
    frame = np.full((32, 32, 3), [*COLOURS.values()][number % len(COLOURS)], np.uint8)
    # So that no two clips of a colour are equal: a bright block that grows.
    frame[: 4 + number // 3, :8] = 255
    return frame


def colour_seen(body: dict[str, Any]) -> str:
    """The colour of the last picture that the server was sent."""
    raw = base64.b64decode(pictures_of(body)[-1].partition(",")[2])
    pixel = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"))[-4:, -4:].reshape(-1, 3).mean(axis=0)
    return min(COLOURS, key=lambda name: float(np.abs(pixel - COLOURS[name]).sum()))


def endpoint(url: str, **more: Any) -> Mapping[str, Any]:
    """CHAT_ENDPOINTS with one endpoint, lab."""
    return {"lab": {"url": url, "models": ("tiny", "Org/Large-VL"), "key": "", **more}}
