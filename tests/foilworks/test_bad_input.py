"""Bad input for imports, clips and models, each with its exact message (docs/testing.md#bad-input).

Whole ways through a command are here. Elsewhere: a full disk and links out of a folder (corpus/test_attach_media.py),
Redis gone (jobs/test_queue.py), PostgreSQL gone (test_postgresql.py), killed workers (test_killed_workers.py), scripts
and names of uploaded files (evaluation/test_imports_page.py), scores (evaluation/test_score_files.py), diffs of
combining characters (text/test_diff.py).
"""

import json

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import Caption, Foil, Item, Video
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.projects.models import Project
from tests import factories
from tests.media.test_probe import encode

pytestmark = pytest.mark.django_db
GOOD = {"id": "a", "video": "a.mp4", "caption": "a man folds a shirt.", "foil": "a man unfolds a shirt."}
VOTES = {"caption": "a", "foil": "b", "youtube_id": "x"}


@pytest.fixture
def run(capsys):
    """Runs a command; gives (exit status, JSON of stdout or None, the line on stderr)."""

    def runner(*arguments):
        status = 0
        try:
            call_command(*map(str, arguments), "--json")
        except SystemExit as left:
            status = int(left.code)
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else None, err.removeprefix("foilworks: ").removesuffix("\n")

    return runner


def record(**changes) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


