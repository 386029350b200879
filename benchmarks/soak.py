"""Kills at random moments under load: web server, workers, Redis, PostgreSQL; between them a full disk, clocks that
jump, jobs whose messages come twice and in any order, a Redis that lost everything.

Validators, annotators and reviewers work over HTTP, a researcher starts generation and scoring runs. After every kill
`foilworks check` must find nothing. At the end each answer that the server said was stored is stored, once, and nothing
else is; no pair has more votes than it wants; each run has each of its foils and scores once. Prints kills by kind,
what clients saw, and the seconds until people (and jobs) went on.

    .venv/bin/python benchmarks/soak.py --kills 200                  # half an hour, by hand
    .venv/bin/python benchmarks/soak.py --kills 20 --hurry --seed 7  # as the tests do: nobody waits for a recovery
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

# First, since it puts the root on the path.
import _served  # noqa: F401
from _soak_account import account
from _soak_faults import BESIDE, KILLS, Faults
from _soak_people import CLIPS, PATIENCE_SECONDS, Diary, Hand, Researcher, guarded, persistent
from _topology import Topology, topology
from crowd import world

PEOPLE = {"validator": 6, "annotator": 3, "reviewer": 2}
# Seconds between two kills: at random up to.
BREATH_SECONDS = 1.5
# What takes longest to come back comes least often.
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
# What no job notices.
OF_PEOPLE = frozenset({"web", "web_worker"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--items", type=int, default=400, help="captions that the people begin with")
    parser.add_argument("--hurry", action="store_true", help="kill on, without waiting until people and jobs go on")
    parser.add_argument("--slots", type=int, default=2, help="processes that run jobs")
    parser.add_argument("--minutes", type=float, default=120.0, help="no further kill after so many")
    options = parser.parse_args()
    began = time.monotonic()
    with topology(options.slots) as machine:
        found = soak(machine, options)
    print(json.dumps({**vars(options), **found, "seconds": round(time.monotonic() - began)}, indent=1))


def soak(machine: Topology, options: argparse.Namespace) -> dict[str, object]:
    chance = random.Random(options.seed)
    people = {f"{role}s": number for role, number in PEOPLE.items()}
    sessions = world(SimpleNamespace(items=options.items, reviewed=1.0, **people))
    diary, researcher = Diary(), _researcher(machine, options.seed)
    researcher.diary = diary
    desks = {"validation": "validator", "edit": "annotator", "review": "reviewer"}
    hands = [
        Hand(machine.port, session, stage, diary, number)
        for stage, role in desks.items()
        for number, session in enumerate(sessions[role])
    ]
    threads = [guarded(diary, f"{hand.stage} {hand.number}", hand.work) for hand in hands]
    threads.append(guarded(diary, "generation", researcher.generate))
    threads += [guarded(diary, f"scoring {who}", partial(researcher.score, who)) for who in (1, 2)]
    try:
        told = _kills(machine, diary, chance, options)
    finally:
        machine.make_room()
        for clock in machine.clocks.values():
            clock.jump(0)
        diary.over.set()
        # What dies of the last faults only now is started again, too.
        while any(thread.is_alive() for thread in threads):
            machine.revive()
            time.sleep(0.1)
    accounted = persistent(lambda: account(diary, researcher))
    return {**told, **accounted, "check_by_command": _checked_by_command()}


def _kills(machine: Topology, diary: Diary, chance: random.Random, options: argparse.Namespace) -> dict[str, object]:
    faults, counts, started = Faults(machine, chance), Counter(), time.monotonic()
    recovery: dict[str, list[float]] = defaultdict(list)
    for number, kind in zip(range(options.kills), _rounds(chance), strict=False):
        time.sleep(chance.uniform(0, BREATH_SECONDS))
        machine.revive()
        if chance.random() < 0.5:
            beside = chance.choice(sorted(BESIDE))
            BESIDE[beside](faults)
            counts[beside] += 1
        began, ended = time.monotonic(), jobs_ended()
        KILLS[kind](faults)
        counts[kind] += 1
        if not options.hurry:
            go_on = _people_go_on if kind in OF_PEOPLE else _all_go_on
            recovery[kind].append(go_on(diary, began, ended))
            print(f"{number + 1} {kind}: {recovery[kind][-1]:.1f} s", file=sys.stderr, flush=True)
        _check(f"after kill {number + 1} ({kind})")
        if diary.findings:
            raise AssertionError(diary.findings)
        if time.monotonic() - started > 60 * options.minutes:
            break
    return {
        "killed": sum(counts[kind] for kind in KILLS),
        "by_kind": dict(counts),
        "seen": dict(faults.seen),
        "disk": "a full tmpfs" if machine.mounted else "files that may not grow",
        "recovery_s_p50_p95": {kind: _quantiles(times) for kind, times in sorted(recovery.items())},
    }


def _rounds(chance: random.Random) -> Iterator[str]:
    """Kinds as often as `TIMES_A_ROUND` says, in an order of its own each round."""
    while True:
        yield from chance.sample(sorted(KILLS_PER_ROUND), sum(KILLS_PER_ROUND.values()), counts=_counts())


def _counts() -> list[int]:
    return [KILLS_PER_ROUND[kind] for kind in sorted(KILLS_PER_ROUND)]


def jobs_ended() -> int:
    """A number that grows whenever a job, or a part of one, gets on."""
    from django.db.models import Sum

    from jobs.models import Job

    return persistent(lambda: Job.objects.aggregate(n=Sum("done"))["n"]) or 0


def _people_go_on(diary: Diary, began: float, ended: int) -> float:
    """Seconds from the kill to the first request begun after it that succeeded."""
    until = time.monotonic() + PATIENCE_SECONDS
    while diary.well_since < began:
        assert time.monotonic() < until, f"people wait for {PATIENCE_SECONDS:.0f} s: {dict(diary.errors)}"
        assert not diary.findings, diary.findings
        time.sleep(0.02)
    return time.monotonic() - began


def _all_go_on(diary: Diary, began: float, ended: int) -> float:
    """The same, and until a job got on."""
    _people_go_on(diary, began, ended)
    until = time.monotonic() + PATIENCE_SECONDS
    while jobs_ended() <= ended:
        assert time.monotonic() < until, f"no job gets on for {PATIENCE_SECONDS:.0f} s"
        time.sleep(0.1)
    return time.monotonic() - began


def _quantiles(values: list[float]) -> list[float]:
    ordered = sorted(values)
    return [round(ordered[int(share * (len(ordered) - 1))], 2) for share in (0.5, 0.95)]


def _check(when: str) -> None:
    """`foilworks check` in this process, as of one moment, while everybody works on."""
    from foilworks.management.commands.check import Command

    found = persistent(lambda: Command().run(files=False))
    assert found["ok"], f"{when}: {found['violations'][:5]}"


def _checked_by_command() -> str:
    program = Path(sys.executable).with_name("foilworks")
    done = subprocess.run([program, "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def _researcher(machine: Topology, seed: int) -> Researcher:
    """The clips of the pages, a release of clips to score, a researcher with a token."""
    from django.conf import settings

    from corpus.models import Foil, Project, Subtest
    from corpus.rules.states import FoilVerdict, ItemState
    from evaluation.releases.actions.freeze_release import freeze_release
    from media.encode import write_mp4
    from projects.actions.make_token import make_token
    from projects.models import Role
    from tests import factories
    from tests.media.painted import painted_clip

    media = Path(settings.MEDIA_ROOT)
    media.mkdir(parents=True, exist_ok=True)
    for name in ("none.mp4", "clip.mp4"):
        write_mp4(media / name, painted_clip(4), fps=8)
    project = factories.make_project(slug="shared")
    subtest = factories.make_subtest(project, name="s")
    for number in range(CLIPS):
        video = factories.make_video(project, key=f"c{number}", file="clip.mp4", sha256=f"{number:064d}")
        caption = factories.make_caption(video, f"ball {number} rises")
        factories.make_item(subtest, caption, (f"ball {number} falls",), state=ItemState.VALID)
    Foil.objects.filter(item__subtest=subtest).update(verdict=FoilVerdict.VALID)
    crowd = Project.objects.get(slug="crowd")
    owner = factories.make_member(crowd, Role.RESEARCHER)
    # Not on the disk that fills: what is written there is ours, not Foilworks'.
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
