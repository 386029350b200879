"""What each rung shows of a clip, and under which key its scores are stored."""

from collections import Counter

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.scoring.clip_keys import MAX_KEY_LENGTH, Keyed
from evaluation.scoring.rungs import (
    BLANK,
    GREY,
    USUAL,
    Ladder,
    Rung,
    grey_frames,
    keys_of,
    most_certain,
    order_of,
    other_clips,
    shown_key,
    views_of,
)

VIDEO = {"key": "k", "sha256": "a" * 64, "source_dataset": "d", "time_unit": "sec", "start_time": 1.0, "end_time": 2.0}


def record(name: str, source: str, sha256: str = "a" * 64) -> dict:
    return {"id": name, "video": {**VIDEO, "source_id": source, "sha256": sha256}}


def test_orders_of_eight_frames() -> None:
    assert order_of(8, "") == [0, 1, 2, 3, 4, 5, 6, 7]
    assert order_of(8, "reversed") == [7, 6, 5, 4, 3, 2, 1, 0]
    assert [order_of(8, view)[0] for view in views_of(Rung.BEST_FRAME)] == [0, 4, 7]
    assert order_of(8, "frame 1 of 3") == [0] * 8
    assert views_of(Rung.MIDDLE_FRAME) == ("frame 2 of 3",)


def test_a_shuffled_order_is_never_the_original_or_its_reverse_and_depends_on_the_seed() -> None:
    drawn = Counter(tuple(order_of(3, "shuffled", str(seed))) for seed in range(200))
    # Of the six orders of three frames, four are left.
    assert len(drawn) == 4
    assert not {(0, 1, 2), (2, 1, 0)} & set(drawn)
    assert order_of(8, "shuffled", "a") == order_of(8, "shuffled", "a") != order_of(8, "shuffled", "b")


def test_an_unknown_view_is_named() -> None:
    with pytest.raises(EvaluationError, match="'sideways' is unknown"):
        order_of(8, "sideways")


def test_grey_frames_have_the_size_of_the_model() -> None:
    frames = grey_frames(4, (8, 6))
    assert frames.shape == (4, 8, 6, 3)
    assert set(np.unique(frames)) == {GREY}
    assert grey_frames(0, None).shape[0] == 1


def test_another_clip_is_of_another_source_and_uniform_among_them() -> None:
    records = [record(f"i{n}", f"s{n // 3}") for n in range(12)]
    counts: Counter[int] = Counter()
    for seed in range(400):
        for at, other in enumerate(other_clips(records, seed)):
            assert other is not None
            assert other // 3 != at // 3
            counts[other] += at == 0
    # Of 400 draws of the first item, each of nine others has 44 on average, with a deviation of 6.
    assert set(range(3, 12)) == {other for other, n in counts.items() if n}
    assert all(20 < counts[other] < 75 for other in range(3, 12))


def test_another_clip_does_not_depend_on_the_order_of_the_records() -> None:
    records = [record(f"i{n}", f"s{n // 2}") for n in range(8)]
    one = {r["id"]: records[at]["id"] for r, at in zip(records, other_clips(records, 1), strict=True)}
    turned = records[::-1]
    other = {r["id"]: turned[at]["id"] for r, at in zip(turned, other_clips(turned, 1), strict=True)}
    assert one == other


def test_a_release_of_one_source_has_no_other_clip() -> None:
    assert other_clips([record("a", "s"), record("b", "s")], 0) == [None, None]


def test_keys_name_the_view_and_fit_the_column() -> None:
    long = {"id": "i", "video": {**VIDEO, "sha256": "", "source_id": "x" * 300}}
    ladder = Ladder(USUAL, tried=99)
    texts = ("one", "two")
    keys = [
        key
        for keyed in (Keyed.CLIP, Keyed.TEXTS)
        for rung in (*USUAL, Rung.FULL)
        for key in keys_of(keyed, long, "main", texts, rung, ladder, record("o", "other"))
    ]
    assert all(len(key) <= MAX_KEY_LENGTH for key in keys)
    assert len(set(keys)) == len(keys) - 4, "first, middle and best frame share keys, in both ways"


def test_without_a_clip_all_clips_share_a_key_unless_scores_depend_on_the_other_texts() -> None:
    one, other = record("a", "s"), record("b", "t", "b" * 64)
    assert shown_key(Keyed.CLIP, one, "main", ("x",), BLANK) == shown_key(Keyed.CLIP, other, "main", ("y",), BLANK)
    assert shown_key(Keyed.TEXTS, one, "main", ("x",), BLANK) == shown_key(Keyed.TEXTS, other, "main", ("x",), BLANK)
    assert shown_key(Keyed.TEXTS, one, "main", ("x",), BLANK) != shown_key(Keyed.TEXTS, one, "main", ("y",), BLANK)


def test_the_best_frame_is_the_one_with_the_largest_distance_to_the_second_text() -> None:
    first = np.array([[0.9, 0.1], [0.5, 0.4]])
    second = np.array([[0.2, 0.3], [0.1, 0.9]])
    assert most_certain([first, second]).tolist() == [0, 1]
