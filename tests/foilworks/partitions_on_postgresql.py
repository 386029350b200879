"""Run by test_scale.py on a PostgreSQL: the two tables that only grow, partitioned with rows in them."""

import pytest
from django.db import IntegrityError, connection, transaction

from evaluation.scoring.models import Score
from projects import audit
from projects.models import AuditEvent
from tests import factories
from tests.partitioned import partition, parts_of

pytestmark = pytest.mark.django_db


def score(number: int, model: str) -> Score:
    return Score(
        model_key=model,
        protocol="foilworks",
        clip_key=f"c{number}",
        text_sha256=f"{number:064d}",
        value=0.5,
        kind="cosine",
    )


@pytest.fixture
def project():
    """Rows before the partition, then the partition."""
    project = factories.make_project()
    AuditEvent.objects.bulk_create(
        AuditEvent(project=project, action="made", target_type="x", target_id=str(n)) for n in range(50)
    )
    Score.objects.bulk_create(score(n, f"model {n % 5}") for n in range(50))
    with connection.cursor() as cursor:
        # What is checked at the end of a transaction is in the way of a change of the tables.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    partition()
    return project


def test_what_was_there_stays_and_what_comes_goes_on_counting(project):
    assert (parts_of("projects_auditevent"), parts_of("evaluation_score")) == (6, 8)
    assert (AuditEvent.objects.filter(action="made").count(), Score.objects.count()) == (50, 50)
    last = AuditEvent.objects.latest("pk").pk
    with transaction.atomic():
        audit.record(audit.event(project, None, "after", project))
    assert AuditEvent.objects.get(action="after").pk > last
    # Beyond the first partition, and beyond the last.
    for pk in (10_000_001, 900_000_000):
        AuditEvent.objects.create(pk=pk, project=project, action="far", target_type="x", target_id="1")
    assert list(AuditEvent.objects.filter(target_type="x").order_by("-pk").values_list("pk", flat=True)[:2]) == [
        900_000_000,
        10_000_001,
    ]


def test_a_score_is_stored_once_for_its_model_as_before(project):
    Score.objects.bulk_create([score(1, "model 1"), score(1, "model 2")], ignore_conflicts=True)
    assert Score.objects.count() == 51
    with pytest.raises(IntegrityError), transaction.atomic():
        score(1, "model 1").save()


def test_the_trail_still_refers_to_projects_that_are_there(project):
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEvent.objects.create(project_id=10**9, action="x", target_type="x", target_id="1")
        connection.check_constraints()
    project.delete()
    assert not AuditEvent.objects.filter(action="made").exists()


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT value FROM evaluation_score WHERE model_key = 'model 1' AND protocol = 'foilworks'", 1),
        ("SELECT * FROM projects_auditevent WHERE id > 10000000 AND id < 10000100", 1),
    ],
)
def test_a_query_by_the_key_reads_one_partition(project, sql, parts):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    named = {word for word in plan.split() if word.startswith(("evaluation_score_", "projects_auditevent_"))}
    assert len({name for name in named if name.rpartition("_")[2].isdigit()}) == parts, plan
