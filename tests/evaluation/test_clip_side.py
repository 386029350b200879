"""The audit of the files of clips: made by our writers, and with a planted difference."""

import json
import random

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from foilworks import library
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_facts import file_facts
from foilworks.core.media.reversal import write_paced, write_played
from tests.media.painted import painted_clip

PAIRS = [("opens", "closes"), ("folds", "unfolds"), ("lifts", "lowers"), ("enters", "leaves")]


def item(key, right, wrong, played, pair, **facts):
    texts = {"caption": right, "foils": [wrong]}
    return {"id": key, "video": key, "source_id": pair, **texts, "pair": pair, "played": played, **facts}


def mirrored_set(folder, n_pairs, seed=0):
    """Clips of 8 to 24 frames, each as recorded and backwards; each verb is as often recorded as its opposite."""
    draw = random.Random(seed)
    rows = []
    for number in range(n_pairs):
        recorded, opposite = PAIRS[number // 2 % len(PAIRS)][:: 1 if number % 2 else -1]
        thing, frames = f"box {number}", painted_clip(24)[: draw.randint(8, 24)]
        source = folder / "source.mp4"
        write_mp4(source, frames, fps=draw.choice([8, 12]))
        for played, right, wrong in (("forwards", recorded, opposite), ("backwards", opposite, recorded)):
            key = f"c{number}-{played}"
            write_played(source, folder / f"{key}.mp4", (None, None), backwards=played == "backwards")
            rows.append(item(key, f"a man {right} {thing}", f"a man {wrong} {thing}", played, f"s{number}"))
        source.unlink()
    return rows


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def clips_of(rows, tmp_path, videos):
    result = library.audit(str(write_rows(tmp_path / "items.jsonl", rows)), videos=videos, format="jsonl")
    return next(finding for finding in result["findings"] if finding["check"] == "clips")


@pytest.mark.parametrize("n_pairs", [24, pytest.param(120, marks=pytest.mark.full)])
def test_mirrored_clips_give_nothing_away_until_an_encoder_does(tmp_path, n_pairs):
    videos = tmp_path / "clips"
    videos.mkdir()
    rows = mirrored_set(videos, n_pairs)
    found = clips_of(rows, tmp_path, videos)
    assert (found["n"], found["details"]["without_file"]) == (2 * n_pairs, 0)
    assert found["interval"][0] <= 0.5 <= found["interval"][1]
    assert found["verdict"] in {"nothing_found_so_far", "cannot_tell"}
    # Planted: the clips of four verbs come from another encoder.
    for row in rows:
        if row["caption"].split()[2] in {first for first, _ in PAIRS}:
            write_mp4(videos / f"{row['id']}.mp4", painted_clip(12), fps=8, crf=30)
    planted = clips_of(rows, tmp_path, videos)
    assert (planted["value"], planted["verdict"], planted["details"]["alone"]["encoder"]) == (1.0, "fail", 1.0)


def test_a_set_that_only_reverses_one_verb_fails(tmp_path):
    videos = tmp_path / "clips"
    videos.mkdir()
    rows = [row for row in mirrored_set(videos, 24) if row["pair"] in {f"s{n}" for n in range(0, 24, 2)}]
    found = clips_of(rows, tmp_path, videos)
    assert found["value"] == 1.0
    assert found["details"]["alone"]["played"] == 1.0


def test_items_about_time_do_not_count_the_clock(tmp_path):
    videos = tmp_path / "clips"
    videos.mkdir()
    rows = []
    for number in range(12):
        source = videos / "source.mp4"
        write_mp4(source, painted_clip(24)[: 8 + number], fps=8)
        for ticks, texts in ((2, ("slowly", "quickly")), (1, ("quickly", "slowly"))):
            key = f"c{number}-{ticks}"
            write_paced(source, videos / f"{key}.mp4", (None, None), step=1, ticks=ticks)
            right, wrong = (f"a man walks {word}" for word in texts)
            rows.append(item(key, right, wrong, "", f"s{number}", needs_time=True))
        source.unlink()
    found = clips_of(rows, tmp_path, videos)
    assert found["details"]["needs_time"] == 24
    assert not {"seconds", "frames per second", "bytes"} & found["details"]["alone"].keys()
    assert found["interval"][0] <= 0.5 <= found["interval"][1]
    # Without the fact, the length of the clip is a shortcut like any other.
    told = clips_of([{**row, "needs_time": False} for row in rows], tmp_path, videos)
    assert told["value"] > 0.9


def test_the_command_says_what_the_files_give_away(tmp_path, capsys):
    videos = tmp_path / "clips"
    videos.mkdir()
    rows = mirrored_set(videos, 12)
    (videos / f"{rows[0]['id']}.mp4").unlink()
    items = write_rows(tmp_path / "items.jsonl", rows)
    call_command("audit", str(items), "--format", "jsonl", "--set", f"videos={videos}")
    said = capsys.readouterr().out
    assert "Answered from the files of the clips" in said
    assert "1 item has no readable file." in said


def test_a_folder_that_is_missing_is_refused(tmp_path):
    rows = [item("a", "x", "y", "", "p")]
    with pytest.raises(EvaluationError, match="is not a folder; give the folder with the files of the clips"):
        clips_of(rows, tmp_path, tmp_path / "none")


def test_facts_of_a_file_name_its_encoder_and_clock(tmp_path):
    write_mp4(tmp_path / "clip.mp4", painted_clip(16), fps=8)
    facts = file_facts(tmp_path / "clip.mp4")
    assert (facts["frames"], facts["seconds"], facts["frames per second"]) == (16, 2.0, 8.0)
    assert "x264 - core" in facts["encoder"]
    assert (facts["sound"], facts["pixels"]) == ("none", "64 x 32")
    assert facts["bits per second"] == facts["bytes"] * 4
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(MediaError):
        file_facts(tmp_path / "text.mp4")
