"""kill -9 in the middle of a run: the next worker ends it, and no model is asked again for what was stored."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from tests.foilworks.killed_worker import CAPTIONS, CHAT_AT_ONCE, CLIPS, SLOW_SECONDS
from tests.hub.chat_server import Said, chat_server, foils, likely
from tests.waiting import PATIENCE_SECONDS, wait_until

pytestmark = [pytest.mark.machines, pytest.mark.slow(seconds=8)]
ROOT = Path(__file__).resolve().parent.parent.parent
# What a batch asks for at most: five captions with a blank and two pairs each; four scores of two clips, and as many
# that are on their way to the database.
BATCH = {"fill": 5, "probs": 10, "encode_video": 4}


def process(home: Path, *arguments: str) -> subprocess.Popen:
    others = ("PYTEST_", "DATABASE_", "REDIS_")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    settings["FOILWORKS_HOME"] = str(home)
    command = [sys.executable, "-m", "tests.foilworks.killed_worker", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(home: Path, *arguments: str) -> dict:
    child = process(home, *arguments)
    out, error = child.communicate(timeout=PATIENCE_SECONDS)
    assert child.returncode == 0, error[-3000:]
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("home")
    return folder, answer(folder, "make")


def lines(log: Path) -> list[list]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def killed_and_taken_up(home: Path, job: str, log: Path, after: int) -> tuple[dict, list]:
    """Kill the worker once it has asked for `after` things; what was stored then, and what the dead one had asked.

    It waits for that in the last call.
    """
    child = process(home, "work", job, str(log), str(after))
    wait_until(lambda: len(lines(log)) >= after, processes=[child], log=lambda: child.communicate()[1])
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    first, before = lines(log), answer(home, "look")
    assert answer(home, "take_back", job) == {"waiting": 1}
    assert answer(home, "work", job, str(log)) == {"state": "done"}
    return before, first


def asked_twice(log: Path) -> dict[str, int]:
    """kind of call -> how many things it was asked for more than once; none more than twice."""
    counts = Counter(json.dumps(line) for line in lines(log))
    assert max(counts.values()) <= 2
    return dict(Counter(json.loads(line)[0] for line, n in counts.items() if n == 2))


def test_a_killed_generation_run_completes_and_repeats_one_batch_at_most(home, tmp_path):
    folder, jobs = home
    log = tmp_path / "calls"
    before, first = killed_and_taken_up(folder, jobs["generation"], log, after=50)
    assert 0 < len(before["groups"]) < CAPTIONS
    after = answer(folder, "look")
    # Every caption once, two foils each, one audit row a candidate.
    assert len(after["groups"]) == len(set(after["groups"])) == CAPTIONS
    assert len(after["candidates"]) == len(set(after["candidates"])) == after["events"] == 2 * CAPTIONS
    again = asked_twice(log)
    assert all(again[kind] <= BATCH[kind] for kind in again)
    asked = Counter(kind for kind, _ in lines(log))
    assert asked == {"fill": CAPTIONS + again.get("fill", 0), "probs": 2 * CAPTIONS + again.get("probs", 0)}
    # What was stored before the kill was not asked for again.
    assert len([kind for kind, _ in first if kind == "fill"]) - len(before["groups"]) == again.get("fill", 0)


def test_a_killed_scoring_run_completes_and_scores_no_stored_clip_again(home, tmp_path):
    folder, jobs = home
    log = tmp_path / "calls"
    before, _ = killed_and_taken_up(folder, jobs["scoring"], log, after=CLIPS // 2)
    assert 0 < len(before["scores"]) < 2 * CLIPS
    scores = [tuple(pair) for pair in answer(folder, "look")["scores"]]
    assert len(scores) == len(set(scores)) == 2 * CLIPS
    again = asked_twice(log).get("encode_video", 0)
    assert again <= BATCH["encode_video"]
    assert len(lines(log)) == CLIPS + again
    # A clip whose two scores were stored is not shown again.
    shown_again = {line[1] for line in lines(log) if lines(log).count(line) == 2}
    stored = Counter(clip for clip, _ in before["scores"])
    assert not {clip for clip, n in stored.items() if n == 2} & shown_again


def test_a_killed_run_repeats_only_the_endpoint_requests_in_flight(home, tmp_path, monkeypatch):
    folder, _ = home
    killed = Event()

    def slowly(body: dict, n: int) -> Said:
        # From the half on, nothing is answered before the kill.
        if len(server.bodies) >= CAPTIONS // 2:
            killed.wait(PATIENCE_SECONDS)
        caption = body["messages"][-1]["content"].splitlines()[0].removeprefix("Caption: ")
        return Said(foils(caption.replace(".", " twice.")).body, wait=SLOW_SECONDS)

    with chat_server(slowly) as server:
        for name, value in {"ENDPOINTS": "lab", "LAB_URL": server.url, "LAB_MODELS": "tiny"}.items():
            monkeypatch.setenv(f"CHAT_{name}", value)
        job = answer(folder, "make_chat")["chat"]
        child = process(folder, "work", job, str(tmp_path / "calls"))
        asked = lambda: len(server.bodies) >= CAPTIONS // 2  # noqa: E731
        wait_until(asked, processes=[child], log=lambda: child.communicate()[1])
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        killed.set()
        assert CAPTIONS // 2 <= len(server.bodies) < CAPTIONS
        assert answer(folder, "take_back", job) == {"waiting": 1}
        assert answer(folder, "work", job, str(tmp_path / "calls")) == {"state": "done"}
        asked_again = [text for text, n in server.asked.items() if n == 2]
    assert len(server.asked) == CAPTIONS
    assert max(server.asked.values()) <= 2
    # Half a batch had been answered when it was killed; that half was kept.
    assert len(asked_again) <= CHAT_AT_ONCE
    assert [foil for foil in answer(folder, "look")["candidates"] if foil.endswith("twice.")] == sorted(
        f"a man folds a shirt and {n} towels twice." for n in range(CAPTIONS)
    )


def stored_answers(home: Path) -> int:
    """What a worker has stored so far, read beside it."""
    with closing(sqlite3.connect(f"file:{home / 'foilworks.sqlite3'}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM generation_modelanswer").fetchone()[0]


def test_a_killed_endpoint_run_repeats_no_answered_request(home, tmp_path, monkeypatch):
    """Two texts per clip. From the half on, nothing is answered before the kill; the rest was stored as it came."""
    folder, _ = home
    killed, half = Event(), CLIPS

    def slowly(body: dict, n: int) -> Said:
        # The first question counts, too.
        if len(server.bodies) > half + 1:
            killed.wait(PATIENCE_SECONDS)
        return likely({"Yes": 0.7, "No": 0.3})

    with chat_server(slowly) as server:
        for name, value in {"ENDPOINTS": "lab", "LAB_URL": server.url, "LAB_MODELS": "tiny"}.items():
            monkeypatch.setenv(f"CHAT_{name}", value)
        job = answer(folder, "make_served")["served"]
        before = stored_answers(folder)
        child = process(folder, "work", job, str(tmp_path / "calls"))
        # The answers of the first half are there, and requests that get none are on their way.
        wait_until(
            lambda: stored_answers(folder) >= before + half and len(server.bodies) != half + 1,
            processes=[child],
            log=lambda: child.communicate()[1],
        )
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        on_their_way = len(server.bodies) - half - 1
        killed.set()
        assert answer(folder, "take_back", job) == {"waiting": 1}
        assert answer(folder, "work", job, str(tmp_path / "calls")) == {"state": "done"}
        asked_again = [text for text, n in server.asked.items() if n > 1]
        # A first question, then each of the others once; again only what had got no answer.
        assert len(server.asked) == 1 + 2 * CLIPS
        assert len(asked_again) == on_their_way
        assert max(server.asked.values()) <= 2
    assert stored_answers(folder) - before == 2 * CLIPS
    after = answer(folder, "look")
    assert after["outcomes"] == ["answered"] * 2 * CLIPS