UNREADABLE = {
    "truncated JSON": (
        "vilma",
        b'{"1": {"caption": "a man',
        "1: JSON: Unterminated string starting at, column 19; fix the file there, or get a complete copy",
    ),
    "UTF-16": (
        "jsonl",
        record().decode().encode("utf-16")[:-1],
        " file: is not whole UTF-16; save it again, or as UTF-8",
    ),
    "Latin-1": (
        "jsonl",
        '{"id": "a", "video": "a.mp4", "caption": "un café"}\n'.encode("latin-1"),
        "1: encoding: byte 0xe9 is not UTF-8; save the file as UTF-8",
    ),
    "an empty file": ("jsonl", b"", "1: file: is empty; get a whole copy of it"),
    "a missing column": (
        "contrast",
        b"clip\tending0\tlabel\nx\ta\t0\n",
        (
            "1: header: has no column ending1 (its columns: clip, ending0, label); "
            "name the columns in the first line: clip, ending0, ending1, label"
        ),
    ),
}
BAD_RECORDS = {
    "a truncated line": (
        "jsonl",
        record() + b"\n" + record()[:40],
        "2: JSON: Expecting value at column 41; correct the line",
    ),
    "a caption of a million characters": (
        "jsonl",
        record(caption="a" * 10**6),
        "1: caption: has 1000000 characters, more than 2000; shorten it",
    ),
    "a duplicate id": (
        "jsonl",
        record() + b"\n" + record(caption="another."),
        "2: id: 'a' is already on line 1; give every record its own id",
    ),
    "a path that leads out": (
        "jsonl",
        record(video="../../etc/passwd"),
        "1: video: '../../etc/passwd' leaves the media folder; give a path below it",
    ),
    "a NUL byte": ("jsonl", record(caption="a\0b"), "1: caption: contains a NUL character; remove it"),
    "NaN": (
        "jsonl",
        record(start_time=float("nan")),
        "1: start_time: is nan; give a finite number, or null",
    ),
    "infinity": (
        "jsonl",
        record(start_time=float("-inf")),
        "1: start_time: is -inf; give a finite number, or null",
    ),
    "a negative count": (
        "vilma",
        json.dumps({"1": {**VOTES, "mturk": {"caption": -1, "foil": 3, "other": 1}}}).encode(),
        "1: mturk.caption: is the number -1; give a count from 0 up",
    ),
    "a block of two rows": (
        "feint6k",
        b"video_id,sentence\nv,a\nv,b\n",
        "2: video_id: 'v' has 2 rows together, not 6: one caption and its five foils; correct the line",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_an_unreadable_file_gives_one_line_and_stores_nothing(run, tmp_path, case):
    kind, content, message = UNREADABLE[case]
    path = tmp_path / "file"
    path.write_bytes(content)
    assert run("import", kind, path, "--project", "p", "--create") == (1, None, f"{path}:{message}")
    assert not Project.objects.exists()


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_bad_record_is_listed_and_with_strict_nothing_is_stored(run, tmp_path, case):
    kind, content, message = BAD_RECORDS[case]
    path = tmp_path / "file"
    path.write_bytes(content)
    status, _, _ = run("import", kind, path, "--project", "p", "--create", "--strict")
    assert status == 1
    assert not Project.objects.exists()
    assert not Video.objects.exists()
    status, got, _ = run("import", kind, path, "--project", "p", "--create")
    assert (status, got["errors"]) == (0, [f"{path}:{message}"])


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> <img src=x onerror=alert(1)>",
        '=HYPERLINK("http://example.org")',
        "a \u202eman\u202c folds \u05d0\u05d1",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 cafe\u0301 runs",
    ],
    ids=["script", "a formula", "right-to-left marks", "emoji and combining characters"],
)
def test_hostile_text_is_stored_as_text(run, tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(record(caption=text, foil=f"{text} not"))
    status, got, _ = run("import", "jsonl", path, "--project", "p", "--create")
    assert (status, got["errors"], got["warnings"]) == (0, [], [])
    assert (Caption.objects.get().text, Foil.objects.get().text) == (text, f"{text} not")


@pytest.mark.parametrize("votes", [None, {"caption": 3, "foil": 0, "other": 0}])
def test_a_foil_equal_to_its_caption_is_refused_unless_people_judged_it(run, tmp_path, votes):
    path = tmp_path / "file"
    path.write_bytes(record(foil=f" {GOOD['caption']}", **({"votes": votes} if votes else {})))
    status, got, _ = run("import", "jsonl", path, "--project", "p", "--create")
    assert (status, len(got["errors"]), got["created"]["items"]) == ((0, 0, 1) if votes else (0, 1, 0))
    assert f"{path}:1: foils: a foil is equal to the caption" in "".join(got["errors"] + got["warnings"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty (0 bytes); copy it again from its source"),
        (
            b"this is no video, whatever its name says\n" * 50,
            "is a text, not a video; give an mp4 (H.264) or webm file",
        ),
        ("corrupt", "is cut short, its end is missing; copy it again from its source"),
    ],
    ids=["zero bytes", "a text file", "a corrupt mp4"],
)
def test_an_unusable_clip_is_reported_and_its_record_waits_for_a_better_one(run, tmp_path, content, message):
    clips = tmp_path / "clips"
    clips.mkdir()
    if content == "corrupt":
        encode(clips / "a.mp4", "libx264")
        whole = (clips / "a.mp4").read_bytes()
        content = whole[: len(whole) // 2]
    (clips / "a.mp4").write_bytes(content)
    (tmp_path / "file").write_bytes(record())
    status, got, _ = run("import", "jsonl", tmp_path / "file", "--project", "p", "--create", "--media", clips)
    assert (status, got["errors"], got["media"]) == (0, [], {"ready": 0, "elsewhere": 0, "missing": 0, "broken": 1})
    assert got["broken"] == [{"video": "a.mp4", "error": f"a.mp4: {message}"}]
    assert Item.objects.count() == 1


def test_a_missing_video_is_a_state(run, tmp_path):
    (tmp_path / "file").write_bytes(record())
    status, got, _ = run("import", "jsonl", tmp_path / "file", "--project", "p", "--create", "--media", tmp_path)
    assert (status, got["errors"], got["media"]) == (0, [], {"ready": 0, "elsewhere": 0, "missing": 1, "broken": 0})


@pytest.fixture
def release(run):
    """The id of a release of one item."""
    factories.make_item(factories.make_subtest(factories.make_project(slug="p")), state="valid")
    return run("release", "--project", "p")[1]["id"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("clip:{folder}", "{folder}: the weights are missing; copy model.safetensors into the folder"),
        ("clip:/no/where", "/no/where: there is no such model folder; give the folder that holds config.json"),
        ("{folder}/none.json", "{folder}/none.json: file: there is no such score file; check the path"),
    ],
    ids=["a folder without weights", "no folder", "no score file"],
)
def test_an_unavailable_model_is_reported_before_anything_starts(run, release, tmp_path, spec, message):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "clip"}')
    kind = "model" if spec.startswith("clip:") else "file"
    got = run("evaluate", kind, spec.format(folder=folder), "--release", release, "--sync")
    assert got == (1, None, message.format(folder=folder))


@pytest.mark.parametrize("spec", ["nothing", "nobody:x"])
def test_an_unknown_adapter_is_answered_with_the_known_ones(run, release, spec):
    known = ", ".join(f"{slug}:…" for slug in sorted(ADAPTERS))
    got = run("evaluate", "model", spec, "--release", release, "--sync")
    assert got == (1, None, f"{spec!r} names no model; write SLUG:ARGUMENT with one of: {known}, endpoint:…, file:…")
