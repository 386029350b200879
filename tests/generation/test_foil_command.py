"""`foilworks foil` (docs/reference/cli.md#foil): the JSON that scripts rely on, one line per bad input, no database."""

import json

import pytest
from django.core.management import CommandError, call_command

from foilworks.site.management.commands.foil import Command

NO_NUMBER = "it has no number that counts a thing"


def foil(capsys, **options):
    call_command("foil", as_json=True, **options)
    return json.loads(capsys.readouterr().out)


def refusal(capsys, **options):
    with pytest.raises(SystemExit) as exit_:
        call_command("foil", **options)
    assert exit_.value.code == 1
    captured = capsys.readouterr()
    (line,) = captured.err.strip().splitlines()
    assert captured.out == ""
    assert line.startswith("foilworks: ")
    return line.removeprefix("foilworks: ")


def test_one_replaced_span_rebuilds_the_foil(capsys):
    text = "a red circle moves from left to right."
    result = foil(capsys, method="preposition", caption=text, set=["pairs=left to right:right to left"])
    assert result.pop("schema") == 2
    assert result == {
        "candidates": [
            {
                "caption": text,
                "foil": "a red circle moves from right to left.",
                "span": [24, 37],
                "source": "left to right",
                "target": "right to left",
                "method": "preposition",
                "mode": "corrected",
                "facts": {
                    "from": "left to right",
                    "to": "right to left",
                    "ranking": "the exact opposite; nothing to rank",
                },
            }
        ],
        "skipped": [],
        "blanks": [],
    }


def test_several_replaced_spans_are_listed_and_the_span_covers_them(capsys):
    (found,) = foil(capsys, method="number", caption="exactly one man jumps", set=["max=2"])["candidates"]
    assert found["foil"] == "exactly two men jump"
    assert found["edits"] == [[8, 11, "two"], [12, 15, "men"], [16, 21, "jump"]]
    assert (found["span"], found["source"], found["target"]) == ([8, 21], "one man jumps", "two men jump")


def test_skips_and_blanks_say_why_and_how_many(capsys):
    result = foil(capsys, method="number", caption="nothing here", mode="paper")
    assert result["skipped"] == [{"caption": "nothing here", "why": NO_NUMBER}]
    assert foil(capsys, method="person", caption="x")["blanks"] == [{"caption": "x", "count": 5}]


def test_the_blank_of_every_caption_is_reported_filled_or_not(capsys, tmp_path):
    path = tmp_path / "captions.jsonl"
    texts = ["A man wearing jeans kicked a ball.", "a red shirt"]
    path.write_text("".join(json.dumps({"caption": text}) + "\n" for text in texts), encoding="utf-8")
    result = foil(capsys, method="mask_fill", file=path, set=["model=fake-mask:", "min_votes=9", "tagger=offline"])
    assert result["blanks"] == [
        {"caption": texts[0], "spans": [[20, 26]], "words": ["kicked"]},
        {"caption": texts[1], "spans": [], "words": []},
    ]
    (found,) = foil(capsys, method="span_infill", caption=texts[0], set=["model=fake-t5:", "tagger=offline"])["blanks"]
    assert found["words"] == ["kicked"]


def test_an_unchanged_text_is_not_shown_as_a_foil():
    made = [{"caption": "a circle", "foil": foil} for foil in ("a circle", "a ring")]
    shown = Command().render({"candidates": made, "blanks": [], "skipped": []})
    assert shown == ("a circle\n  equal to the caption: the filter `identical` would reject it\na circle\n  -> a ring")


