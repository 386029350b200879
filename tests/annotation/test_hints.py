"""A model's word on a typed text: asked by the editor, answered by a job, kept in the foil's provenance."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Stage
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.involvement import overlaps, uses_of
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import Job
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, User
from generation.actions.hints import ask_hint, set_hint_model
from generation.errors import GenerationError
from generation.jobs import answer_hint
from generation.models import Hint, HintModel, HintShown
from tests import factories
from tests.annotation.world import World, make_world
from tests.e2e.conftest import film, moving_dot

pytestmark = pytest.mark.django_db

IRONS = "a man irons a shirt."


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def ask(world: World, name: str, token: str, text: str):
    page = reverse("annotation:hint", args=[world.project.slug, token])
    return browser(world.people[name]).post(page, {"text": text})


def run_jobs() -> None:
    for job in Job.objects.filter(dotted="generation.answer_hint"):
        answer_hint(job.target_id, job)


def test_a_hint_for_a_text_is_requested_once_and_answered_by_a_job(world: World):
    set_hint_model(world.owner, world.project, "fake:text")
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    first = ask(world, "ann", claim.token, f" {IRONS} ").json()
    assert first["state"] == "waiting"
    assert ask(world, "ann", claim.token, IRONS).json()["state"] == "waiting"
    assert (Hint.objects.count(), Job.objects.count(), HintShown.objects.count()) == (1, 1, 1)
    run_jobs()
    answered = ask(world, "ann", claim.token, IRONS).json()
    hint = Hint.objects.get()
    assert (hint.kind, hint.model_key) == ("reads", "fake/text/0@1")
    likelier = hint.value >= hint.of_caption
    assert ("at least as likely" in answered["words"]) == likelier
    assert (answered["state"], answered["text"]) == ("ready", f"{hint.value:.3g}")
    # A second look of the job changes nothing.
    run_jobs()
    assert Hint.objects.get().value == hint.value
    assert AuditEvent.objects.filter(action="generation.ask_hint").count() == 1


def test_a_model_that_sees_the_clip_says_which_text_fits_it(world: World):
    set_hint_model(None, world.project, "fake:")
    caption = factories.make_caption(film(world.project, moving_dot(8), 12.0))
    hint = ask_hint(world.ann, world.project, caption, IRONS)
    run_jobs()
    hint.refresh_from_db()
    assert (hint.kind, hint.problem) == ("fits", "")
    assert -1 <= hint.value <= 1
    assert hint.value != hint.of_caption


def test_a_model_or_clip_that_cannot_be_used_says_why(world: World):
    set_hint_model(None, world.project, "fake:")
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    ask(world, "ann", claim.token, IRONS)
    run_jobs()
    answered = ask(world, "ann", claim.token, IRONS).json()
    assert (answered["state"], "no file" in answered["words"]) == ("failed", True)
    set_hint_model(None, world.project, "nonsense:x")
    ask(world, "ann", claim.token, IRONS)
    run_jobs()
    assert "names no model" in ask(world, "ann", claim.token, IRONS).json()["words"]


def test_without_a_model_or_with_hints_off_the_page_offers_none(world: World):
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    page = reverse("annotation:edit", args=[world.project.slug, claim.token])
    assert "data-hints" not in browser(world.ann).get(page).content.decode()
    assert ask(world, "ann", claim.token, IRONS).status_code == 400
    set_hint_model(world.owner, world.project, "fake:text")
    assert "data-hints" in browser(world.ann).get(page).content.decode()
    set_hint_model(world.owner, world.project, "fake:text", enabled=False)
    refused = ask(world, "ann", claim.token, IRONS)
    assert (refused.status_code, "Hints are off" in refused.json()["problem"]) == (400, True)
    assert not Job.objects.exists()


def test_only_the_holder_of_the_task_gets_hints_and_typing_fills_no_queue(world: World):
    set_hint_model(world.owner, world.project, "fake:text")
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    codes = [ask(world, name, claim.token, IRONS).status_code for name in ("abe", "rita", "owner")]
    assert codes == [404, 403, 403]
    for n in range(5):
        assert ask(world, "ann", claim.token, f"a man irons {n} shirts.").status_code == 200
    assert ask(world, "ann", claim.token, "a man irons 6 shirts.").status_code == 400
    assert ask(world, "ann", claim.token, " ").status_code == 400
    assert Job.objects.count() == 5


def test_a_page_names_models_of_the_installations_folder_alone(world: World, settings):
    with pytest.raises(GenerationError, match="model folder"):
        set_hint_model(world.owner, world.project, "tiny:/etc")
    with pytest.raises(GenerationError, match="SLUG:ARGUMENT"):
        set_hint_model(world.owner, world.project, "gpt2")
    with pytest.raises(AccessDenied):
        set_hint_model(world.rita, world.project, "fake:")
    assert not HintModel.objects.exists()
    page = reverse("generation:hints", args=[world.project.slug])
    client = browser(world.owner)
    assert client.post(page, {"spec": "tiny:/etc", "enabled": "on"}).status_code == 422
    assert client.post(page, {"spec": f"tiny:{settings.MODEL_ROOT}/a", "enabled": "on"}).status_code == 302
    assert client.get(page).status_code == 200


def test_a_release_names_the_hint_model_and_flags_it_if_scored(world: World):
    set_hint_model(world.owner, world.project, "fake:text")
    world.group()
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    ask(world, "ann", claim.token, "a man eats a shirt.")
    run_jobs()
    world.edit("ann", IRONS)
    world.edit("abe", IRONS)
    world.review("rita")
    world.review("rita")
    Item.objects.update(state="valid")
    release = freeze_release(world.owner, world.project)
    hints = [member.record["provenance"][0].get("hints") for member in release.members.all()]
    assert sorted(map(str, hints)) == ["None", "['fake/text/0@1']"]
    uses = uses_of(release)
    assert (uses.hints, uses.n_foils) == ({"fake/text/0@1": 1}, 2)
    keys = ("other@1", "fake/text/0@1?frames=8")
    runs = [Run.objects.create(release=release, label=key, spec="x", model_key=key) for key in keys]
    (flagged,) = overlaps(uses, runs)
    assert (flagged.run, flagged.n_foils, flagged.n_all) == (runs[1], 1, 2)
    assert overlaps(uses_of(freeze_release_of_another()), runs) == []


def freeze_release_of_another():
    world = make_world()
    factories.make_item(world.subtest, state="valid")
    return freeze_release(world.owner, world.project)
