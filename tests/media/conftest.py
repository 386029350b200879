from pathlib import Path

import pytest

from foilworks.core.media.encode import write_mp4
from tests.media.painted import painted_clip


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 frames at 8 a second: frame i begins at i / 8 s."""
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    write_mp4(path, painted_clip(24), fps=8)
    return path
