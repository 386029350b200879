"""Captions that people found false, or doubt, name no class and are no target."""

import pytest

from evaluation.utd.instructions import RETRIEVAL
from evaluation.utd.models import BiasRun
from evaluation.utd.samples import samples_of
from foilworks.core.corpus.models import Caption, DoubtSettled
from tests.evaluation.utd import texts
from tests.factories import make_caption

pytestmark = pytest.mark.django_db

CHOICES = [{"task": RETRIEVAL}, {"task": "classification", "labels": "facts:thing"}]


@pytest.fixture
def world(tmp_path):
    return texts.described("things", tmp_path)


@pytest.mark.parametrize("choice", CHOICES, ids=["retrieval", "facts"])
@pytest.mark.parametrize(
    ("settled", "flagged", "is_sample"),
    [
        ("", False, True),
        ("", True, False),
        (DoubtSettled.CONFIRMED, True, True),
        (DoubtSettled.DROPPED, True, False),
        (DoubtSettled.DROPPED, False, False),
        (DoubtSettled.CORRECTED, True, False),
    ],
)
def test_only_trusted_captions_are_samples(world, choice, settled, flagged, is_sample):
    project, told = world
    caption = Caption.objects.filter(video__split="test").first()
    Caption.objects.filter(pk=caption.pk).update(doubt_settled=settled, flagged_false=flagged)
    samples, without = samples_of(BiasRun(project=project, descriptions=told, **choice))
    assert (caption.video_id in {sample.video for sample in samples}) == is_sample
    assert without == []


def test_the_corrected_caption_replaces_the_false_one(world):
    project, told = world
    old = Caption.objects.filter(video__split="test").first()
    Caption.objects.filter(pk=old.pk).update(doubt_settled=DoubtSettled.CORRECTED, flagged_false=True)
    make_caption(old.video, "a hat goes by", key=old.key, facts={"thing": "hat"}, revises=old)
    for choice, target in zip(CHOICES, ("a hat goes by", "hat"), strict=True):
        samples, _ = samples_of(BiasRun(project=project, descriptions=told, **choice))
        assert {sample.target for sample in samples if sample.video == old.video_id} == {target}
