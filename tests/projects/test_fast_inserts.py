"""Writes whose SQL is kept: they store what `save` and `update` store."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.utils import timezone

from foilworks.core.projects.models import AuditEvent, Membership, Project, Role, User
from foilworks.core.projects.sign_in.sessions import SessionStore
from foilworks.core.projects.sql.fast_inserts import insert, insert_or_update
from foilworks.core.projects.sql.prepared_queries import PreparedUpdate

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 5, 6, 7, 8000, tzinfo=UTC)


@pytest.fixture
def project():
    return Project.objects.create(slug="p", name="Prepared")


def event(project, action, **more):
    return AuditEvent(project=project, action=action, target_type="", target_id="", details={"deep": [1, None]}, **more)


def test_rows_are_stored_as_save_stores_them(project, django_assert_num_queries):
    saved = event(project, "same", reason="% and 'quotes' %s \N{SNOWMAN}")
    saved.save()
    made = [event(project, "same", reason=saved.reason), event(project, "other")]
    with django_assert_num_queries(1):
        insert(*made)
    found, other = (AuditEvent.objects.get(pk=row.pk) for row in made)
    columns = [field.attname for field in AuditEvent._meta.concrete_fields if field.attname not in ("id", "at")]
    assert [getattr(found, name) for name in columns] == [getattr(saved, name) for name in columns]
    assert (other.action, other.actor_id) == ("other", None)
    assert abs(found.at - timezone.now()) < timedelta(hours=1)
    assert not made[0]._state.adding
    made[0].reason = "changed"
    with django_assert_num_queries(1):
        made[0].save(update_fields=["reason"])


def test_a_row_that_is_there_is_an_error_or_is_left_out(project):
    person = User.objects.create(username="one")
    membership = {"project": project, "person": person, "role": Role.RESEARCHER}
    insert(Membership(**membership))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Membership(**membership))
    second = User.objects.create(username="two")
    insert(Membership(**membership), Membership(**{**membership, "person": second}), ignore_conflicts=True)
    assert Membership.objects.count() == 2


def test_rows_with_a_key_are_not_added_again(project):
    made = event(project, "once")
    insert(made)
    with pytest.raises(TypeError):
        insert(made)


def test_an_update_changes_what_its_queryset_names(project, django_assert_num_queries):
    rows = [event(project, action) for action in ("a", "a", "b")]
    insert(*rows)
    built = []

    def move(pk, was, to, at):
        built.append(pk)
        return AuditEvent.objects.filter(pk=pk, action=was).order_by("at"), {
            "action": to,
            "at": at,
            "actor": None,
            "reason": "100 %",
        }

    update = PreparedUpdate(move)
    assert update(pk=rows[0].pk, was="b", to="c", at=NOW) == 0
    with django_assert_num_queries(1):
        assert update(pk=rows[1].pk, was="a", to="c", at=NOW) == 1
    assert len(built) == 2
    assert list(AuditEvent.objects.order_by("pk").values_list("action", "reason")) == [
        ("a", ""),
        ("c", "100 %"),
        ("b", ""),
    ]
    assert AuditEvent.objects.get(pk=rows[1].pk).at == NOW


def test_a_session_is_read_until_it_ends(django_assert_num_queries):
    store = SessionStore()
    store["seen"] = 1
    store.create()
    key = store.session_key
    assert SessionStore(key)["seen"] == 1
    with django_assert_num_queries(1):
        assert SessionStore(key).load() == {"seen": 1}
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
    ended = SessionStore(key)
    assert ended.load() == {}
    assert ended.session_key is None
    with django_assert_num_queries(0):
        assert SessionStore().load() == {}


def test_a_row_is_changed_and_another_is_added_in_one_statement(django_assert_num_queries):
    old = Project.objects.create(slug="old", name="Old")
    old.name, old.description = "Renamed", "not stored"
    new = Project(slug="new", name="New")
    with django_assert_num_queries(1):
        insert_or_update(old, new, known_by="slug", changed=["name"])
    assert list(Project.objects.order_by("pk").values_list("pk", "slug", "name", "description")) == [
        (old.pk, "old", "Renamed", ""),
        (new.pk, "new", "New", ""),
    ]
