"""What the files of clips give away."""

import random

import numpy as np
import pytest

from foilworks.core.solver.clip_side import clip_side
from foilworks.core.solver.questions import Row, separate_answers

PAIRS = [("opens", "closes"), ("folds", "unfolds"), ("lifts", "lowers"), ("enters", "leaves"), ("fills", "empties")]
THINGS = ["a box", "the door", "a red bag", "two cups", "it", "the old chest", "a jar"]


def mirrored(n_sources, seed, *, is_balanced=True):
    """Each source gives two items: its clip as recorded, and backwards, with the same two texts."""
    draw = random.Random(seed)
    rows, facts = [], []
    for source in range(n_sources):
        pair = PAIRS[source // 2 % len(PAIRS)]
        recorded, reversed_word = pair if source % 2 == 0 or not is_balanced else pair[::-1]
        thing, seconds, size = draw.choice(THINGS), draw.uniform(2, 20), draw.uniform(1e4, 1e6)
        for played, right, wrong in (("forwards", recorded, reversed_word), ("backwards", reversed_word, recorded)):
            texts = f"a man {right} {thing}", f"a man {wrong} {thing}"
            rows.append(Row(texts[0], (texts[1],), video=f"v{source}", clip=f"v{source}-{played}", pair=f"p{source}"))
            noisy_size = size * draw.uniform(0.95, 1.05)
            facts.append({"played": played, "seconds": seconds, "bytes": noisy_size, "encoder": "x264"})
    return *separate_answers(rows), facts


def test_balanced_mirrored_clips_give_nothing_away():
    values = []
    for seed in range(6):
        found = clip_side(*mirrored(100, seed))
        assert found.n == 200
        assert found.interval[0] <= 0.5 <= found.interval[1]
        values.append(found.value)
    assert np.mean(values) == pytest.approx(0.5, abs=0.05)


def test_an_encoder_that_only_some_texts_have_is_found():
    questions, answers, facts = mirrored(100, 0)
    rights = [question.options[answer] for question, answer in zip(questions, answers, strict=True)]
    planted = [
        {**row, "encoder": "other" if "closes" in text else "x264"} for row, text in zip(facts, rights, strict=True)
    ]
    opens = [at for at, text in enumerate(rights) if "opens" in text or "closes" in text]
    found = clip_side(questions, answers, planted)
    of_pair = clip_side([questions[at] for at in opens], answers[opens], [planted[at] for at in opens])
    assert of_pair.value == 1.0
    assert of_pair.verdict == "fail"
    assert found.value > 0.55
    assert max(of_pair.alone, key=of_pair.alone.get) == "encoder"


def test_a_direction_that_tells_the_text_is_found():
    found = clip_side(*mirrored(100, 0, is_balanced=False))
    assert (found.value, found.verdict) == (1.0, "fail")
    assert found.texts == pytest.approx(0.5, abs=0.1)
    assert found.alone["played"] == 1.0
    assert found.alone["seconds"] < 0.7


def test_few_videos_tell_nothing():
    assert clip_side(*mirrored(2, 0)) is None
