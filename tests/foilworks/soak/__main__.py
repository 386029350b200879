"""Kill processes at random moments under load: web server, workers, Redis, PostgreSQL.

Between kills: a full disk, jobs whose messages arrive twice and in any order, a Redis that lost everything. Validators,
annotators and reviewers work over HTTP, and a researcher starts generation and scoring runs. After every kill
`foilworks check` must find nothing. At the end each acknowledged answer is stored once, and nothing else is; no pair
has more votes than it wants; each run has each of its foils and scores once. Prints kills by kind and what clients saw.

    .venv/bin/python -m tests.foilworks.soak --kills 200 --seed 7
    .venv/bin/python -m tests.foilworks.soak --kills 2 --sqlite    # only the web server, only people
"""

import argparse
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.foilworks.soak.account import account, check_by_command, check_now
from tests.foilworks.soak.faults import BESIDE, KILLS, Faults
from tests.foilworks.soak.people import (
    CLIPS,
    PATIENCE_SECONDS,
    Diary,
    Researcher,
    guarded,
    persistent,
    start_people,
)
from tests.foilworks.soak.processes import Topology, topology, wait_for, web_tree
from tests.ports import free_port
from tests.served_home import own_home

PEOPLE = {"validator": 6, "annotator": 3, "reviewer": 2}
STAGES = ("validation", "edit", "review")
# Max seconds between two kills.
BREATH_SECONDS = 1.5
# The slower the recovery, the rarer the kill.
KILLS_PER_ROUND = {
    "web": 1,
    "worker": 1,
    "redis_lost": 1,
    "engine": 4,
    "web_worker": 5,
    "redis": 5,
    "backend": 6,
    "postgres": 6,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--items", type=int, default=400, help="number of captions at the start")
    parser.add_argument("--slots", type=int, default=2, help="number of processes that run jobs")
    parser.add_argument("--sqlite", action="store_true", help="only the web server on SQLite, and only people")
    options = parser.parse_args()
    began = time.monotonic()
    if options.sqlite:
        found = soak_of_sqlite(options)
    else:
        with topology(options.slots) as machine:
            found = soak(machine, options)
    print(json.dumps({**vars(options), **found, "seconds": round(time.monotonic() - began)}, indent=1))


def soak_of_sqlite(options: argparse.Namespace) -> dict[str, object]:
    chance, diary, port = random.Random(options.seed), Diary(), free_port()
    with own_home(sqlite=True) as home:
        web = web_tree(port, dict(os.environ), home / "web.log")
        try:
            web.start()
            wait_for(web, port)
            threads = start_people(port, diary, options.items, PEOPLE)
            for _ in range(options.kills):
                time.sleep(chance.uniform(0.5, 1 + BREATH_SECONDS))
                web.kill()
                web.start()
                wait_for(web, port)
            time.sleep(BREATH_SECONDS)
            diary.over.set()
            for thread in threads:
                thread.join()
            return {"killed": options.kills, **account(diary, None), "check_by_command": check_by_command()}
        finally:
            web.kill()


def soak(machine: Topology, options: argparse.Namespace) -> dict[str, object]:
    chance, diary = random.Random(options.seed), Diary()
    threads = start_people(machine.port, diary, options.items, PEOPLE)
    researcher = _researcher(machine, options.seed)
    researcher.diary = diary
    threads.append(guarded(diary, "generation", researcher.generate))
    threads += [guarded(diary, f"scoring {who}", partial(researcher.score, who)) for who in (1, 2)]
    try:
        told = _kills(machine, diary, chance, options)
        _await_answers(machine, diary)
    finally:
        machine.make_room()
        diary.over.set()
        # Also restart what dies of the last faults only now.
        while any(thread.is_alive() for thread in threads):
            machine.revive()
            time.sleep(0.1)
    accounted = persistent(lambda: account(diary, researcher))
    return {**told, **accounted, "check_by_command": check_by_command()}


def _kills(machine: Topology, diary: Diary, chance: random.Random, options: argparse.Namespace) -> dict[str, object]:
    faults, counts = Faults(machine, chance), Counter()
    beside = sorted(BESIDE if machine.mounted else BESIDE.keys() - {"disk"})
    for number, kind in zip(range(options.kills), _rounds(chance), strict=False):
        time.sleep(chance.uniform(0, BREATH_SECONDS))
        machine.revive()
        if chance.random() < 0.5:
            also = chance.choice(beside)
            BESIDE[also](faults)
            counts[also] += 1
        KILLS[kind](faults)
        counts[kind] += 1
        check_now(f"after kill {number + 1} ({kind})")
        if diary.findings:
            raise AssertionError(diary.findings)
    return {"killed": sum(counts[kind] for kind in KILLS), "by_kind": dict(counts), "seen": dict(faults.seen)}


def _await_answers(machine: Topology, diary: Diary) -> None:
    """Wait until an answer of each stage is acknowledged: on a busy machine, a few kills are over before the first."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while missing := [stage for stage in STAGES if not diary.acknowledged.get(stage)]:
        assert not diary.findings, diary.findings
        assert time.monotonic() < deadline, f"no answer of {missing}"
        machine.revive()
        time.sleep(0.1)


def _rounds(chance: random.Random) -> Iterator[str]:
    """Yield kinds as often as `KILLS_PER_ROUND` says, in a new order each round."""
    while True:
        kinds, counts = zip(*sorted(KILLS_PER_ROUND.items()), strict=True)
        yield from chance.sample(kinds, sum(counts), counts=counts)


def _researcher(machine: Topology, seed: int) -> Researcher:
    """Create a release of clips to score, and a researcher with a token."""
    from evaluation.releases.actions.freeze_release import freeze_release
    from foilworks.core.corpus.models import Foil, Project, Subtest
    from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
    from foilworks.core.projects.actions.tokens import make_token
    from foilworks.core.projects.models import Role
    from tests import factories

    project = factories.make_project(slug="shared")
    subtest = factories.make_subtest(project, name="s")
    for number in range(CLIPS):
        video = factories.make_video(project, key=f"c{number}", file="clip.mp4", sha256=f"{number:064d}")
        caption = factories.make_caption(video, f"ball {number} rises")
        factories.make_item(subtest, caption, (f"ball {number} falls",), state=ItemState.VALID)
    Foil.objects.filter(item__subtest=subtest).update(verdict=FoilVerdict.VALID)
    crowd = Project.objects.get(slug="crowd")
    owner = factories.make_member(crowd, Role.RESEARCHER)
    # Not on the disk that fills: these files are the benchmark's, not Foilworks'.
    models = machine.folder.parent / "models"
    models.mkdir()
    return Researcher(
        port=machine.port,
        token=make_token(owner, name="soak", scope="manage").secret,
        subtest=Subtest.objects.get(project=crowd).pk,
        release=freeze_release(None, project).pk,
        models=models,
        diary=Diary(),
        seed=seed,
    )


if __name__ == "__main__":
    main()
