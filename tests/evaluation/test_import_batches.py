"""A large import on SQLite gives way to people between its batches, and is continued if it stops half-way."""

import json

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.site.imports import store, survey
from foilworks.site.imports.store import import_records
from tests.factories import make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has many writers at a time"),
]


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(survey, "READ", 40)
    path = tmp_path / "items.jsonl"
    rows = [
        {"id": f"i{n}", "source_id": f"v{n}", "subtest": "s", "caption": f"a cat sits {n}", "foil": f"a dog sits {n}"}
        for n in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_other_writers_come_between_two_batches(records, monkeypatch):
    open_transactions = []
    monkeypatch.setattr(store, "good_chunks", watched(store.good_chunks, open_transactions))
    project, results = make_project(), []
    result = import_records(project, None, "jsonl", records, stored=results.append)
    assert (result.created["items"], Item.objects.count(), results) == (6, 6, [result])
    assert open_transactions == [False] * 3
    assert AuditEvent.objects.filter(action="evaluation.import_records").count() == 1


def test_a_transaction_stores_fewer_records_if_the_last_one_held_the_writer_long(records, monkeypatch):
    monkeypatch.setattr(survey, "READ", 4000)
    assert survey.records_per_chunk() == 200
    assert [store._next_size(200, seconds) for seconds in (0.0, 0.1, 0.2, 1.0, 60.0)] == [200, 200, 100, 20, 10]
    assert [store._next_size(10, seconds) for seconds in (0.01, 0.1)] == [100, 10]
    stored, store_chunk, sizes = [], store._store_chunk, iter([1, 3, 1])

    def noted(batch, part, actor):
        stored.append(len(part))
        return store_chunk(batch, part, actor)

    monkeypatch.setattr(survey, "READ", 80)
    monkeypatch.setattr(store, "_store_chunk", noted)
    monkeypatch.setattr(store, "_next_size", lambda _n, _seconds: next(sizes, 4))
    assert import_records(make_project(), None, "jsonl", records).created["items"] == 6
    # At most the records of one chunk, 4 here; then as many as the time of the last transaction allows.
    assert stored == [4, 1, 1]


def watched(chunks, open_transactions):
    def read(*arguments):
        for chunk in chunks(*arguments):
            open_transactions.append(connection.in_atomic_block)
            yield chunk

    return read


def test_what_an_import_that_stopped_left_out_is_stored_by_the_next_one(records, monkeypatch):
    project, store_items = make_project(), store.store_items

    def fail_at_the_third(batch, now):
        if batch.records[0].id.endswith("4"):
            raise IntegrityError("somebody else stored it")
        return store_items(batch, now)

    with monkeypatch.context() as broken:
        broken.setattr(store, "store_items", fail_at_the_third)
        with pytest.raises(EvaluationError, match="earlier records are stored; import again"):
            import_records(project, None, "jsonl", records)
    assert Item.objects.count() == 4
    result = import_records(project, None, "jsonl", records)
    assert (result.created["items"], result.unchanged["items"], Item.objects.count()) == (2, 4, 6)


def test_strict_imports_stay_one_transaction(records, monkeypatch):
    open_transactions = []
    monkeypatch.setattr(store, "good_chunks", watched(store.good_chunks, open_transactions))
    import_records(make_project(), None, "jsonl", records, strict=True)
    assert open_transactions == [True] * 3


PAIR = {"caption": "there is a ball", "foils": ["there is a box"], "votes": {"caption": 1, "foil": 0, "other": 0}}
TWO_CLIPS = [
    {"id": f"{name}{side}", "video": f"{name}{side}.mp4", "caption": texts[0], "foil": texts[1], "pair": name}
    for name in ("p", "q")
    for side, texts in (("l", ("it rises", "it falls")), ("r", ("it falls", "it rises")))
]
VARIED = [
    {"id": "a", "video": "1.mp4", "caption": "a ball rolls left", "foil": "a ball rolls right", "proficiency": PAIR},
    {"id": "b", "video": "1.mp4", "caption": "a ball stops", "foils": ["a ball flies", "a ball melts"]},
    {"id": "c", "video": "2.mp4", "caption": "a dog digs"},
    {"id": "d", "video": "1.mp4", "caption": "a ball rolls left"},
    {"id": "e", "video": "2.mp4", "caption": "a dog digs"},
    {"id": "f", "video": "1.mp4", "caption": "a ball rolls", "foil": "a box rolls", "proficiency": PAIR},
    {"id": "g", "video": "1.mp4", "end_time": 3, "video_key": "1.mp4", "caption": "a cut", "foil": "a whole"},
    {"id": "h", "video": "3.mp4", "caption": "a cat naps", "foil": "a cat runs", "subtest": "cats"},
    {"id": "i", "video": "3.mp4", "caption": "a cat", "foil": "a cow", "votes": {"caption": 3}, "category": "pets"},
    *TWO_CLIPS[:3],
]


def counts_of(result):
    return {key: value for key, value in result.as_json().items() if key not in {"dry_run", "started"}}


@pytest.mark.parametrize("options", [{}, {"as_published": True}, {"update": True}], ids=str)
def test_a_check_counts_what_the_import_stores_and_writes_nothing(tmp_path, monkeypatch, options):
    monkeypatch.setattr(survey, "READ", 40)
    path, project = tmp_path / "varied.jsonl", make_project()
    changed = [{**row, "caption": row["caption"] + " again"} for row in VARIED[:3]]
    for rows in (VARIED, [*changed, *VARIED[3:], TWO_CLIPS[3]]):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with CaptureQueriesContext(connection) as queries:
            checked = import_records(project, None, "jsonl", path, dry_run=True, **options)
        assert "update" in options or {query["sql"].split()[0] for query in queries} == {"SELECT"}
        stored = import_records(project, None, "jsonl", path, **options)
        assert counts_of(checked) == counts_of(stored)
    assert stored.created["items"] == 1


def test_a_check_of_a_project_that_is_not_stored_yet_leaves_it_so(records):
    project = Project(slug="new", name="New")
    assert import_records(project, None, "jsonl", records, dry_run=True).created["items"] == 6
    assert (project.pk, Project.objects.count()) == (None, 0)
