"""The pieces of a run in shards: cutting, writing beside the model, what it cost, how long it takes."""

import time
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from django.db import connection

from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import ScoringCounts
from evaluation.scoring.models import Score
from evaluation.scoring.shards.outlook import outlook
from evaluation.scoring.shards.pending_pairs import ClipWork, ScoreWriter, in_time
from evaluation.scoring.shards.plan import costs, cut_to, parts_of, shard_items
from evaluation.templatetags.timing import duration
from foilworks.core.text.batches import batched
from tests.waiting import PATIENCE_SECONDS

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def asked(key: str, positions: list[int], n_texts: int = 2) -> tuple[ClipWork, list[str]]:
    texts = [f"{key} {n}" for n in range(n_texts)]
    return ClipWork(Clip(key), dict.fromkeys(texts), {f"i{place}": place for place in positions}), texts


@pytest.mark.parametrize(("items", "size"), [(10, 512), (20_000, 625), (65_536, 2048), (1_900_000, 2048)])
def test_a_shard_has_from_512_to_2048_items(items, size):
    assert shard_items(items) == size


def test_a_clip_and_an_item_are_in_one_shard_each(settings):
    settings.SHARD_ITEMS = 2
    # The second clip shares item 1 with the first, the fifth item 4 with the fourth.
    wanted = {"a": [0, 1], "b": [1, 2], "c": [3], "d": [4], "e": [4, 5], "f": [6]}
    todo = [asked(key, positions) for key, positions in wanted.items()]
    parts = parts_of(todo, needs_video=True)
    assert [(part["positions"], total) for part, total in parts] == [([0, 1, 2], 4), ([3, 4, 5], 6), ([6], 2)]
    places = [place for part, _ in parts for place in part["positions"]]
    assert sorted(places) == sorted(set(places)) == list(range(7))


def test_texts_without_a_clip_fall_into_disjoint_shares(settings):
    settings.SHARD_ITEMS = 5
    todo = [asked("", list(range(20)), n_texts=50)]
    parts = parts_of(todo, needs_video=False)
    found = [list(cut_to([todo[0][0]], part)[0].texts) for part, _ in parts]
    assert [len(texts) for texts in found] == [total for _, total in parts]
    assert sorted(text for texts in found for text in texts) == sorted(todo[0][1])


def test_batches_by_number_and_by_time():
    assert list(batched(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(in_time(range(5), 2, 60)) == [[0, 1], [2, 3], [4]]
    assert list(in_time(range(3), 100, -1)) == [[0], [1], [2]]


def row(number: int) -> Score:
    return Score(model_key="m", protocol="p", clip_key=str(number), text_sha256="0" * 64, value=number, kind="cosine")


@pytest.mark.django_db(transaction=True)
def test_one_batch_is_written_while_the_next_is_computed_and_none_is_lost():
    go, slow = Event(), []

    def store(batch):
        assert go.wait(PATIENCE_SECONDS), "the first batch was waited for"
        time.sleep(0.05)
        Score.objects.bulk_create(batch)
        slow.append(connection.in_atomic_block)

    with ScoreWriter(store) as writer:
        writer.put([row(1)])
        go.set()
        writer.put([row(2)])
    assert Score.objects.count() == 2
    assert writer.seconds >= 0.1
    assert slow == [False, False]


@pytest.mark.django_db(transaction=True)
def test_batches_before_an_error_are_stored_and_write_errors_are_raised():
    with pytest.raises(KeyError), ScoreWriter(Score.objects.bulk_create) as writer:
        writer.put([row(1)])
        raise KeyError
    assert Score.objects.count() == 1

    def fail(batch):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"), ScoreWriter(fail) as writer:
        writer.put([row(2)])


@pytest.mark.django_db
def test_in_a_transaction_scores_are_written_at_once():
    with ScoreWriter(Score.objects.bulk_create) as writer:
        writer.put([row(1)])
        assert Score.objects.count() == 1


def test_costs_of_attempts_add_up_and_the_smallest_batch_is_kept():
    tally = ScoringCounts(decode_seconds=2.0, wait_seconds=0.5, compute_seconds=3.0, pairs=10, halved={"clips": 4})
    first = costs(tally, 0.1, {}, "cpu")
    second = costs(tally, 0.1, {**first, "halved": {"clips": 2, "texts": 8}}, "cuda:0")
    assert (second["decode"], second["wait"], second["compute"], second["pairs"]) == (4.0, 1.0, 6.0, 20)
    assert (second["write"], second["device"]) == (0.2, "cuda:0")
    assert second["halved"] == {"clips": 2, "texts": 8}


def test_the_outlook_shows_time_spent_and_time_left():
    rows = [{"decode": 30.0, "wait": 5.0, "compute": 15.0, "pairs": 40}, {"compute": 5.0, "pairs": 10}, {}]
    seen = outlook(rows, done=80, total=200, began=NOW - timedelta(seconds=25), now=NOW)
    # 50 scores in 25 seconds; 30 more were there before.
    assert (seen.rate, seen.seconds_left) == (2.0, 60.0)
    assert (seen.seconds["decode"], seen.seconds["compute"], seen.counts["pairs"]) == (30.0, 20.0, 50)
    assert seen.waits_share == pytest.approx(5 / 25)
    nothing = outlook([{}], done=0, total=10, began=None, now=NOW)
    assert (nothing.rate, nothing.seconds_left, nothing.waits_share) == (0.0, None, 0.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        ("", "–"),
        (0.44, "0.4 s"),
        (12.7, "12 s"),
        (200, "3 min 20 s"),
        (18600, "5 h 10 min"),
        (183600, "2 d 3 h"),
    ],
)
def test_seconds_are_written_as_people_read_them(seconds, words):
    assert duration(seconds) == words
