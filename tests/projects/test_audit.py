"""The audit trail is written in the transaction of what it records, or not at all."""

import pytest
from django.db import transaction

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role
from tests.factories import make_member, make_project


@pytest.mark.django_db
def test_a_row_says_who_did_what_from_which_state_to_which_and_why() -> None:
    project = make_project()
    person = make_member(project, Role.RESEARCHER)
    with transaction.atomic():
        audit.record(
            audit.event(project, person, "rename", project, from_state="a", to_state="b", reason="typo", old="x")
        )
    row = AuditEvent.objects.get()
    assert (row.actor, row.action, row.target_type, row.target_id) == (
        person,
        "rename",
        "projects.project",
        str(project.pk),
    )
    assert (row.from_state, row.to_state, row.reason, row.details) == ("a", "b", "typo", {"old": "x"})


@pytest.mark.django_db(transaction=True)
def test_a_row_outside_a_transaction_is_our_own_error() -> None:
    project = make_project()
    with pytest.raises(RuntimeError, match="same transaction"):
        audit.record(audit.event(project, None, "rename", project))
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_write_that_fails_leaves_no_row_behind() -> None:
    project = make_project()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        audit.record(audit.event(project, None, "rename", project))
        1 / 0  # noqa: B018
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db
def test_rows_held_back_are_stored_in_one_statement_and_none_after_an_error(django_assert_num_queries) -> None:
    project = make_project()
    with django_assert_num_queries(1), audit.in_one_statement():
        audit.record(audit.event(project, None, "first", project))
        audit.record(audit.event(project, None, "second", project))
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True)) == ["first", "second"]
    with pytest.raises(ZeroDivisionError), audit.in_one_statement():
        audit.record(audit.event(project, None, "third", project))
        raise ZeroDivisionError
    audit.record(audit.event(project, None, "fourth", project))
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True)) == ["first", "second", "fourth"]
