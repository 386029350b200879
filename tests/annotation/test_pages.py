"""The work pages over HTTP: whose they are, what they show and hide, what they answer when something is wrong."""

import html
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.settings.work_settings import publish_guideline
from annotation.errors import Conflict
from annotation.models import Draft, Edit, Lease, QualityPolicy, Review, Slot, SlotState, Stage, Vote
from annotation.queries.cards import Claim
from annotation.views import _work_pages
from foilworks.core.corpus.models import Takedown
from foilworks.core.projects.models import Membership
from generation.models import Candidate
from tests import factories
from tests.annotation.world import CAPTION, World, browser, later, make_world, new_key, shown_as, url
from tests.pages import read_page


def page_of(world: World, name: str, claim: Claim) -> str:
    """The page of the claim as its person reads it."""
    response = browser(getattr(world, name)).get(url(world, claim.stage, claim.token))
    assert response.status_code == 200
    return html.unescape(response.content.decode())


WHO = {Stage.EDIT: "ann", Stage.REVIEW: "rita", Stage.VALIDATION: "vera"}


def give_work(world: World, stage: str) -> None:
    """One piece that waits in the stage."""
    if stage == Stage.VALIDATION:
        world.item()
    else:
        world.group()
    if stage == Stage.REVIEW:
        world.edit("ann")


def claimed(world: World, stage: str) -> tuple[str, Claim]:
    """A name and their claim in a stage that the world has work for."""
    give_work(world, stage)
    return WHO[stage], world.claim(WHO[stage], stage)


STAGES = [Stage.EDIT, Stage.REVIEW, Stage.VALIDATION]


@pytest.mark.parametrize("stage", STAGES)
def test_a_task_is_open_to_its_person_only(world: World, stage: str):
    name, claim = claimed(world, stage)
    page = url(world, stage, claim.token)
    assert browser(getattr(world, name)).get(page).status_code == 200
    colleague = {Stage.EDIT: "abe", Stage.REVIEW: "rob", Stage.VALIDATION: "vic"}[stage]
    answers = {other: browser(getattr(world, other)).get(page).status_code for other in ("abe", "rob", "vic", "owner")}
    assert answers == {"abe": 403, "rob": 403, "vic": 403, "owner": 403, colleague: 404}
    assert browser(factories.make_user()).get(page).status_code == 404
    assert Client().get(page).status_code == 302


@pytest.mark.parametrize("stage", STAGES)
def test_a_claim_of_another_stage_or_project_is_not_found(world: World, stage: str):
    name, claim = claimed(world, stage)
    person = getattr(world, name)
    elsewhere = make_world()
    for role in ("annotator", "reviewer", "validator"):
        for project in (world.project, elsewhere.project):
            project.memberships.get_or_create(person=person, role=role)
    others = [other for other in STAGES if other != stage]
    assert [browser(person).get(url(world, other, claim.token)).status_code for other in others] == [404, 404]
    assert browser(person).get(url(elsewhere, stage, claim.token)).status_code == 404
    assert browser(person).post(url(elsewhere, "skip", claim.token)).status_code == 404
    assert browser(person).post(url(elsewhere, "heartbeat", claim.token)).status_code == 404


@pytest.mark.parametrize("stage", STAGES)
def test_names_of_others_never_reach_the_page(world: World, stage: str):
    name, claim = claimed(world, stage)
    text = page_of(world, name, claim)
    others = [person.username for key, person in world.people.items() if key != name]
    assert [other for other in others if other in text] == []


def test_the_judgement_page_does_not_tell_the_caption_from_the_foil(world: World):
    name, claim = claimed(world, Stage.VALIDATION)
    text = page_of(world, name, claim)
    assert "foil" not in text.lower().replace("foilworks", "")
    first = text.index("folds</strong>" if claim.caption_first else "unfolds</strong>")
    second = text.index("unfolds</strong>" if claim.caption_first else ">folds</strong>")
    assert first < second


