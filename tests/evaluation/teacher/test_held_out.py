"""A release as the set on which a student is read."""

import pytest

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Foil, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.site.teacher.sources import check_held_out, held_out_of
from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "kinds"),
    [(["action", "object"], ("object",)), ("action", ("action",)), (["action"], ("",)), (None, ("",)), (7, ("",))],
)
def test_kinds_are_of_the_remaining_foils(said, kinds):
    subtest = factories.make_subtest(
        factories.make_project(), name="many", foils_per_item=2, valid_when=Subtest.ValidWhen.ENOUGH
    )
    caption = factories.make_caption(factories.make_video(subtest.project, file="clip.mp4"), facts={"edited": said})
    item = factories.make_item(subtest, caption, ("x", "y"), state=ItemState.VALID)
    for foil, verdict in zip(item.foils.order_by("position"), (FoilVerdict.INVALID, FoilVerdict.VALID), strict=True):
        Foil.objects.filter(pk=foil.pk).update(verdict=verdict)
    held, _, _ = held_out_of(freeze_release(None, subtest.project))
    assert (held.texts, held.kinds) == (((caption.text, "y"),), (kinds,))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("learnt", "is_shared"),
    [
        ({"source_dataset": "YouTube", "source_id": "abc", "key": "abc_0_5"}, True),
        # A file that came without its source.
        ({"sha256": "f" * 64}, True),
        ({"source_dataset": "YouTube", "source_id": "abd"}, False),
        ({"source_dataset": "Vimeo", "source_id": "abc"}, False),
        ({"source_dataset": "YouTube", "source_id": "abc", "split": "val"}, False),
        ({}, False),
    ],
)
def test_a_release_with_source_videos_of_the_train_split_is_refused(learnt, is_shared):
    """Two clips of one video are no more apart than statistics take them to be."""
    subtest = factories.make_subtest(factories.make_project())
    held = {"source_dataset": "YouTube", "source_id": "abc", "sha256": "f" * 64, "split": "test", "key": "abc_3_8"}
    caption = factories.make_caption(factories.make_video(subtest.project, file="clip.mp4", **held))
    factories.make_item(subtest, caption, state=ItemState.VALID, key="the one")
    factories.make_caption(factories.make_video(subtest.project, **{"split": "train", **learnt}))
    release = freeze_release(None, subtest.project, name="held")
    if is_shared:
        with pytest.raises(
            EvaluationError, match=r"held: 1 of its items share source videos .* first .*the one; freeze"
        ):
            check_held_out(release)
    else:
        check_held_out(release)


@pytest.mark.django_db
def test_a_train_clip_without_captions_is_not_training_data():
    subtest = factories.make_subtest(factories.make_project())
    for split in ("train", "test"):
        video = factories.make_video(subtest.project, split=split, source_id="abc", file="clip.mp4")
    factories.make_item(subtest, factories.make_caption(video), state=ItemState.VALID)
    check_held_out(freeze_release(None, subtest.project))
