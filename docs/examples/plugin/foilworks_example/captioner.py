"""Make a caption from the class label of a video."""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.plugins import CaptionInput, MadeCaption, Skip

VERSION = "1"


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Yield one caption per source, or the reason why there is none."""
    for source in sources:
        label = source.facts.get("class_label")
        if label:
            text = f"{params['subject']} is {label}."
            yield MadeCaption(source.id, text, maker="activity", mode=mode, facts={"activity": label})
        else:
            yield Skip(source.id, "its video has no class label")
