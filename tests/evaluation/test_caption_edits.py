"""Captions that may be wrong are corrected in their list: all of the changed ones, or none."""

import pytest
from django.urls import reverse

from annotation.actions.decisions.captions import correct_captions
from annotation.errors import AnnotationError
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.models import AuditEvent
from tests import factories
from tests.annotation.world import World, make_world
from tests.invariants import broken_invariants
from tests.pages import read_page

pytestmark = pytest.mark.django_db
WOMAN, BOY = "a woman folds a shirt.", "a boy folds a shirt."


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def doubted(world) -> list[Caption]:
    """Two captions in doubt, each with an item of one foil."""
    captions = []
    for n in range(2):
        caption = factories.make_caption(factories.make_video(world.project, key=f"clip {n}"), flagged_false=True)
        factories.make_item(world.subtest, caption, ("a man tears a shirt.",), key=f"item {n}")
        captions.append(caption)
    return captions


def post(client, world, texts: dict[int, str], **fields):
    client.force_login(world.owner)
    url = reverse("items:captions", args=[world.project.slug])
    data = {f"text-{pk}": text for pk, text in texts.items()}
    return client.post(f"{url}?doubt=on", {**data, **fields}, follow=True)


def test_changed_captions_are_corrected_together_and_the_others_stay(client, world, doubted):
    first, second = doubted
    client.force_login(world.owner)
    page = client.get(reverse("items:captions", args=[world.project.slug]), {"doubt": "on"})
    assert read_page(page).fields[f"text-{first.pk}"] == first.text
    answer = post(client, world, {first.pk: f"{WOMAN}\r\n", second.pk: second.text}, reason="it is a woman")
    read_page(answer).check("1 caption corrected.")
    new = Caption.objects.get(revises=first)
    assert (new.text, Caption.objects.filter(revises=second).count()) == (WOMAN, 0)
    event = AuditEvent.objects.get(action="settle_doubt")
    assert (event.target_id, event.reason) == (str(first.pk), "it is a woman")
    assert broken_invariants() == []


def test_one_refused_text_saves_none_and_the_page_keeps_what_was_typed(client, world, doubted):
    first, second = doubted
    factories.make_caption(second.video, BOY)
    answer = post(client, world, {first.pk: WOMAN, second.pk: BOY})
    assert answer.status_code == 400
    page = read_page(answer)
    page.check("Nothing was saved.", "already has a caption with this text")
    assert (page.fields[f"text-{first.pk}"], page.fields[f"text-{second.pk}"]) == (WOMAN, BOY)
    assert not Caption.objects.exclude(revises=None).exists()
    assert not AuditEvent.objects.filter(action="settle_doubt").exists()


def test_kept_foils_are_those_that_pass_the_checks(world, doubted):
    first, second = doubted
    correct_captions(world.owner, {first.pk: WOMAN, second.pk: "a man tears a shirt."}, keep_foils=True)
    again = Item.objects.get(caption__revises=first)
    assert [foil.text for foil in again.foils.all()] == ["a man tears a shirt."]
    assert not Item.objects.filter(caption__revises=second).exists()
    assert broken_invariants() == []


def test_captions_of_other_projects_and_those_not_in_doubt_are_not_corrected(client, world, doubted):
    other = make_world()
    strange = factories.make_caption(factories.make_video(other.project), flagged_false=True)
    read_page(post(client, world, {strange.pk: WOMAN})).check("No caption was changed.")
    sound = factories.make_caption(factories.make_video(world.project, key="clip 3"), "a dog runs.")
    with pytest.raises(AnnotationError, match=r"a dog runs.*not in doubt"):
        correct_captions(world.owner, {doubted[0].pk: WOMAN, sound.pk: BOY})
    assert not Caption.objects.exclude(revises=None).exists()
