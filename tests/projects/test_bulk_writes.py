"""Rows that are written in bulk are the rows that bulk_create writes, whatever stands in them."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from foilworks.core.corpus.models import Caption, Video
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.sql.bulk_writes import insert_many
from tests.factories import make_caption, make_project, make_video

pytestmark = pytest.mark.django_db

# What a line of COPY could take for something else, and what a person may write.
TEXTS = ["", " ", "\\N", "\\", "\t", "a\tb\nc\rd\\e", "\\.", "null", "'\"%s%%", "Ünïcode 🎬", "\u2028", "x" * 5000]


def stored(model, keys):
    return list(model.objects.filter(pk__in=keys).order_by("pk").values())


def test_any_text_is_stored_unchanged():
    video = make_video(make_project())
    rows = [
        Caption(video=video, key=str(n), text=text, text_sha256=str(n), facts={"a": [text, None, 1.5, True]})
        for n, text in enumerate(TEXTS)
    ]
    insert_many(rows)
    kept = stored(Caption, [row.pk for row in rows])
    assert [row["text"] for row in kept] == TEXTS
    assert [row["facts"]["a"] for row in kept] == [[text, None, 1.5, True] for text in TEXTS]


def test_every_column_is_as_bulk_create_writes_it():
    project, now = make_project(), timezone.now()

    def clips(prefix):
        return [
            Video(
                project=project,
                key=f"{prefix}1",
                file="videos/a.mp4",
                url="https://a.org/?a=1&b=2",
                start_time=0.1,
                end_time=1e-7,
                fps=29.97002997,
                n_frames=10**6,
                duration=1e9,
                sha256="ab" * 32,
            ),
            Video(project=project, key=f"{prefix}2", start_time=None),
        ]

    ours, djangos = clips("a"), Video.objects.bulk_create(clips("b"))
    insert_many(ours)
    for one, other in zip(stored(Video, [row.pk for row in ours]), stored(Video, [v.pk for v in djangos]), strict=True):
        own = {"id", "key", "created_at"}
        assert {k: v for k, v in one.items() if k not in own} == {k: v for k, v in other.items() if k not in own}
        assert now <= one["created_at"] <= timezone.now()


def test_rows_get_their_keys_and_later_keys_continue():
    video = make_video(make_project())
    first = [Caption(video=video, key=f"a{n}", text="t", text_sha256=f"a{n}", facts={}) for n in range(1200)]
    insert_many(first)
    assert [row.pk for row in first] == sorted({row.pk for row in first})
    kept = Caption.objects.filter(key__startswith="a")
    assert {row.pk: row.key for row in first} == dict(kept.values_list("pk", "key"))
    last = Caption.objects.create(video=video, key="z", text="t", text_sha256="z", facts={})
    key = last.pk
    assert key > first[-1].pk
    last.delete()
    more = [Caption(video=video, key="more", text="t", text_sha256="more", facts={})]
    insert_many(more)
    # A key that a row once had is nobody else's.
    assert more[0].pk > key
    more[0].text = "changed"
    more[0].save()
    assert Caption.objects.get(key="more").text == "changed"


def test_into_an_empty_table():
    rows = [AuditEvent(action="a", details={}), AuditEvent(action="b", details={"x": "\\N"})]
    AuditEvent.objects.all()._raw_delete(connection.alias)
    insert_many(rows)
    assert [row["action"] for row in stored(AuditEvent, [row.pk for row in rows])] == ["a", "b"]


def test_a_violated_constraint_is_an_integrity_error_and_stores_nothing():
    caption = make_caption(make_video(make_project()))
    twice = [Caption(video=caption.video, key="k", text="t", text_sha256="same", facts={}) for _ in range(2)]
    before = Caption.objects.count()
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_many(twice)
    assert Caption.objects.count() == before


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_nothing_is_written():
    with pytest.raises(transaction.TransactionManagementError):
        insert_many([AuditEvent(action="a")])
    assert not AuditEvent.objects.exists()