def test_captions_are_read_from_a_file(capsys, tmp_path):
    path = tmp_path / "captions.jsonl"
    lines = [
        {"caption": "a man claps exactly two times", "id": "a", "count": 2},
        {"caption": "a man claps exactly five times"},
        {"caption": "a man claps exactly five times", "facts": {"count": 4}},
    ]
    path.write_text("\ufeff" + "\n\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    result = foil(capsys, method="number", file=path)
    # A coin draws one of the two before the other side is used up.
    assert {one["foil"] for one in result["candidates"]} < {
        "a man claps exactly five times",
        "a man claps exactly two times",
    }
    assert sum(result["draw"].values()) == 1
    assert any("annotated count is 4" in row["why"] for row in result["skipped"])
    result = foil(capsys, method="number", file=path, no_draw=True)
    assert len(result["candidates"]) == 2
    assert "draw" not in result


def test_the_order_of_a_file_changes_no_foil(capsys, tmp_path):
    texts = [f"cat {n} sleeps on a box" for n in range(8)]
    made = []
    for name, order in (("one", texts), ("two", texts[::-1])):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"caption": text}) + "\n" for text in order), encoding="utf-8")
        result = foil(capsys, method="preposition", file=path, seed=3, set=["top=2"])
        made.append(sorted(one["foil"] for one in result["candidates"]))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "nmber"}, "unknown method 'nmber'; choose one of: "),
        ({"method": "number", "set": ["foil=1"]}, "Number replacement has no parameter 'foil'; it takes: foils, max"),
        ({"method": "number", "set": ["foils=x"]}, "parameter 'foils' is 'x'; give a whole number"),
        ({"method": "number", "set": ["foils"]}, "--set 'foils' is not valid; write it as --set name=value"),
        ({"method": "fake", "set": ["lexicon=a"]}, "parameter 'lexicon': 'a' is not a pair; write it as word:"),
    ],
)
def test_an_invalid_parameter_is_one_clear_line(capsys, options, message):
    assert refusal(capsys, caption="exactly two times", **options).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"caption": "a"}\n{"caption": ', ":2: record: is not JSON; write one JSON object per line"),
        (b"[1]", ":1: record: is not a JSON object; write one object per line"),
        (b"[" * 100_000, ":1: record: is not JSON; write one JSON object per line"),
        (b'{"text": "a"}', ":1: caption: is missing or empty; give the caption as text"),
        (b'{"caption": " "}', ":1: caption: is missing or empty; give the caption as text"),
        (b'{"caption": 3}', ":1: caption: is missing or empty; give the caption as text"),
        (b'{"caption": "\\ud800"}', ":1: caption: contains half of a surrogate pair; repair the \\u escapes"),
        (b'{"caption": "a", "facts": 3}', ':1: facts: is not a JSON object; write it as {"count": 3}'),
        (b'{"caption": "a", "id": 1}\n{"caption": "b", "id": 1}', ":2: id: '1' occurs twice; give each caption"),
        (b"\xff\xfe", ": not UTF-8 at byte 0; save the file as UTF-8"),
    ],
)
def test_a_bad_file_is_one_clear_line_with_its_place(capsys, tmp_path, content, message):
    path = tmp_path / "captions.jsonl"
    path.write_bytes(content)
    assert refusal(capsys, method="fake", file=path).startswith(f"{path}{message}")


def test_a_missing_file_is_one_clear_line(capsys, tmp_path):
    path = tmp_path / "none.jsonl"
    assert (
        refusal(capsys, method="fake", file=path)
        == f"{path}: cannot read the file (No such file or directory); check the path"
    )


def test_hostile_captions_are_returned_unchanged(capsys):
    text = "exactly two times \x00 <script>alert(1)</script> \u202e=1+1"
    (found,) = foil(capsys, method="number", caption=text, set=["max=2"])["candidates"]
    assert found["foil"] == text.replace("two times", "one time")


def test_an_argument_that_is_not_text_is_one_clear_line(capsys):
    # How Python hands over a byte of the command line that is no UTF-8.
    line = refusal(capsys, method="fake", caption="caf\udce9")
    assert line == "--caption is not UTF-8; set the terminal to UTF-8, or use --file"


def test_wrong_usage_has_its_own_exit_code():
    with pytest.raises(CommandError):
        call_command("foil", method="fake")
