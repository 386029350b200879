"""The pages of evidence ladders with numbers: accessible, as wide as the window, and of a bounded height."""

import numpy as np
import pytest
from django.urls import reverse

from evaluation.metrics import need_evidence
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, Role
from foilworks.site.publishing.actions.set_public_page import set_public_page
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.evaluation.ladders import make_laddered
from tests.evaluation.test_ladder_pages import FEW_LOOKS
from tests.factories import make_caption, make_item, make_member, make_video

pytestmark = pytest.mark.django_db(transaction=True)
RUNGS = ("no_clip", "other_clip", "first_frame", "middle_frame", "best_frame", "shuffled", "reversed", "full")
REASON = "these texts are those of a test of pages"


@pytest.mark.full
def test_pages_of_a_ladder_fit_every_window(project: Project, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(need_evidence, "MIN_LOOKS", FEW_LOOKS)
    for number in range(24):
        caption = make_caption(make_video(project), f"a dog runs past number {number}.")
        make_item(project.subtests.get(), caption, (f"a dog walks past number {number}.",), state=ItemState.VALID)
    person = make_member(project, Role.RESEARCHER, name="olga")
    release = freeze_release(person, project, name="v1", override=REASON)
    ids = [member.record["id"] for member in release.members.order_by("position")]
    solved = {rung: ids[: 8 + 2 * at] for at, rung in enumerate(RUNGS)}
    run = make_laddered(person, release, solved)
    random = np.random.default_rng(0)
    for label in range(7):
        guessed = {rung: [name for name in ids if random.random() < 0.5] for rung in RUNGS[:-1]}
        make_laddered(person, release, {"full": ids, **guessed}, label=f"model {label}")
    selected = freeze_release(person, project, selection=ItemSelection(needs="clip"), name="v2", override=REASON)
    public = set_public_page(person, release, is_open=True, offers_export=False, takes_scores=False)
    for label, thought in (("at once", "off"), ("after a thought", "read&max_tokens=512")):
        thinking = make_laddered(person, release, solved, label=label)
        thinking.spec = f"endpoint:lab/model?thinking={thought}"
        thinking.save()

    def at(name: str, pk: int) -> str:
        return reverse(name, args=[project.slug, pk])

    page = sign_in(person)
    for address in (
        at("ladder:run_ladder", run.pk),
        at("ladder:release_ladder", release.pk),
        at("releases:release", release.pk),
        at("releases:release", selected.pk),
        reverse("releases:freeze", args=[project.slug]),
        reverse("publishing:public_release", args=[public.key]),
    ):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollHeight") <= 2000, address
        assert_accessible_wide_and_narrow(page)
