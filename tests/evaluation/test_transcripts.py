"""Audits with transcripts: forms of their files, a planted set, and sets without anything planted."""

import json
import random

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from foilworks import library
from foilworks.core.media import subtitles

THINGS = [
    first + last for first in ("bar", "dol", "fen", "gim", "hap", "jor", "kel", "lum") for last in ("ka", "mo", "ti")
]
FILLERS = "so now we come to this and then it is time for that again you see here".split()  # noqa: SIM905
SEGMENTS = [("hello there", 0.5, 2.0), ("the second line", 2.0, 3.25)]
DOCUMENTS = {
    "whisper": {"text": "all", "segments": [{"text": t, "start": a, "end": b} for t, a, b in SEGMENTS]},
    "pipeline": {"text": "all", "chunks": [{"text": t, "timestamp": [a, b]} for t, a, b in SEGMENTS]},
    "oasis": {"transcript": "all", "timestamps": [{"text": t, "timestamp": [a, b]} for t, a, b in SEGMENTS]},
    "youtube list": [{"text": t, "start": a, "duration": b - a} for t, a, b in SEGMENTS],
    "youtube events": {
        "events": [{"tStartMs": 1000 * a, "dDurationMs": 1000 * (b - a), "segs": [{"utf8": t}]} for t, a, b in SEGMENTS]
    },
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_json_of_transcripts_keeps_its_times(tmp_path, form):
    file = tmp_path / "clip.json"
    file.write_text(json.dumps(DOCUMENTS[form]), encoding="utf-8")
    text = subtitles.read(file)
    assert subtitles.spoken(text) == "hello there\nthe second line"
    assert subtitles.spoken(text, 2.5, 9.0) == "the second line"
    assert subtitles.beside(tmp_path / "clip.mp4") == text, "a rung with subtitles reads it beside a video too"


@pytest.mark.parametrize("content", ["{}", "[1, 2]", '{"segments": 3}', "no json", '{"start": [1]}', "[[[]]]"])
def test_other_json_has_no_lines(tmp_path, content):
    (tmp_path / "clip.json").write_text(content, encoding="utf-8")
    assert subtitles.read(tmp_path / "clip.json") == ""


def test_json_with_a_text_alone_is_read_whole(tmp_path):
    (tmp_path / "clip.json").write_text(json.dumps({"text": " only  text "}), encoding="utf-8")
    assert subtitles.spoken(subtitles.read(tmp_path / "clip.json")) == "only text"


def made_up(n, seed, *, says_the_answer):
    """n questions of four made-up options with the transcript of each: of one option, the right or any of them."""
    draw = random.Random(seed)
    rows, spoken = [], []
    for number in range(n):
        options = draw.sample(THINGS, 4)
        answer = draw.randrange(4)
        told = options[answer if says_the_answer else draw.randrange(4)]
        filler = draw.choices(FILLERS, k=12)
        spoken.append(" ".join([*filler[:6], told, *filler[6:]]))
        question = f"What does person {number} hold?"
        rows.append({"question": question, "options": options, "answer": "ABCD"[answer], "video": f"v{number}.mp4"})
    return rows, spoken


def audited(rows, spoken, folder, **options):
    folder.mkdir(exist_ok=True)
    for row, text in zip(rows, spoken, strict=False):
        (folder / f"{row['video']}.mp3.json").write_text(json.dumps({"transcript": text}), encoding="utf-8")
    result = library.audit(rows, transcripts=folder, **options)
    return result, next(finding for finding in result["findings"] if finding["check"] == "transcripts")


def test_words_that_only_the_transcript_has_answer_with_it_and_not_without(tmp_path):
    rows, spoken = made_up(60, 1, says_the_answer=True)
    _, speech = audited(rows, spoken[:-10], tmp_path / "spoken")
    assert (speech["n"], speech["details"]["records"], speech["details"]["n_without"]) == (50, 60, 10)
    assert speech["details"]["without_transcript"][0] == "v50.mp4"
    assert speech["value"] > 0.95
    assert speech["details"]["texts_interval"][0] <= 0.25 <= speech["details"]["texts_interval"][1]
    assert speech["details"]["gain_interval"][0] > 0.5
    assert speech["verdict"] == "warn"


def test_with_all_transcripts_the_number_beside_it_is_the_headline_which_reads_none(tmp_path):
    rows, spoken = made_up(40, 2, says_the_answer=False)
    result, speech = audited(rows, spoken, tmp_path / "spoken")
    assert speech["details"]["texts"] == result["without_video"]["value"]
    assert speech["interval"][0] <= 0.25 <= speech["interval"][1], "any option is spoken, so it says nothing"


@pytest.mark.full
def test_a_column_and_the_command_say_the_same(tmp_path, capsys):
    rows, spoken = made_up(60, 3, says_the_answer=True)
    _, of_folder = audited(rows, spoken, tmp_path / "spoken")
    file = tmp_path / "items.jsonl"
    lines = [json.dumps({**row, "asr": text}) for row, text in zip(rows, spoken, strict=True)]
    file.write_text("\n".join(lines), encoding="utf-8")
    of_column = next(
        finding
        for finding in library.audit(str(file), columns={"transcript": "asr"})["findings"]
        if finding["check"] == "transcripts"
    )
    assert (of_column["value"], of_column["interval"]) == (of_folder["value"], of_folder["interval"])
    page = tmp_path / "audit.html"
    call_command("audit", str(file), transcripts=tmp_path / "spoken", html=page)
    printed = capsys.readouterr().out
    assert "60 of 60 items have a transcript." in printed
    assert "The texts alone answer" in printed
    assert "Answered with what is spoken: 60 items" in page.read_text(encoding="utf-8")


def test_a_folder_without_transcripts_of_the_items_says_so(tmp_path):
    rows, _ = made_up(8, 4, says_the_answer=True)
    _, speech = audited(rows, [], tmp_path / "spoken")
    assert (speech["value"], speech["n"], speech["details"]["n_without"]) == (None, 0, 8)
    with pytest.raises(EvaluationError, match="is not a folder"):
        library.audit(rows, transcripts=tmp_path / "missing")
