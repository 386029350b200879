"""The small made files of `foilworks reproduce utd --sample`, with clips: a data set of classes, one of captions."""

import shutil
from pathlib import Path

from foilworks.site.reproduction.registry import SAMPLES
from foilworks.site.reproduction.simulated_work import stand_in_clip

MSR_TEST = 6
MODEL, RETRIEVER = "videomae-B-K400", "umt-b-5M"
PER_FRAME = 2


def write(folder: Path) -> Path:
    """Write splits, descriptions, lists, models' answers of UCF101 and MSR-VTT, and the clips of MSR-VTT."""
    shutil.copytree(SAMPLES / "utd", folder)
    for number in range(MSR_TEST):
        stand_in_clip(folder / f"data/msrvtt/video{7010 + number}.mp4", number)
    return folder
