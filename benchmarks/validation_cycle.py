"""From the page to the stored vote: validators in parallel on the real server, each with think time.

A cycle is one request: the answer goes in, the next card comes back; its clip was loaded ahead by the page.
Prints the p95 of a cycle in ms, the server's CPU a cycle, and how much of the time the validators waited. Makes a home
and a PostgreSQL of its own.

    .venv/bin/python benchmarks/validation_cycle.py [--validators 32] [--think 2] [--seconds 30] [--two-requests]
"""

import argparse
import json
import random
import statistics
import threading
import time

from _served import Browser, database_cpu, own_home, serving, session_of

ANSWERS = ("first", "second", "neither", "both", "cannot_tell")

WATCHED = {"watch_seconds": "2.0", "watch_loops": "1", "watch_covered": "1.0", "seconds": "2.0"}
# Judgements of each validator before the measured ones.
WARM = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--validators", type=int, default=32)
    parser.add_argument("--think", type=float, default=2.0, help="mean seconds between two answers")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--two-requests", action="store_true", help="as a browser without scripts: submit, then load")
    parser.add_argument("--sqlite", action="store_true")
    options = parser.parse_args()
    with own_home(sqlite=options.sqlite):
        print(json.dumps({**vars(options), **measure(options)}))


def measure(options: argparse.Namespace) -> dict[str, float]:
    people = _world(options.items, options.validators)
    with serving() as server:
        browsers = [Browser(server.port, session_of(person)) for person in people]
        started = [threading.Thread(target=_start, args=(browser,)) for browser in browsers]
        _together(started)
        for browser in browsers:
            browser.seconds.clear()
        before, before_db, began = server.cpu_seconds(), database_cpu(), time.monotonic()
        until = began + options.seconds
        _together([threading.Thread(target=_validate, args=(b, until, options, n)) for n, b in enumerate(browsers)])
        cpu, cpu_db, took = server.cpu_seconds() - before, database_cpu() - before_db, time.monotonic() - began
    from annotation.models import Vote

    stored = Vote.objects.count()
    asked = sorted(second for browser in browsers for second in browser.seconds)
    cycles = len(asked) // (2 if options.two_requests else 1)
    assert stored == cycles + WARM * len(browsers), (stored, cycles)
    return {
        "cycles": cycles,
        "cycles_per_s": round(cycles / took, 1),
        "p50_ms": round(1000 * statistics.median(asked), 1),
        "p95_ms": round(1000 * asked[int(0.95 * len(asked))], 1),
        "max_ms": round(1000 * asked[-1], 1),
        "server_cpu_ms_per_cycle": round(1000 * cpu / cycles, 2),
        "database_cpu_ms_per_cycle": round(1000 * cpu_db / cycles, 2),
    }


def _world(items: int, validators: int) -> list:
    from annotation.actions.workflow.make_tasks import make_tasks
    from corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
    from corpus.rules.states import ItemState
    from projects.models import Membership, Project, Role, User

    project = Project.objects.create(slug="cycle", name="Cycle")
    subtest = Subtest.objects.create(project=project, name="direction")
    state = {"media_state": MediaState.READY, "file": "none.mp4", "duration": 2.0, "fps": 12.0, "n_frames": 24}
    videos = Video.objects.bulk_create(Video(project=project, key=f"v{k}", **state) for k in range(items))
    captions = Caption.objects.bulk_create(
        Caption(video=video, key=video.key, text=f"person {video.key} folds a shirt.", text_sha256=f"{video.pk:064d}")
        for video in videos
    )
    rows = Item.objects.bulk_create(
        Item(subtest=subtest, video_id=c.video_id, caption=c, key=c.key, state=ItemState.IN_VALIDATION)
        for c in captions
    )
    Foil.objects.bulk_create(
        Foil(item=item, position=0, text=f"person {item.key} unfolds a shirt.", text_sha256=f"{item.pk:064d}")
        for item in rows
    )
    make_tasks(project)
    people = [User.objects.create(username=f"validator{k}") for k in range(validators)]
    Membership.objects.bulk_create(Membership(project=project, person=p, role=Role.VALIDATOR) for p in people)
    return people


def _together(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _start(browser: Browser) -> None:
    browser.get("/projects/cycle/work/validation/")
    browser.post("/projects/cycle/work/validation/", {})
    assert browser.status == 200
    assert 'id="answer"' in browser.page
    # A server that has just been started compiles, plans and loads what it then keeps.
    for _ in range(WARM):
        browser.submit({"answer": ANSWERS[0], **WATCHED}, swap=True)


def _validate(browser: Browser, until: float, options: argparse.Namespace, number: int) -> None:
    chance = random.Random(number)
    # Nobody starts at the same moment.
    time.sleep(chance.uniform(0, options.think))
    while time.monotonic() < until:
        browser.submit({"answer": chance.choice(ANSWERS), **WATCHED}, swap=not options.two_requests)
        assert browser.status == 200, browser.page[:500]
        time.sleep(max(0.0, chance.gauss(options.think, options.think / 4)))


if __name__ == "__main__":
    main()
