"""What a person has typed is kept for them alone, over a closed tab, a skip or an expiry, and ends with the submit."""

import json

import pytest
from django.http import Http404
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release, save_draft
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_edit
from annotation.errors import AnnotationError, LeaseEnded
from annotation.models import Draft, Stage
from annotation.rules.drafts import MAX_CHARACTERS, parse_draft
from tests.annotation.world import later, new_key

pytestmark = pytest.mark.django_db
TEXT = "a man irons a shirt."


def draft(*texts: str, base: str = "b") -> str:
    return json.dumps({"base": base, "values": {"text": list(texts)}})


def test_a_draft_is_stored_and_replaced_by_the_next_one(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    save_draft(world.ann, work.token, draft("a man"))
    moment = later(minutes=1)
    assert save_draft(world.ann, work.token, draft(TEXT), now=moment) == moment
    kept = Draft.objects.get()
    assert (kept.person, kept.task_id, kept.updated_at) == (world.ann, work.task_id, moment)
    assert kept.payload == {"base": "b", "values": {"text": [TEXT]}}


def test_it_outlives_a_skip_and_comes_back_with_the_next_lease(world, client):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    save_draft(world.ann, work.token, draft(TEXT))
    release(world.ann, work.token)
    again = world.claim("ann", Stage.EDIT)
    assert again.token != work.token
    client.force_login(world.ann)
    page = client.get(reverse("annotation:edit", args=[world.project.slug, again.token]))
    assert page.context["draft"]["values"] == {"text": [TEXT]}
    assert page.context["draft"]["at"] <= page.context["draft_now"]


def test_a_lease_that_has_run_out_still_takes_drafts(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    assert claim(world.abe, world.project, Stage.EDIT, now=later(hours=2)) is not None
    save_draft(world.ann, work.token, draft(TEXT))
    assert Draft.objects.get().person == world.ann


def test_the_submit_ends_it_for_its_person_alone(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    save_draft(world.ann, work.token, draft(TEXT))
    other = claim(world.abe, world.project, Stage.EDIT, now=later(hours=2))
    save_draft(world.abe, other.token, draft("abe's"))
    submit_edit(world.abe, other.token, new_key(), [TEXT], now=later(hours=2))
    assert Draft.objects.get().person == world.ann
    # Late work, which only is kept, ends it as well.
    submit_edit(world.ann, work.token, new_key(), ["a man tears a shirt."], now=later(hours=2))
    assert not Draft.objects.exists()
    with pytest.raises(LeaseEnded, match="already submitted"):
        save_draft(world.ann, work.token, draft("too late"))


def test_after_an_undo_drafts_are_kept_again(world):
    world.group()
    edit = world.edit("ann")
    back = undo_edit(world.ann, edit.pk)
    save_draft(world.ann, back.token, draft(TEXT))
    assert Draft.objects.get().task_id == back.task_id


def test_nobody_else_reads_or_writes_it(world, client):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(Http404):
        save_draft(world.abe, work.token, draft(TEXT))
    save_draft(world.ann, work.token, draft("ann's own"))
    other = claim(world.abe, world.project, Stage.EDIT, now=later(hours=2))
    client.force_login(world.abe)
    page = client.get(reverse("annotation:edit", args=[world.project.slug, other.token]))
    assert page.context["draft"] is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"base": "b"}',
        '{"base": 1, "values": {}}',
        '{"base": "b", "values": {"text": "x"}}',
        '{"base": "b", "values": {"text": [1]}}',
        '{"base": "b", "values": {}, "more": 1}',
        draft("x" * MAX_CHARACTERS),
        draft("a\x00b"),
        "[" * 50_000,
    ],
)
def test_an_invalid_draft_is_rejected(world, text):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="The draft was not saved"):
        save_draft(world.ann, work.token, text)
    assert not Draft.objects.exists()


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=50)


@given(base=words, values=st.dictionaries(words, st.lists(words, max_size=4), max_size=4))
def test_every_draft_comes_back_as_it_was(base, values):
    assert parse_draft(json.dumps({"base": base, "values": values})) == {"base": base, "values": values}


def test_the_page_is_answered_in_json(world, client):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    client.force_login(world.ann)
    url = reverse("annotation:draft", args=[world.project.slug, work.token])
    at = client.post(url, {"draft": draft(TEXT)}).json()["at"]
    assert at == int(Draft.objects.get().updated_at.timestamp() * 1000)
    assert client.post(url, {"draft": "x"}).status_code == 400
    submit_edit(world.ann, work.token, new_key(), [TEXT])
    assert client.post(url, {"draft": draft(TEXT)}).status_code == 410


def test_the_base_of_a_form_stays_when_it_comes_back_with_a_problem(world, client):
    """So a draft of what was refused is found again on the page that is opened anew."""
    world.group()
    work = world.claim("ann", Stage.EDIT)
    client.force_login(world.ann)
    url = reverse("annotation:edit", args=[world.project.slug, work.token])
    first = client.get(url)
    refused = client.post(url, {"text": "A MAN FOLDS A SHIRT.", "idempotency_key": "k"})
    assert refused.status_code == 400
    assert refused.context["draft_base"] == first.context["draft_base"]
    assert "data-draft-typed" in refused.content.decode()
    assert "data-draft-typed" not in first.content.decode()
