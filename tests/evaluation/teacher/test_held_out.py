"""A release as the set on which a student is read."""

import pytest

from corpus.models import Foil, Subtest
from corpus.rules.states import FoilVerdict, ItemState
from evaluation.actions.freeze_release import freeze_release
from evaluation.teacher.held_out import held_out_of
from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "kinds"),
    [(["action", "object"], ("object",)), ("action", ("action",)), (["action"], ("",)), (None, ("",)), (7, ("",))],
)
def test_kinds_are_of_the_foils_that_stayed(said, kinds):
    subtest = factories.make_subtest(
        factories.make_project(), name="many", foils_per_item=2, valid_when=Subtest.ValidWhen.ENOUGH
    )
    caption = factories.make_caption(factories.make_video(subtest.project, file="clip.mp4"), facts={"edited": said})
    item = factories.make_item(subtest, caption, ("x", "y"), state=ItemState.VALID)
    for foil, verdict in zip(item.foils.order_by("position"), (FoilVerdict.INVALID, FoilVerdict.VALID), strict=True):
        Foil.objects.filter(pk=foil.pk).update(verdict=verdict)
    held, _, _ = held_out_of(freeze_release(None, subtest.project))
    assert (held.texts, held.kinds) == (((caption.text, "y"),), (kinds,))
