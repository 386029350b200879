"""Who reaches what: roles per project, 404 for strangers, 403 for members without the role."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from foilworks.core.projects.access import get_project, require_role, roles_in, visible_projects
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Role
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def test_a_person_may_hold_several_roles_in_a_project() -> None:
    project = make_project()
    person = make_member(project, Role.ANNOTATOR, Role.REVIEWER)
    assert roles_in(person, project) == {"annotator", "reviewer"}


def test_roles_do_not_reach_into_another_project() -> None:
    person = make_member(make_project(), Role.RESEARCHER)
    other = make_project()
    assert roles_in(person, other) == frozenset()
    with pytest.raises(Http404):
        get_project(person, other.slug)


def test_a_project_does_not_exist_for_a_stranger_but_a_member_without_the_role_is_refused() -> None:
    project = make_project()
    with pytest.raises(Http404):
        get_project(make_user(), project.slug, Role.RESEARCHER)
    with pytest.raises(AccessDenied, match="Ask its researcher"):
        get_project(make_member(project, Role.VALIDATOR), project.slug, Role.RESEARCHER)


def test_a_site_administrator_has_every_role_everywhere() -> None:
    admin = make_user(is_superuser=True)
    project = make_project()
    assert get_project(admin, project.slug, Role.RESEARCHER) == project
    assert list(visible_projects(admin)) == [project]


def test_nobody_signed_in_and_a_closed_account_have_no_roles() -> None:
    project = make_project()
    closed = make_member(project, Role.RESEARCHER, is_active=False)
    assert roles_in(AnonymousUser(), project) == frozenset()
    with pytest.raises(AccessDenied):
        require_role(closed, project)


def test_any_role_will_do_where_none_is_named() -> None:
    project = make_project()
    person = make_member(project, Role.VALIDATOR)
    require_role(person, project)
    assert get_project(person, project.slug) == project


def test_the_list_of_projects_is_ones_own() -> None:
    mine, _ = make_project(), make_project()
    person = make_member(mine, Role.ANNOTATOR, Role.REVIEWER)
    assert list(visible_projects(person)) == [mine]