def test_a_submit_opens_the_next_task_and_names_the_last_one(world: World):
    world.group()
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    form = {"idempotency_key": new_key(), "text": "a man unfolds a shirt.", "parent": ""}
    sent = browser(world.ann).post(url(world, "edit", claim.token), form)
    assert sent.status_code == 302
    edit = Edit.objects.get()
    running = Lease.objects.get(person=world.ann, ending="")
    assert sent.url == url(world, "edit", running.token) + f"?done=edit-{edit.pk}"
    page = browser(world.ann).get(sent.url).content.decode()
    assert url(world, "undo", "edit", edit.pk) in page


ANSWERS = {
    Stage.EDIT: {"text": "a man unfolds a shirt.", "parent": ""},
    Stage.REVIEW: {"decision": "accept"},
    Stage.VALIDATION: {"answer": "first"},
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_page_with_scripts_gets_the_next_task_in_the_same_answer(world: World, stage: str):
    give_work(world, stage)
    name, claim = claimed(world, stage)
    person = browser(getattr(world, name))
    swap = {"X-Foilworks-Swap": "1"}
    sent = person.post(url(world, stage, claim.token), {"idempotency_key": new_key(), **ANSWERS[stage]}, headers=swap)
    running = Lease.objects.get(person=getattr(world, name), ending="")
    assert (sent.status_code, running.token != claim.token) == (200, True)
    assert sent.headers["X-Foilworks-Url"].startswith(url(world, stage, running.token) + "?done=")
    page = read_page(sent)
    assert page.elements[0].tag == "title"
    assert "idempotency_key" in page.fields
    # Nothing of what was sent stands in the new form.
    assert claim.token not in sent.content.decode()


@pytest.mark.parametrize("stage", [Stage.EDIT, Stage.REVIEW])
def test_if_the_next_task_is_lost_the_page_reports_the_submission(world: World, stage: str, monkeypatch):
    """A lease that the person held already may end between its claim and its page: in another tab."""
    give_work(world, stage)
    name, claim = claimed(world, stage)

    def claim_and_lose(*args: Any, **fields: Any) -> Claim:
        found = really(*args, **fields)
        Slot.objects.filter(pk=found.slot_id).update(state=SlotState.FREE, token="", person=None)
        return replace(found, rows=None)

    really = _work_pages.claim
    monkeypatch.setattr(_work_pages, "claim", claim_and_lose)
    person = browser(getattr(world, name))
    form = {"idempotency_key": new_key(), **ANSWERS[stage]}
    sent = person.post(url(world, stage, claim.token), form, headers={"X-Foilworks-Swap": "1"})
    record = (Edit if stage == Stage.EDIT else Review).objects.latest("pk")
    address = url(world, "queue", stage) + f"?done={stage}-{record.pk}"
    assert (sent.status_code, sent.headers["X-Foilworks-Go"]) == (204, address)
    page = person.get(address).content.decode()
    assert url(world, "undo", stage, record.pk) in page
    assert "time for this task is up" not in page


@pytest.mark.parametrize("scripts", [True, False])
def test_without_a_next_task_the_page_reports_the_submission(world: World, scripts: bool, monkeypatch):
    name, claim = claimed(world, Stage.EDIT)

    def in_vain(*args: Any, **fields: Any) -> Claim:
        raise Conflict("Too many people are requesting tasks right now. Try again.")

    monkeypatch.setattr(_work_pages, "claim", in_vain)
    person = browser(getattr(world, name))
    form = {"idempotency_key": new_key(), **ANSWERS[Stage.EDIT]}
    headers = {"X-Foilworks-Swap": "1"} if scripts else {}
    sent = person.post(url(world, Stage.EDIT, claim.token), form, headers=headers)
    address = url(world, "queue", Stage.EDIT) + f"?done=edit-{Edit.objects.get().pk}"
    assert sent.headers["X-Foilworks-Go" if scripts else "Location"] == address
    assert "Too many people are requesting tasks" in person.get(address).content.decode()
    # Who has sent nothing is told at once.
    assert person.post(url(world, "queue", Stage.EDIT)).status_code == 400


def test_evidence_and_time_are_stored_as_sent(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT, now=later(seconds=-20))
    form = {
        "idempotency_key": "k",
        "text": "a man irons a shirt.",
        "parent": "not a number",
        "watch_seconds": "3.25",
        "watch_loops": "2",
        "watch_covered": "nan",
        "seconds": "12.5",
    }
    assert browser(world.ann).post(url(world, "edit", claim.token), form).status_code == 302
    edit = Edit.objects.get()
    assert (edit.watch, edit.seconds_spent) == ({"seconds": 3.25, "loops": 2.0}, 12.5)


def test_a_refused_edit_keeps_what_was_typed(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    form = {"idempotency_key": "same-key", "text": CAPTION, "parent": ""}
    refused = browser(world.ann).post(url(world, "edit", claim.token), form)
    page = read_page(refused)
    assert refused.status_code == 400
    page.check("it is the same as the caption")
    assert (page.fields["text"], page.fields["idempotency_key"]) == (CAPTION, "same-key")


def test_a_refused_review_keeps_reasons_comment_and_fix(world: World):
    world.group()
    world.edit("ann")
    claim = world.claim("rita", Stage.REVIEW)
    form = {"idempotency_key": "k", "decision": "fix", "reasons": ["grammar"], "comment": "so close", "fixed_text": ""}
    refused = browser(world.rita).post(url(world, "review", claim.token), form)
    page = read_page(refused)
    assert (refused.status_code, page.fields["comment"], page.fields["reasons"]) == (400, "so close", "grammar")
    checked = [field for field in page.all("input") if "checked" in field.attributes]
    assert len(checked) == 2  # the reason, and the switch of the keys dialog


def test_markup_in_texts_is_text(world: World):
    caption = factories.make_caption(factories.make_video(world.project), "<b>a man</b> folds </script><script>x()")
    world.group("<i>a man</i> folds </script><script>x()", caption=caption)
    claim = world.claim("ann", Stage.EDIT)
    page = browser(world.ann).get(url(world, "edit", claim.token)).content.decode()
    assert "<script>x()" not in page
    assert "<b>a man" not in page
    assert "<i>a man" not in page


def test_the_lease_is_renewed_and_says_when_it_is_over(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    client = browser(world.ann)
    renewed = client.post(url(world, "heartbeat", claim.token))
    assert (renewed.status_code, renewed.json()["seconds_left"]) == (200, world.project.lease_seconds)
    client.post(url(world, "skip", claim.token))
    over = client.post(url(world, "heartbeat", claim.token))
    assert over.status_code == 410
    assert "Your time for this task is up" in over.json()["problem"]
    assert browser(world.abe).post(url(world, "heartbeat", claim.token)).status_code == 404


def test_a_skipped_task_makes_room_for_another(world: World):
    world.group()
    world.group()
    first = world.claim("ann", Stage.EDIT)
    sent = browser(world.ann).post(url(world, "skip", first.token), {"reason": "unsure"})
    assert Lease.objects.get(pk=first.lease_id).skip_reason == "unsure"
    second = Lease.objects.get(person=world.ann, ending="")
    assert second.task_id != first.task_id
    assert sent.url == url(world, "edit", second.token)


def test_a_task_whose_time_is_up_leads_back_to_the_queue(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    Slot.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    world.claim("abe", Stage.EDIT)
    gone = browser(world.ann).get(url(world, "edit", claim.token), follow=True)
    assert gone.redirect_chain == [(url(world, "queue", "edit"), 302)]
    assert "Your time for this task is up" in gone.content.decode()


def test_a_lost_role_differs_from_an_expired_session(world: World):
    name, claim = claimed(world, Stage.VALIDATION)
    person, answer = getattr(world, name), {"answer": "1", "idempotency_key": "once"}
    Membership.objects.filter(person=person).update(role="annotator")
    piece, swap = url(world, claim.stage, claim.token), {_work_pages.SWAP: "1"}
    refused = browser(person).post(piece, answer, headers=swap)
    assert (refused.status_code, refused.headers["X-Foilworks-Denied"]) == (403, "1")
    assert "You need the role validator" in refused.content.decode()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person)
    expired = strict.post(piece, answer, headers=swap)
    assert (expired.status_code, "X-Foilworks-Denied" in expired.headers) == (403, False)


def test_late_work_is_thanked_for_but_does_not_count(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    Slot.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    world.edit("abe")
    form = {"idempotency_key": "late", "text": "a man irons a shirt.", "parent": ""}
    sent = browser(world.ann).post(url(world, "edit", claim.token), form, follow=True)
    read_page(sent).check("The answer was too late to count. It is saved.")
    assert "/work/undo/" not in sent.content.decode()


def test_late_work_that_counts_can_be_undone_like_other_work(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    Slot.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    form = {"idempotency_key": "late", "text": "a man irons a shirt.", "parent": ""}
    page = browser(world.ann).post(url(world, "edit", claim.token), form, follow=True).content.decode()
    assert "nobody had taken the task, so it counts" in page
    bar = page[page.index("data-undo=") :]
    assert bar.index("/work/undo/") < bar.index("</div>")


def test_a_queue_says_why_it_is_empty(world: World):
    world.made_item()
    world.project.memberships.create(person=world.ann, role="validator")
    page = read_page(browser(world.ann).get(url(world, "queue", "validation")))
    page.check("No tasks for you right now", "on videos that you wrote or edited a foil for")
    read_page(browser(world.abe).get(url(world, "queue", "edit"))).check("All tasks of this stage are done.")


def test_a_queue_shows_and_continues_the_task_in_progress(world: World):
    world.group()
    world.claim("ann", Stage.EDIT)
    held = browser(world.ann).get(url(world, "queue", "edit")).content.decode()
    assert ("1 task in progress." in held, "Continue" in held, "wait" in text_in_card(held)) == (True, True, False)
    world.group()
    more = browser(world.ann).get(url(world, "queue", "edit")).content.decode()
    assert ("1 task in progress." in more, "1 task to do." in more) == (True, True)
    waiting = browser(world.abe).get(url(world, "queue", "edit")).content.decode()
    assert ("in progress" in waiting, "Start next" in waiting) == (False, True)


def text_in_card(page: str) -> str:
    return page[page.index('<div class="card empty">') :]


def test_the_keys_of_the_landing_page_are_all_different(world: World):
    world.project.memberships.create(person=world.rob, role="validator")
    world.item()
    for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
        world.vote(name, choice)
    QualityPolicy.objects.create(project=world.project, practice_open=True, qualification_required=True)
    page = browser(world.rob).get(url(world, "work")).content.decode()
    assert url(world, "qualification") in page
    assert url(world, "disputed_items") in page
    keys = [key for keys in re.findall(r'data-hotkey="([^"]+)"', page) for key in keys.split()]
    assert {key for key in keys if keys.count(key) > 1} == set()


def test_a_person_who_has_done_all_tasks_sees_this_and_their_results(world: World):
    world.group()
    world.edit("ann")
    page = read_page(browser(world.ann).get(url(world, "queue", "edit")))
    page.check("You have completed all tasks here", absent=("already",))
    assert reverse("annotation:own_figures", args=[world.project.slug]) in page.links


def test_the_landing_page_lists_the_persons_own_stages(world: World):
    world.group()
    world.item()
    ann = browser(world.ann).get(url(world, "work")).content.decode()
    assert (url(world, "queue", "edit") in ann, url(world, "queue", "validation") in ann) == (True, False)
    owner = browser(world.owner).get(url(world, "work")).content.decode()
    assert "You have no queues" in owner
    assert browser(world.ann).get(url(world, "queue", "validation")).status_code == 403
    assert browser(world.ann).get(url(world, "queue", "practice-nothing")).status_code == 404


def test_an_undo_reopens_the_task_and_a_second_one_says_so(world: World):
    world.item()
    vote = world.vote("vera")
    client = browser(world.vera)
    back = client.post(url(world, "undo", "vote", vote.pk))
    assert back.url == url(world, "validation", Lease.objects.get(person=world.vera, ending="").token)
    assert Vote.objects.get().state == "undone"
    assert browser(world.vic).post(url(world, "undo", "vote", vote.pk)).status_code == 404
    Vote.objects.update(state="counted", created_at=later(seconds=-60))
    refused = client.post(url(world, "undo", "vote", vote.pk), follow=True)
    assert "You can undo an answer only" in refused.content.decode()


def test_somebody_elses_record_in_the_address_is_not_found(world: World):
    world.item()
    vote = world.vote("vera")
    queue = url(world, "queue", "validation")
    assert browser(world.vic).get(f"{queue}?done=vote-{vote.pk}").status_code == 404
    for nonsense in ("vote-", "vote-x", "cat-1", f"vote-{'9' * 40}", "vote-²"):
        assert browser(world.vic).get(f"{queue}?done={nonsense}").status_code == 200


def test_guidelines_of_the_claim_are_in_the_drawer(world: World):
    publish_guideline(world.owner, world.project, Stage.EDIT, "Change one word.\n+ folds: unfolds\n- folds: eats")
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    page = read_page(page_of(world, "ann", claim))
    page.check("Good: folds: unfolds", "Bad: folds: eats")
    assert "guideline" in page.ids


def test_several_foils_are_prefilled_and_sent_in_order(db):
    world = make_world(foils_per_item=2)
    world.group("a man irons a shirt.", "a man tears a shirt.")
    claim = world.claim("ann", Stage.EDIT)
    page = page_of(world, "ann", claim)
    assert page.count("<textarea") == 2
    first, second = Candidate.objects.order_by("rank")
    form = {
        "idempotency_key": "k",
        "text": ["a man burns a shirt.", "a man tears a shirt."],
        "parent": [str(first.pk), str(second.pk)],
    }
    assert browser(world.ann).post(url(world, "edit", claim.token), form).status_code == 302
    burns = Candidate.objects.get(text="a man burns a shirt.")
    assert (burns.parent, burns.author) == (first, world.ann)
    second.refresh_from_db()
    assert second.state == "in_review"


@pytest.mark.parametrize("answer", ["first", "1"])
def test_votes_mean_what_was_shown(world: World, answer: str):
    world.item()
    claim = world.claim("vera", Stage.VALIDATION)
    form = {"idempotency_key": "k", "answer": answer}
    browser(world.vera).post(url(world, "validation", claim.token), form)
    vote = Vote.objects.get()
    assert shown_as(vote.choice, claim) == "first"
    unanswered = world.item() and world.claim("vera", Stage.VALIDATION)
    refused = browser(world.vera).post(url(world, "validation", unanswered.token), {"idempotency_key": "l"})
    assert refused.status_code == 400


def test_a_task_takes_a_constant_number_of_queries(world: World, django_assert_max_num_queries):
    for _ in range(6):
        world.group("a man irons a shirt.", "a man tears a shirt.", "a man burns a shirt.")
    claim = world.claim("ann", Stage.EDIT)
    client = browser(world.ann)
    client.get(url(world, "edit", claim.token))
    with django_assert_max_num_queries(14):
        client.get(url(world, "edit", claim.token))


def test_a_spelled_out_escape_is_stored_in_a_draft(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    sent = json.dumps({"base": "", "values": {"text": ["the key is \\u0000"]}})
    assert browser(world.ann).post(url(world, "draft", claim.token), {"draft": sent}).status_code == 200
    assert Draft.objects.get().payload == json.loads(sent)
    refused = json.dumps({"base": "", "values": {"text": ["\x00"]}})
    assert browser(world.ann).post(url(world, "draft", claim.token), {"draft": refused}).status_code == 400
    assert Draft.objects.get().payload == json.loads(sent)


def test_a_nul_in_a_form_or_an_address_is_a_message_and_nothing_is_stored(world: World):
    video, person = factories.make_video(world.project), browser(world.owner)
    page = url(world, "takedown", video.pk)
    for response in (
        person.post(page, {"reason": "Its uploader\x00 asked."}),
        person.post(page, {"reason": "Its uploader asked.", "a\x00": ""}),
        person.get(page + "?from=%00"),
    ):
        assert response.status_code == 400
        assert "contains a NUL character. Remove it" in response.content.decode()
    assert not Takedown.objects.exists()
    assert person.get(page).status_code == 200
