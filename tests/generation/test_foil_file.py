"""`foil --file` is a run without a project: siblings of a video, and the schema of its JSON."""

import json

import pytest

from generation.caption_file import CaptionFile
from generation.trial import SCHEMA, try_method

LINES = [
    {"video": "a", "caption": "He peels it."},
    {"video": "a", "caption": "She sits."},
    {"video": "b", "caption": "She sits."},
    {"video": "c", "caption": "A dog runs."},
]


@pytest.mark.parametrize("seed", range(4))
def test_a_random_caption_never_repeats_a_caption_of_the_same_video(tmp_path, seed):
    file = tmp_path / "captions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    result = try_method("random_caption", CaptionFile(file), mode="corrected", seed=seed, raw_params={"foils": "2"})
    assert result["schema"] == SCHEMA == 2
    texts = {line["caption"] for line in LINES if line["video"] == "a"}
    foils = [row["foil"] for row in result["candidates"] if row["caption"] == "He peels it."]
    assert foils
    assert texts.isdisjoint(foils)
