"""Prepared queries: the rows of the queryset that they were made of, without making it again."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from foilworks.core.projects.models import AuditEvent, Membership, Project, Role, User
from foilworks.core.projects.sql.prepared_queries import Prepared

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 5, 6, 7, 8000, tzinfo=UTC)


@pytest.fixture
def audited():
    project = Project.objects.create(slug="p", name="Prepared")
    person = User.objects.create(username="one")
    for at in range(3):
        event = AuditEvent.objects.create(
            project=project, actor=person if at else None, action=f"act{at}", details={"at": at, "deep": [1, {"a": at}]}
        )
        AuditEvent.objects.filter(pk=event.pk).update(at=NOW + timedelta(hours=at))
    return project, person


def events(project, since, action):
    rows = AuditEvent.objects.select_related("project", "actor")
    return rows.filter(project=project, at__gte=since).exclude(action=action).order_by("-at")


def test_rows_come_with_their_relations_and_their_values(audited, django_assert_num_queries):
    project, _person = audited
    wanted = list(events(project.pk, NOW, "act2"))
    with django_assert_num_queries(1):
        found = Prepared(events).all(project=project.pk, since=NOW, action="act2")
        assert [one.actor for one in found] == [one.actor for one in wanted]
        assert [one.project for one in found] == [project, project]
    assert found == wanted
    for one, other in zip(found, wanted, strict=True):
        assert vars(one).keys() == vars(other).keys()
        assert (one.details, one.at, one.action) == (other.details, other.at, other.action)
    assert found[1].actor is None


def test_a_constant_may_hold_signs_of_percent(audited):
    project, _person = audited
    AuditEvent.objects.filter(action="act1").update(action="50 %s 100 %%s")
    said = Prepared(
        lambda project: AuditEvent.objects.filter(project=project, action="50 %s 100 %%s").values_list("pk")
    )
    assert said.all(project=project.pk) == [AuditEvent.objects.get(action="50 %s 100 %%s").pk]


def test_other_values_need_no_other_queryset(audited):
    project, _person = audited
    built = []

    def counted(**values):
        built.append(values)
        return events(**values)

    prepared = Prepared(counted)
    for hours, action, wanted in ((0, "", ["act2", "act1", "act0"]), (1, "act2", ["act1"]), (5, "", [])):
        found = prepared.all(project=project.pk, since=NOW + timedelta(hours=hours), action=action)
        assert [one.action for one in found] == wanted
    assert prepared.all(project=project.pk + 1, since=NOW, action="") == []
    assert len(built) == 2


def test_columns_come_as_tuples_and_a_flat_one_by_itself(audited):
    project, person = audited
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    both = ("role", "person__username")
    columns = Prepared(lambda project: Membership.objects.filter(project=project).values_list(*both))
    assert columns.all(project=project.pk) == [("researcher", "one")]
    flat = Prepared(lambda project: Membership.objects.filter(project=project).values_list("role", flat=True))
    assert flat.first(project=project.pk) == "researcher"
    assert flat.first(project=project.pk + 1) is None


def test_an_enumerations_member_is_its_text(audited):
    project, person = audited
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    held = Prepared(lambda role: Membership.objects.filter(role=role).values_list("pk", flat=True))
    assert len(held.all(role=Role.RESEARCHER)) == 1
    assert held.all(role=Role.VALIDATOR) == []


@pytest.mark.parametrize("value", [None, True, 1.5, [1, 2]])
def test_values_that_could_change_the_query_are_rejected(value):
    prepared = Prepared(lambda project: Project.objects.filter(pk=project))
    with pytest.raises(TypeError, match="a prepared query takes text, integers and datetimes"):
        prepared.all(project=value)


def test_a_value_that_the_query_does_not_hold_is_a_mistake():
    with pytest.raises(ValueError, match="slug"):
        Prepared(lambda project, slug: Project.objects.filter(pk=project)).all(project=1, slug="p")


def test_what_is_annotated_comes_with_the_rows(audited, django_assert_num_queries):
    project, _person = audited
    named = Prepared(
        lambda project: AuditEvent.objects.filter(project=project).annotate(whose=F("actor__username")).order_by("pk")
    )
    with django_assert_num_queries(1):
        assert [one.whose for one in named.all(project=project.pk)] == [None, "one", "one"]
