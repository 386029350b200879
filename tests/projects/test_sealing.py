"""Sealed rows of the audit trail: every change of one shows, and an erasure does not look like a change."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.erasure.actions.erase_person import ERASED, erase_person
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.audit_trail import sealing
from foilworks.core.projects.audit_trail.sealing import check_trail, seal_due
from foilworks.core.projects.models import AuditEvent, AuditSeal, Project, Role
from foilworks.site.supervisor import housekeeping
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def add_rows(count: int, project: Project | None = None, reason: str = "") -> list[AuditEvent]:
    project = project or make_project()
    with transaction.atomic():
        audit.record(*(audit.event(project, None, "rename", project, reason=f"{reason} {n}") for n in range(count)))
    return list(AuditEvent.objects.order_by("-pk")[:count])[::-1]


def test_each_row_is_sealed_once_and_roots_follow_each_other(monkeypatch) -> None:
    monkeypatch.setattr(sealing, "BATCH_ROWS", 3)
    add_rows(7)
    assert [seal_due(), seal_due()] == [7, 0]
    add_rows(1)
    monkeypatch.setattr(housekeeping.connections, "close_all", lambda: None)
    housekeeping.look_after()
    assert [seal.ranges[0][1] - seal.ranges[0][0] + 1 for seal in AuditSeal.objects.order_by("pk")] == [3, 3, 1, 1]
    check = check_trail()
    assert (check.n_rows, check.n_waiting, check.difference, len(check.roots)) == (8, 0, "", 4)


def test_rows_that_commit_late_are_sealed_later() -> None:
    rows = add_rows(6)
    late, absent = rows[1], rows[4]
    AuditEvent.objects.filter(pk__in=[late.pk, absent.pk]).delete()
    assert seal_due() == 4
    # A transaction that began earlier commits now; the other number was rolled back.
    AuditEvent.objects.bulk_create([late])
    add_rows(1)
    assert [seal_due(), seal_due()] == [2, 0]
    assert AuditSeal.objects.order_by("pk").last().ranges[0] == [late.pk, late.pk]
    assert (check_trail().difference, check_trail().n_rows) == ("", 6)


def test_old_gaps_are_final(monkeypatch) -> None:
    monkeypatch.setattr(sealing, "RECENT_BATCHES", 2)
    rows = add_rows(3)
    AuditEvent.objects.filter(pk=rows[1].pk).delete()
    for _ in range(4):
        add_rows(1)
        seal_due()
    AuditEvent.objects.bulk_create([rows[1]])
    assert seal_due() == 0
    assert "are in no seal" in check_trail().difference


CHANGES: dict[str, Callable[[AuditEvent], object]] = {
    **{
        name: lambda row, name=name, value=value: AuditEvent.objects.filter(pk=row.pk).update(**{name: value})
        for name, value in {
            "project": None,
            "action": "x",
            "target_type": "x",
            "target_id": "9",
            "from_state": "x",
            "to_state": "x",
            "reason": "x",
            "details": {"x": 1},
            "at": timezone.now() - timedelta(days=1),
        }.items()
    },
    "actor": lambda row: AuditEvent.objects.filter(pk=row.pk).update(actor=make_user("eve")),
    "id": lambda row: AuditEvent.objects.filter(pk=row.pk).delete(),
    "erased": lambda row: AuditSeal.objects.update(erased=[row.pk]),
    "openings": lambda _row: AuditSeal.objects.update(openings=bytes(32 * 3)),
    "root": lambda _row: AuditSeal.objects.update(root="0" * 64),
    "previous": lambda _row: AuditSeal.objects.update(previous="0" * 64),
    "another row": lambda row: AuditEvent.objects.filter(pk=row.pk).update(id=row.pk + 10**6),
}


def test_every_column_is_tried() -> None:
    assert {column.name for column in AuditEvent._meta.fields} <= set(CHANGES)


@pytest.mark.parametrize("column", CHANGES)
def test_every_change_shows(column) -> None:
    rows = add_rows(3)
    seal_due()
    CHANGES[column](rows[1])
    assert check_trail().difference


def test_an_erasure_is_not_a_change_and_leaves_nothing_to_guess() -> None:
    project = make_project()
    person, researcher = make_member(project, Role.ANNOTATOR), make_member(project, Role.RESEARCHER)
    rows = add_rows(3, project, reason=f"asked by {person.username}")
    seal_due()
    root, openings = check_trail().root, bytes(AuditSeal.objects.get().openings)
    erase_person(person, person)
    seal_due()
    check = check_trail()
    assert (check.difference, check.n_erased, root in check.roots) == ("", 3, True)
    erased = AuditEvent.objects.get(pk=rows[0].pk)
    assert erased.reason == f"asked by {ERASED} 0"
    # The salts are gone: with them, somebody could try names against the commitments.
    kept = bytes(AuditSeal.objects.order_by("pk").first().openings)
    salt = openings[: sealing.HASH_BYTES]
    assert salt not in kept
    assert sealing._commitment(salt, rows[0]) in kept
    # A second erasure keeps the first commitment.
    AuditEvent.objects.filter(pk=rows[2].pk).update(reason=f"{ERASED} and {researcher.username}")
    make_member(project, Role.RESEARCHER)
    erase_person(researcher, researcher)
    assert check_trail().difference == ""


def test_two_processes_do_not_fork_the_roots() -> None:
    add_rows(3)
    seal_due()
    seal = AuditSeal.objects.get()
    seal.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        seal.save(force_insert=True)


def test_the_command_compares_with_a_noted_root(capsys, caplog) -> None:
    add_rows(2)
    with caplog.at_level("INFO"):
        seal_due()
    noted = caplog.records[-1].getMessage().rpartition(" ")[2]
    add_rows(1)
    call_command("verify", "--trail", "--expect", noted)
    assert (
        f"unchanged: 2 audit rows, 0 of them with erased texts\nroot: {noted}\nnot sealed yet: 1"
        in capsys.readouterr().out
    )
    # Somebody with access to the database changes a row and makes all seals again.
    AuditEvent.objects.update(reason="forged")
    AuditSeal.objects.all().delete()
    seal_due()
    with pytest.raises(SystemExit) as end:
        call_command("verify", "--trail", "--expect", noted)
    assert end.value.code == 1
    assert "seals were removed or replaced" in capsys.readouterr().out


def test_the_queries_of_a_check_do_not_grow_with_seals(django_assert_max_num_queries) -> None:
    for _ in range(sealing.SEALS_PER_QUERY):
        add_rows(1)
        seal_due()
    with django_assert_max_num_queries(7):
        assert check_trail().difference == ""
