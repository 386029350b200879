"""Every id x every role: rows of others do not exist, whoever asks and by whatever address.

The whole tables (every URL, method, role, scope) are tests/test_access_matrix.py and tests/test_api_access_matrix.py;
here their attacks run over the pages at once, with each guard taken away.
"""

from typing import Any

import django.shortcuts
import pytest
from django.http import Http404
from django.test import Client

from annotation import access as annotation_access
from foilworks.core.projects.models import Project, Role
from foilworks.site.publishing.models import PublicPage
from tests import test_access_matrix as pages
from tests import test_api_access_matrix as api
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.factories import make_member

pytestmark = pytest.mark.django_db

SIGN_IN = replaced(
    "django.contrib.auth.middleware.LoginRequiredMiddleware.process_view",
    "every page requires a sign-in, unless it is marked public",
    lambda self, request, view, args, kwargs: None,
)
MEMBERS = replaced(
    "foilworks.core.projects.access._effective_roles",
    "a project exists for its members only",
    lambda person, project: frozenset(Role.values),
)
ROLES = replaced(
    "foilworks.core.projects.access.require_role", "owners' pages require the owner's role", lambda *arguments: None
)
SCOPES = replaced(
    "foilworks.site.api.bearer.allows", "a token can do only what its scope allows", lambda token, scope: True
)


def _any_projects(rows: Any, **wanted: Any) -> Any:
    """As get_object_or_404, whatever the project."""
    return django.shortcuts.get_object_or_404(rows, **{k: v for k, v in wanted.items() if not k.endswith("project")})


def _anybodys_lease(person: Any, token: str) -> Any:
    found = annotation_access.Lease.objects.select_related("slot__project", "slot__video", "task")
    lease = found.filter(token=token).first()
    if lease is None:
        raise Http404
    return lease


SCOPED = replaced(
    "foilworks.core.projects.access.get_object_or_404", "a row is found only under its own project", _any_projects
)
CLOSED = replaced(
    "foilworks.site.publishing.card_views.get_public_page",
    "a public page exists only while it is open, at an unguessable address",
    lambda key: PublicPage.objects.select_related("release__project").get(),
)
OWN_WORK = Guard(
    "annotation.access.lease_for",
    "only the holder of its lease can open a task",
    lambda patch: patch.setattr("annotation.views._work_pages.lease_for", _anybodys_lease),
)
# Of each app some: what the tables try in full takes a minute, and every guard here twice that.
OWNERS_ONLY = (
    "corpus:videos",
    "generation:runs",
    "annotation:people",
    "items:items",
    "projects:invitations",
    "releases:releases",
    "annotation:gold",
    "imports:new_import",
)
WITH_ROWS = (
    "corpus:video",
    "corpus:video_panel",
    "corpus:media",
    "generation:run",
    "generation:candidate",
    "generation:candidate_panel",
    "items:item",
    "items:panel",
    "releases:release",
    "scoring:run",
    "imports:import",
    "teacher:teacher_training",
)


@guarded_by(SIGN_IN)
def test_only_signed_in_people_see_pages_of_work():
    world = pages.make_world()
    assert pages.ask(pages.address("generation:methods", world), "GET", None, {})[0] == pages.SIGN_IN


@guarded_by(MEMBERS)
def test_no_page_of_a_project_is_there_for_a_stranger():
    world = pages.make_world()
    stranger = world.people["stranger"]
    answers = {name: pages.ask(pages.address(name, world), "GET", stranger, {})[0] for name in OWNERS_ONLY}
    assert {name for name, status in answers.items() if status != 404} == set()


@guarded_by(ROLES)
def test_people_who_do_the_work_cannot_open_pages_of_owners():
    world = pages.make_world()
    answers = {
        (name, role): pages.ask(pages.address(name, world), "GET", world.people[role], {})[0]
        for name in OWNERS_ONLY
        for role in ("annotator", "reviewer", "validator")
    }
    assert {each for each, status in answers.items() if status != 403} == set()


@guarded_by(SCOPED)
def test_no_row_of_another_project_is_found_by_its_id():
    world, other = pages.make_world(), pages.make_world()
    answers = {
        name: pages.ask(pages.address(name, world, foreign=other), "GET", world.people["superuser"], {})[0]
        for name in WITH_ROWS
    }
    assert {name for name, status in answers.items() if status != 404} == set()


@guarded_by(OWN_WORK)
def test_nobody_opens_the_task_of_somebody_else():
    world = pages.make_world()
    colleague = make_member(Project.objects.get(slug=world.slug), "annotator")
    assert pages.ask(pages.address("annotation:edit", world), "GET", colleague, {})[0] == 404


@guarded_by(SCOPES)
def test_a_token_to_read_writes_nothing():
    world = api.make_api_world()
    headers = api.headers_of(world.people["researcher"], api.READ)
    writes = ("create_member", "remove_member", "create_release", "create_webhook", "delete_webhook")
    assert {api.ask(name, world, headers).status_code for name in writes} == {403}


@guarded_by(MEMBERS)
def test_no_operation_of_a_project_is_there_for_a_stranger():
    world = api.make_api_world()
    headers = api.headers_of(world.people["stranger"])
    reads = ("read_project", "list_items", "list_votes", "list_members", "read_release", "list_scores", "read_media")
    statuses = {name: api.ask(name, world, headers).status_code for name in reads}
    assert {name for name, status in statuses.items() if status != 404} == set()


@guarded_by(CLOSED)
def test_a_public_page_that_is_closed_or_guessed_is_not_there():
    world = pages.make_world()
    page = PublicPage.objects.get()
    guessed = Client().get("/r/1/").status_code
    PublicPage.objects.update(is_open=False)
    closed = Client().get(f"/r/{page.key}/").status_code
    assert (guessed, closed, world.slug in Client().get(f"/r/{page.key}/").content.decode()) == (404, 404, False)
