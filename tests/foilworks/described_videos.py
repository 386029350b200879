"""Videos to describe through an endpoint: `python -m tests.foilworks.described_videos make N`."""

import base64
import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.hub.chat_server import pictures_of

BITS, BLOCK = 12, 8


def painted(number: int) -> np.ndarray:
    """A frame that shows `number` as black and white blocks."""
    bits = [255 * (number >> place & 1) for place in range(BITS)]
    rows = np.array(bits, np.uint8).reshape(3, 4).repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
    return np.repeat(rows[..., None], 3, axis=2)


def number_seen(body: dict[str, Any]) -> int:
    """The number that the picture of a request shows."""
    raw = base64.b64decode(pictures_of(body)[-1].partition(",")[2])
    grey = np.asarray(Image.open(io.BytesIO(raw)).convert("L"), dtype=float)
    means = grey.reshape(3, grey.shape[0] // 3, 4, grey.shape[1] // 4).mean(axis=(1, 3))
    return sum(1 << place for place, mean in enumerate(means.ravel()) if mean > 127)


def make(count: int) -> str:
    """A project of `count` videos of one frame each, and its descriptions, queued; the id of their job."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import transaction

    from evaluation.utd.actions.descriptions import describe_videos
    from evaluation.utd.requests import DescriptionRequest
    from foilworks.core.media.encode import write_mp4
    from tests import factories

    call_command("migrate", verbosity=0)
    folder = Path(settings.MEDIA_ROOT) / "videos"
    folder.mkdir(parents=True, exist_ok=True)
    project = factories.make_project(slug="described")
    with transaction.atomic():
        for number in range(count):
            name = f"videos/{number}.mp4"
            write_mp4(Path(settings.MEDIA_ROOT) / name, np.stack([painted(number)] * 2), fps=4)
            factories.make_video(project, key=f"v{number}", file=name, sha256=f"{number:064d}")
    made = describe_videos(
        None, project, DescriptionRequest(frames=1, describer="endpoint:lab/tiny", extractor="endpoint:lab/tiny")
    )
    return str(made.job_id)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    from foilworks.site.server.gc_freeze import lasting

    with lasting():
        django.setup()
    sys.stdout.write(make(int(sys.argv[2])))
