"""Readings: what is worked by hand, what the metrics of the house say of the same values, two models on one set."""

import json

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics import retrieval
from evaluation.metrics.comparison import paired_difference
from foilworks.core.hub.adapters.fake import load_adapter
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.site.teacher.measuring import read
from foilworks.site.teacher.pages import curves
from foilworks.site.teacher.readings import (
    R1,
    R2,
    RANK,
    STANDARD,
    EvaluationResult,
    HeldOut,
    changes,
    compared,
    summary,
)
from tests.hub import folders


def reading(first=(0.9, 0.5, 0.3), second=(0.4, 0.6, 0.1), thing=(0.5, 0.1, 0.2)):
    """Two clips, whose actions are asked about, and the first one's thing as well."""
    kinds = (("action", "action"), ("action", "action"), ("object", "object"))
    return EvaluationResult(
        ("a", "b", "a/thing"), ("A", "B", "A"), kinds, (first, second, thing), ("A", "B"), (0, 1), (1, 0), 5
    )


def test_measures_worked_by_hand():
    found = {name: row["value"] for name, row in summary([reading()]).items()}
    # The first clip's caption is level with one rival, the second's stands below one.
    assert found[STANDARD] == pytest.approx((0.5 + 0) / 2)
    # Ranks 1 and 2; the item about the thing is none of RCAD's.
    assert (found[R1], found[R2], found[RANK]) == (0.5, 1.0, 1.5)
    assert found["action: share above 0"] == pytest.approx(1 / 4)
    assert found["action: mean change"] == pytest.approx((-0.4 - 0.6 + 0.2 - 0.3) / 4)
    assert found["object: mean change"] == pytest.approx((-0.4 - 0.3) / 2)


def test_two_models_are_compared_on_the_same_clips():
    found = compared([reading()], [reading(second=(0.7, 0.6, 0.1))])
    assert (found[R1]["before"], found[R1]["after"], found[R1]["value"]) == (0.5, 1.0, 0.5)
    expected = paired_difference(np.array([1.0, 1.0]), np.array([1.0, 0.0]), ["A", "B"]).plain()
    assert {name: found[R1][name] for name in expected} == expected
    assert (found[R1]["mcnemar"]["only_a"], found[R1]["mcnemar"]["only_b"]) == (1, 0)
    assert found[RANK]["mcnemar"] is None
    other = EvaluationResult(**{**reading().plain(), "ids": ("a", "c", "a/thing")})
    with pytest.raises(EvaluationError, match="different items"):
        compared([reading()], [other])


def test_seeds_of_one_model_are_averaged_per_item():
    seeds = [reading(), reading(second=(0.7, 0.6, 0.1))]
    assert summary(seeds)[R1]["value"] == 0.75
    found = compared([reading()], seeds)
    assert found[R1]["value"] == 0.25
    assert found[R1]["mcnemar"] is None


def test_an_evaluation_survives_json():
    assert EvaluationResult.of(json.loads(json.dumps(reading().plain()))) == reading()


def test_distributions_are_by_kind_and_model():
    rows = changes({"before": reading(), "after": reading(first=(0.9, 0.0, 0.0))})["rows"]
    means = {(row["model"], row["group"]): row["mean"] for row in rows}
    assert means["before", "action"] == pytest.approx(-0.275)
    assert means["after", "action"] == pytest.approx((-0.9 - 0.9 + 0.2 - 0.3) / 4)


@pytest.fixture
def held():
    captions = tuple(f"clip {at} does this" for at in range(21))
    texts = tuple((caption, f"{caption} not", f"{caption} never") for caption in captions[:5])
    return HeldOut(
        tuple("abcde"),
        texts,
        (("action", "action"),) * 5,
        (3, 1, 1, 0, 20),
        captions,
        tuple(f"s{at}" for at in range(21)),
    )


def test_a_pass_over_the_set_equals_the_whole_matrix(held):
    adapter = load_adapter("7")
    frames = [np.full((adapter.info.frames, 4, 4, 3), at, np.uint8) for at in range(21)]
    asked = []

    def clip(place):
        asked.append(place)
        return frames[place], VideoMeta(key=str(place))

    heard = []
    found = read(adapter, held, clip, heard.append)
    assert asked == list(range(21))
    assert heard == [16, 21]
    videos = adapter.encode_video(frames, [VideoMeta(key=str(at)) for at in range(21)])
    matrix = adapter.score(videos, adapter.encode_text(held.captions))
    whole = retrieval.compute(matrix.T)["v2t"]["R@1"]
    assert summary([found])[STANDARD]["value"] == pytest.approx(whole)
    own = adapter.score(videos[20:21], adapter.encode_text(held.texts[4]))[0]
    np.testing.assert_allclose(found.scores[4], own, atol=1e-6)
    assert found.clusters == ("s3", "s1", "s1", "s0", "s20")


def test_items_with_a_truncated_text_are_named(tmp_path):
    adapter = open_adapter(f"clip:{folders.clip(tmp_path / 'clip')}?frames=2", device="cpu")
    long = " ".join(["a man folds a red shirt"] * 20)
    texts = (("a ring", "a dog"), ("a dog", f"{long} a dog"))
    held = HeldOut(("short", "long"), texts, (("action",),) * 2, (0, 1), ("a ring", "a dog"), ("s0", "s1"))
    frames = np.zeros((2, 16, 16, 3), np.uint8)
    found = read(adapter, held, lambda place: (frames, VideoMeta(key=str(place))))
    assert found.truncated == ("long",)
    assert EvaluationResult.of(json.loads(json.dumps(found.plain()))) == found
    # A result of before says nothing of it.
    before = {name: value for name, value in found.plain().items() if name != "truncated"}
    assert EvaluationResult.of(before).truncated == ()


def test_a_part_keeps_items_with_their_clips(held):
    part, places = held.spread_sample(3)
    assert part.ids == ("a", "c", "e")
    assert [places[at] for at in part.clips] == [3, 1, 20]
    assert [part.captions[at] for at in part.clips] == [held.captions[at] for at in (3, 1, 20)]
    assert held.spread_sample(99)[0].ids == held.ids


def test_curves_leave_out_what_was_not_measured():
    both = curves({"plain": [(1, 2.0, 0.2, 0.5), (2, 1.0, 0.3, 0.6)], "lgt": [(1, 2.0, 0.2, 0.5)]}).decode()
    assert all(name in both for name in ("loss", "RCAD R@1", "standard R@1", "plain", "lgt"))
    assert "RCAD" not in curves({"plain": [(1, 2.0, None, None)]}).decode()
