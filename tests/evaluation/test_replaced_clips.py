"""A clip is its bytes: another file of its name is named, and replaces it only where nobody used it."""

import json
from pathlib import Path

import pytest

from foilworks.core.corpus.actions.add_videos import add_videos
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.models import Item, Video
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import AuditEvent
from foilworks.site.imports.actions.undo_import import undo_import
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.factories import make_candidate, make_group, make_member, make_run
from tests.media.painted import painted_clip
from tests.media.test_probe import encode

pytestmark = pytest.mark.django_db


def no_progress(rows, _total, _label):
    return rows


def write(folder: Path, n_frames: int, name: str = "same.mp4") -> Path:
    folder.mkdir(exist_ok=True)
    write_mp4(folder / name, painted_clip(n_frames), fps=8)
    return folder


@pytest.fixture
def records(tmp_path) -> Path:
    rows = [{"id": str(n), "video": "same.mp4", "caption": f"a man {n}", "foils": [f"a dog {n}"]} for n in range(2)]
    path = tmp_path / "same.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def first(project, records, tmp_path) -> Video:
    import_records(project, None, "jsonl", records, media_dir=write(tmp_path / "v1", 8))
    return Video.objects.get()


def test_another_file_of_the_name_is_named_and_replaced_with_consent(project, records, first, tmp_path):
    second = write(tmp_path / "v2", 12)
    result = import_records(project, None, "jsonl", records, media_dir=tmp_path / "v1", update=True)
    assert (result.differing, result.replaced, result.warnings) == ([], [], [])
    result = import_records(project, None, "jsonl", records, media_dir=second)
    assert (result.differing, result.replaced, len(result.warnings)) == (["same.mp4"], [], 1)
    assert Video.objects.get().sha256 == first.sha256
    result = import_records(project, None, "jsonl", records, media_dir=second, update=True)
    assert (result.replaced, result.attached, result.warnings) == (["same.mp4"], 0, [])
    video = Video.objects.get()
    assert (video.n_frames, video.sha256 == first.sha256) == (12, False)
    event = AuditEvent.objects.get(action="corpus.replace_media")
    assert (event.details["before"], event.details["sha256"]) == (first.sha256, video.sha256)
    assert import_records(project, None, "jsonl", records, media_dir=second).differing == []
    assert violations() == []


def use(item: Item) -> None:
    make_candidate(make_group(make_run(item.subtest), item.caption))


def test_a_clip_that_somebody_used_keeps_its_file_and_gets_a_version_with_consent(project, records, first, tmp_path):
    use(Item.objects.first())
    second = write(tmp_path / "v2", 12)
    result = import_records(project, None, "jsonl", records, media_dir=second)
    assert (result.differing, result.used_differing, result.versions) == ([], ["same.mp4"], [])
    assert "was used: import with --update to add a version" in result.warnings[0]
    result = import_records(project, None, "jsonl", records, media_dir=second, update=True)
    assert (result.versions, result.replaced, result.warnings) == (["same.mp4#v2"], [], [])
    old, new = Video.objects.order_by("pk")
    assert (old.pk, old.sha256, old.n_frames, new.version_of, new.n_frames) == (
        first.pk,
        first.sha256,
        8,
        "same.mp4",
        12,
    )
    # What people work on stays with the file that they saw.
    assert set(Item.objects.values_list("video", "caption__video")) == {(old.pk, old.pk)}
    event = AuditEvent.objects.get(action="corpus.add_version")
    assert (event.details["of"], event.details["sha256"], event.target_id) == ("same.mp4", new.sha256, str(new.pk))
    assert violations() == []


def test_later_imports_know_all_versions_and_add_to_the_newest(project, records, first, tmp_path):
    use(Item.objects.first())
    second = write(tmp_path / "v2", 12)
    import_records(project, None, "jsonl", records, media_dir=second, update=True)
    _old, new = Video.objects.order_by("pk")
    for folder in ("v1", "v2"):
        result = import_records(project, None, "jsonl", records, media_dir=tmp_path / folder, update=True)
        assert (result.used_differing, result.differing, result.unchanged["items"]) == ([], [], 2), folder
        assert (result.changes, result.warnings, result.created.total()) == ([], [], 0), folder
    added = {"id": "new", "video": "same.mp4", "caption": "a man 0", "foils": ["a cow"]}
    named = {**added, "id": "named", "video_key": "same.mp4#v2", "caption": "a man sits"}
    with records.open("a") as file:
        file.write(f"{json.dumps(added)}\n{json.dumps(named)}\n")
    result = import_records(project, None, "jsonl", records, media_dir=second)
    assert (result.created["items"], result.created["videos"], result.errors) == (2, 0, [])
    assert set(Item.objects.filter(key__in=["new", "named"]).values_list("video", flat=True)) == {new.pk}
    assert import_records(project, None, "jsonl", records, media_dir=second).changes == []
    # A version that nobody used is replaced as any clip is.
    Item.objects.filter(video=new).delete()
    result = import_records(project, None, "jsonl", records, media_dir=write(tmp_path / "v3", 10), update=True)
    assert (result.replaced, result.versions, Video.objects.count()) == (["same.mp4#v2"], [], 2)
    assert violations() == []


def test_the_import_that_made_a_version_can_be_undone(project, records, first, tmp_path):
    use(Item.objects.first())
    result = import_records(project, None, "jsonl", records, media_dir=write(tmp_path / "v2", 12), update=True)
    assert undo_import(None, project, result.started)["videos"] == 1
    assert Video.objects.get() == first


def test_a_file_that_cannot_be_used_replaces_none(project, records, first, tmp_path):
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2/same.mp4").write_bytes(b"no video")
    result = import_records(project, None, "jsonl", records, media_dir=tmp_path / "v2", update=True)
    assert (result.replaced, Video.objects.get().media_state) == ([], "ready")
    assert "the stored file stays" in result.warnings[0]


def test_videos_alone_and_attach_name_it_too(project, first, tmp_path):
    person = make_member(project, "researcher")
    for folder, outcome, n_differing in ((tmp_path / "v1", "there", 0), (write(tmp_path / "v2", 12), "differs", 1)):
        [row] = add_videos(person, project, folder, dry_run=False, progress=no_progress)
        assert row["what"] == outcome
        assert attach_folder(None, project, folder)["differing"] == n_differing
    assert Video.objects.get().sha256 == first.sha256


def test_a_converted_clip_is_compared_with_its_original(project, records, tmp_path):
    (tmp_path / "v1").mkdir()
    encode(tmp_path / "v1/same.mp4", codec="hevc")
    import_records(project, None, "jsonl", records, media_dir=tmp_path / "v1")
    assert Video.objects.get().conversion
    assert import_records(project, None, "jsonl", records, media_dir=tmp_path / "v1").differing == []
    write(tmp_path / "v2", 12)
    assert import_records(project, None, "jsonl", records, media_dir=tmp_path / "v2").differing == ["same.mp4"]
