"""Comments on an item: researchers and reviewers write and resolve them, judges never see them."""

import pytest
from django.http import Http404
from django.urls import reverse

from annotation.actions.comments import add_comment, set_resolved
from annotation.erasure.actions.erase_person import erase_person
from annotation.errors import AnnotationError
from annotation.models import ItemComment
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(slug="dots")


@pytest.fixture
def item(project):
    return make_item(make_subtest(project), key="one", state=ItemState.DISPUTED)


@pytest.fixture
def owner(project):
    return make_member(project, "researcher", name="olga")


def test_a_comment_is_on_the_page_and_panel_until_it_is_resolved(client, project, item, owner):
    client.force_login(owner)
    page = reverse("items:item", args=["dots", item.pk])
    answer = client.post(reverse("annotation:comment", args=["dots", item.pk]), {"text": " Is the shirt red? "})
    assert answer["Location"] == f"{page}#comments"
    comment = ItemComment.objects.get()
    assert (comment.text, comment.author, comment.resolved_at) == ("Is the shirt red?", owner, None)
    for address in (page, reverse("items:panel", args=["dots", item.pk])):
        assert "Is the shirt red?" in client.get(address).content.decode()
    address = reverse("annotation:resolve_comment", args=["dots", item.pk, comment.pk])
    client.post(address)
    client.post(address)
    assert "Reopen comment" in client.get(page).content.decode()
    client.post(address, {"resolved": "0"})
    comment.refresh_from_db()
    assert (comment.resolved_at, comment.resolved_by) == (None, None)
    actions = AuditEvent.objects.filter(target_type="annotation.itemcomment").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["add_comment", "resolve_comment", "reopen_comment"]


@pytest.mark.parametrize(("text", "problem"), [("  ", "is empty"), ("x" * 2001, "2001 characters")])
def test_an_empty_or_too_long_comment_is_refused(project, item, owner, text, problem):
    with pytest.raises(AnnotationError, match=problem):
        add_comment(owner, project, item.pk, text)
    assert not ItemComment.objects.exists()


def test_reviewers_comment_on_a_disputed_item(client, project, item):
    client.force_login(make_member(project, "reviewer"))
    address = reverse("annotation:disputed_item", args=["dots", item.pk])
    answer = client.post(reverse("annotation:comment", args=["dots", item.pk]), {"text": "I see two shirts."})
    assert answer["Location"] == f"{address}#comments"
    assert "I see two shirts." in client.get(address).content.decode()


def test_validators_never_see_comments_not_even_as_reviewers(client, project, item, owner):
    add_comment(owner, project, item.pk, "The foil is true.")
    both = make_member(project, "reviewer", "validator")
    for person in (both, make_member(project, "validator"), make_member(project, "annotator")):
        with pytest.raises(AccessDenied):
            add_comment(person, project, item.pk, "Hello.")
    client.force_login(both)
    page = client.get(reverse("annotation:disputed_item", args=["dots", item.pk]))
    assert page.status_code == 200
    assert "The foil is true." not in page.content.decode()


def test_a_comment_of_another_item_or_project_does_not_exist(project, item, owner):
    comment = add_comment(owner, project, item.pk, "Look again.")
    other = make_item(make_subtest(project))
    with pytest.raises(Http404):
        set_resolved(owner, project, other.pk, comment.pk, resolved=True)
    with pytest.raises(Http404):
        add_comment(owner, project, make_item(make_subtest(make_project())).pk, "Look again.")


def test_the_list_of_items_filters_by_unresolved_comments(client, project, item, owner):
    resolved, _none = make_item(item.subtest, key="two"), make_item(item.subtest, key="three")
    for _ in range(2):
        add_comment(owner, project, item.pk, "Look again.")
    set_resolved(owner, project, resolved.pk, add_comment(owner, project, resolved.pk, "Done.").pk, resolved=True)
    client.force_login(owner)
    page = client.get(reverse("items:items", args=["dots"]), {"comments": "on"})
    assert [row.key for row in page.context["listing"].page.rows] == ["one"]
    assert "1–1 of 1" in page.content.decode()


def test_an_erased_person_is_named_in_no_comment(project, item, owner):
    person = make_member(project, "reviewer", name="rosalinde")
    comment = add_comment(owner, project, item.pk, "Ask rosalinde about this.")
    own = add_comment(person, project, item.pk, "I think so.")
    erase_person(person, person)
    comment.refresh_from_db()
    own.refresh_from_db()
    assert comment.text == "Ask [erased] about this."
    assert own.author.username.startswith("erased-")
