"""Undo of an import: exactly its rows leave, and only while nobody has worked on them."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Stage
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest, Video
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent
from foilworks.site.imports.actions.undo_import import latest_import, undo_import
from foilworks.site.imports.models import Import
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.evaluation.test_imports_page import file, own_uploads, send  # noqa: F401
from tests.factories import make_candidate, make_group, make_item, make_run, make_task
from tests.pages import read_page

pytestmark = pytest.mark.django_db
TABLES = (Video, Caption, Subtest, Item, Foil)


def record(id_: str, video: str, caption: str, **fields) -> dict:
    return {"id": id_, "video": video, "caption": caption, "foils": [f"not {caption}"], **fields}


def imported(project, path: Path, *records: dict) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in records))
    result = import_records(project, None, "jsonl", path)
    assert not result.errors
    return result.started


def rows() -> list[list[tuple]]:
    return [
        list(model.objects.order_by("pk").values_list("pk", "project" if model is Video else "pk")) for model in TABLES
    ]


@pytest.fixture
def first(project, tmp_path) -> str:
    return imported(
        project, tmp_path / "a.jsonl", record("a", "a.mp4", "a man sits"), record("b", "b.mp4", "a dog runs")
    )


def test_exactly_the_rows_of_the_import_leave(project, first, tmp_path):
    before = rows()
    pair = {"caption": "there is a cat", "foils": ["there is a cow"]}
    started = imported(
        project,
        tmp_path / "b.jsonl",
        # A caption and a clip that were there, a clip that was there, a clip of its own.
        record("c", "a.mp4", "a man sits", subtest="new"),
        record("d", "a.mp4", "a man smiles", subtest="new"),
        record(
            "e",
            "e.mp4",
            "a cat sleeps",
            subtest="paired",
            proficiency=pair,
            votes={"caption": 3, "foil": 0, "other": 0},
        ),
    )
    assert rows() != before
    removed = undo_import(None, project, started)
    assert rows() == before
    assert (removed["items"], removed["captions"], removed["videos"], removed["subtests"]) == (4, 3, 1, 3)
    assert violations() == []
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.details["removed"]["items"]) == ("evaluation.undo_import", 4)
    with pytest.raises(EvaluationError, match="nothing to undo"):
        undo_import(None, project, started)
    assert latest_import(project).details["started"] == first


def test_what_a_later_import_uses_stays(project, first, tmp_path):
    imported(project, tmp_path / "b.jsonl", record("c", "a.mp4", "a man sits", subtest="new"))
    undo_import(None, project, first)
    assert list(Item.objects.values_list("key", flat=True)) == ["c"]
    assert list(Caption.objects.values_list("text", "video__key")) == [("a man sits", "a.mp4")]
    assert violations() == []


def test_a_caption_that_only_the_import_doubted_is_in_doubt_no_longer(project, first, tmp_path):
    votes = {"caption": 0, "foil": 3, "other": 0}
    started = imported(project, tmp_path / "b.jsonl", record("c", "a.mp4", "a man sits", subtest="new", votes=votes))
    assert Caption.objects.get(text="a man sits").flagged_false
    undo_import(None, project, started)
    assert not Caption.objects.get(text="a man sits").flagged_false


def a_task(item):
    make_task(item.project, Stage.VALIDATION, item.video, item=item, foil=item.foils.get())


def a_candidate(item):
    make_candidate(make_group(make_run(item.subtest), item.caption))


def a_shared_proficiency_item(item):
    make_item(item.subtest, proficiency_item=item)


def a_release(item):
    Item.objects.update(state="valid")
    freeze_release(None, item.project, name="v1")


@pytest.mark.parametrize("work", [a_task, a_candidate, a_shared_proficiency_item, a_release])
def test_rows_that_somebody_worked_on_are_not_removed(project, first, work):
    work(Item.objects.get(key="a"))
    before = rows()
    with pytest.raises(EvaluationError, match="in use"):
        undo_import(None, project, first)
    assert rows() == before


def test_the_page_undoes_an_import_once(owner, project, first):
    before = rows()
    send(owner, project, records=file("more.csv", "id,video,caption,foil\nx,x.mp4,a man sits.,a man stands.\n"))
    upload = Import.objects.get()
    run_now(upload.job)
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    run_now(Import.objects.get().job)
    address = reverse("imports:import", args=[project.slug, upload.pk])
    assert "Undo this import" in read_page(owner.get(address)).buttons
    undo = reverse("imports:undo_import", args=[project.slug, upload.pk])
    owner.post(undo)
    run_now(Import.objects.get().job)
    assert rows() == before
    shown = read_page(owner.get(address))
    shown.check("Undone.", "items: 1")
    assert "Undo this import" not in shown.buttons
    assert owner.post(undo).status_code == 400
    assert AuditEvent.objects.get(action="evaluation.request_undo").actor is not None


def test_the_command_undoes_the_latest_import(project, first, tmp_path, capsys):
    imported(project, tmp_path / "b.jsonl", record("c", "c.mp4", "a cat sleeps"))
    call_command("undo-import", "--project", project.slug, "--dry-run")
    assert "b.jsonl" in capsys.readouterr().out
    assert Item.objects.count() == 3
    for n_left in (2, 0):
        call_command("undo-import", "--project", project.slug)
        assert Item.objects.count() == n_left
    with pytest.raises(SystemExit):
        call_command("undo-import", "--project", project.slug)
    assert "nothing to undo" in capsys.readouterr().err
