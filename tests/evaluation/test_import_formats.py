"""Each format on its way through `foilworks import` into the tables: found by its videos, stored once."""

import json

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import Item, MediaState, Video
from foilworks.core.media.encode import write_mp4
from tests.factories import make_project
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db

BLOCK = "".join(f"video1,a man does {i}.\n" for i in range(6))
FILES = {
    "csv": ("t.csv", 'id,video,caption,foils\na,video1.mp4,x,"[""y"", ""z""]"\n', ["x", "y", "z"]),
    "contrast": ("t.tsv", "clip\tending0\tending1\tending2\tlabel\nvideo1\ty\tx\tz\t1\n", ["x", "y", "z"]),
    "feint6k": ("t.csv", f"video_id,sentence\n{BLOCK}", [f"a man does {i}." for i in range(6)]),
}


def run(capsys, *arguments):
    status = 0
    try:
        call_command("import", *map(str, arguments), "--json")
    except SystemExit as left:
        status = int(left.code)
    out, err = capsys.readouterr()
    return status, json.loads(out) if out else None, err


@pytest.mark.parametrize("format_slug", FILES)
def test_a_file_becomes_items_whose_videos_play(format_slug, tmp_path, capsys):
    project = make_project(slug="p")
    name, text, (caption, *foils) = FILES[format_slug]
    (tmp_path / name).write_text(text, encoding="utf-8")
    write_mp4(tmp_path / "video1.mp4", painted_clip(4), fps=8)
    arguments = (format_slug, tmp_path / name, "--project", "p", "--media", tmp_path)
    status, got, _ = run(capsys, *arguments)
    assert (status, got["errors"], got["created"]["items"]) == (0, [], 1)
    item = Item.objects.get(subtest__project=project)
    assert (item.caption.text, [foil.text for foil in item.foils.all()]) == (caption, foils)
    assert (item.subtest.name, item.subtest.foils_per_item) == ("t", len(foils))
    assert Video.objects.get().media_state == MediaState.READY
    _, again, _ = run(capsys, *arguments)
    assert (again["created"]["items"], again["unchanged"]["items"]) == (0, 1)


def test_a_picture_of_valse_is_an_item_whose_clip_has_no_file(tmp_path, capsys):
    make_project(slug="p")
    votes = {"caption": 3, "foil": 0, "other": 0}
    record = {"dataset": "visual7w", "image_file": "a.jpg", "caption": "x", "foil": "y", "mturk": votes}
    (tmp_path / "existence.json").write_text(json.dumps({"e": record}), encoding="utf-8")
    status, got, _ = run(capsys, "valse", tmp_path / "existence.json", "--project", "p")
    assert (status, got["media"]) == (0, {"ready": 0, "elsewhere": 0, "missing": 1, "broken": 0})
    assert Item.objects.get().state == "valid"


def test_bad_rows_are_listed_and_strict_stores_nothing(tmp_path, capsys):
    make_project(slug="p")
    path = tmp_path / "t.csv"
    path.write_text("id,video,caption,foil\na,a.mp4,x,y\nb,b.mp4,,y\n", encoding="utf-8")
    status, _, err = run(capsys, "csv", path, "--project", "p", "--strict")
    assert (status, Item.objects.count()) == (1, 0)
    assert err == f"foilworks: {path}:3: caption: is missing; give the text; nothing was stored\n"
    status, got, _ = run(capsys, "csv", path, "--project", "p")
    assert (status, got["errors"]) == (0, [f"{path}:3: caption: is missing; give the text"])
    assert Item.objects.count() == 1


def test_the_command_names_the_first_clips_without_a_file(tmp_path, capsys):
    make_project(slug="p")
    rows = "".join(f"{n},clip{n}.mp4,a man sits.\n" for n in range(7))
    (tmp_path / "t.csv").write_text(f"id,video,caption\n{rows}", encoding="utf-8")
    arguments = ["import", "csv", str(tmp_path / "t.csv"), "--project", "p"]
    named = "7 videos have no file yet: clip0.mp4, clip1.mp4, clip2.mp4, clip3.mp4, clip4.mp4 and 2 more; "
    call_command(*arguments, "--dry-run")
    assert f"{named}name their folder with --media" in capsys.readouterr().err
    call_command(*arguments)
    assert f"{named}attach them with `foilworks attach --project p --media DIR`" in capsys.readouterr().err


def test_the_command_says_once_that_a_table_is_not_json_lines(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("id,video,caption\na,a.mp4,x\nb,b.mp4,y\n", encoding="utf-8")
    status, got, said = run(capsys, "jsonl", tmp_path / "t.csv", "--project", "p", "--create")
    assert (status, got) == (1, None)
    assert said.strip().endswith("t.csv:1: file: looks like a table, not like JSON lines; choose CSV table (csv)")
