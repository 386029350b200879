"""Planted spammers and careful people against the real actions: who is paused, when, and what it does to agreement.

    .venv/bin/python benchmarks/fooling.py [--spammers 100] [--honest 150] [--pieces 40] [--out FILE]

A home of its own, SQLite, a simulated clock. A fifth of the pieces is gold, half of that mismatched; clips of 10 s, and
under half of one is too fast. "always first" and "random" (uniform over the five answers) take their time; "too fast"
answers as careful people do, within two seconds. Careful people are right 92 % of the time and now and then quick.
alpha is Krippendorff's over all votes that count: before and after those of who is paused are set aside, and once they
are brought back. price: queries and processor time a claim and a submit, without a policy, with a tally, with gold.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
KINDS = ("honest", "always first", "random", "too fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spammers", type=int, default=100, help="of each kind")
    parser.add_argument("--honest", type=int, default=150)
    parser.add_argument("--pieces", type=int, default=40)
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foilworks-benchmark-") as home:
        os.environ["FOILWORKS_HOME"] = home
        os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.settings"
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        found = {**vars(options), **paused(options.spammers, options.honest, options.pieces), "price": price()}
    print(json.dumps(found, indent=1))
    if options.out:
        Path(options.out).write_text(json.dumps(found, indent=1), encoding="utf-8")


def paused(spammers: int, honest: int, pieces: int) -> dict[str, object]:
    from annotation.actions.workflow.make_tasks import make_tasks
    from foilworks.invariants.registry import violations
    from projects.models import Role
    from tests import factories
    from tests.annotation.crowd import crowd, open_policy, paused_share, stock

    project = factories.make_project()
    owner = factories.make_member(project, Role.RESEARCHER)
    numbers = {"honest": honest, **dict.fromkeys(KINDS[1:], spammers)}
    subtest = factories.make_subtest(project)
    stock(project, subtest, items=(honest * pieces + spammers * pieces) // 3 + 200, gold=30)
    open_policy(project)
    make_tasks(project)
    outcomes = crowd(project, numbers, pieces)
    when = {kind: [o.paused_after for o in outcomes if o.kind == kind and o.paused_after is not None] for kind in KINDS}
    return {
        "paused": {kind: paused_share(outcomes, kind) for kind in KINDS},
        "median_pieces_to_pause": {kind: median(found) for kind, found in when.items() if found},
        "why": {kind: reasons(outcomes, kind) for kind in KINDS},
        "alpha": alphas(project, owner, [o.person.pk for o in outcomes if o.paused_after is not None]),
        "checks_broken": sorted({r["invariant"] for r in violations() if not r["invariant"].startswith("media.")}),
    }


def reasons(outcomes: list, kind: str) -> dict[str, int]:
    from annotation.models import Standing

    people = [outcome.person.pk for outcome in outcomes if outcome.kind == kind]
    return Counter(Standing.objects.filter(person__in=people, state="paused").values_list("paused_why", flat=True))


def alphas(project, owner, people: list[int]) -> dict[str, object]:
    from annotation.actions.quality.exclude_votes import set_votes_aside
    from annotation.actions.quality.reinstate_votes import bring_votes_back
    from evaluation.reports.reports import project_report

    def alpha() -> float:
        return round(project_report(project, "agreement")["alpha"], 4)

    before, began = alpha(), time.process_time()
    moved = sum(set_votes_aside(owner, project, pk) for pk in people)
    took, after = time.process_time() - began, alpha()
    back = [bring_votes_back(owner, project, pk) for pk in people]
    return {
        "before": before,
        "after": after,
        "brought_back": alpha(),
        "votes_set_aside": moved,
        "counted_again": sum(pair[0] for pair in back),
        "processor_ms_a_vote": round(1000 * took / max(1, moved), 1),
    }


def price(cycles: int = 60) -> dict[str, object]:
    """Queries and processor time of a claim and of a submit: no policy, a policy without gold, a fifth gold."""
    from annotation.actions.workflow.make_tasks import make_tasks
    from projects.models import Role
    from tests import factories
    from tests.annotation.crowd import open_policy, stock

    found = {}
    for name, rate in (("off", None), ("tally_only", 0.0), ("gold", 0.2)):
        project = factories.make_project()
        stock(project, factories.make_subtest(project), items=cycles + 40, gold=30)
        make_tasks(project)
        if rate is not None:
            open_policy(project, gold_rate=rate, gold_min=10_000, position_min=10_000)
        found[name] = cycle(project, factories.make_member(project, Role.VALIDATOR), cycles)
    found["cost"] = {
        name: {key: round(found[name][key] / found["off"][key], 2) for key in ("claim_ms", "submit_ms")}
        for name in ("tally_only", "gold")
    }
    return found


def cycle(project, person, cycles: int) -> dict[str, float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from django.utils import timezone

    from annotation.actions.claims.claim import claim
    from annotation.actions.submissions.submit_vote import submit_vote
    from annotation.models import Stage

    counts, seconds, now = Counter(), Counter(), timezone.now()
    upcoming = None
    for number in range(cycles):
        began = time.process_time()
        with CaptureQueriesContext(connection) as claiming:
            work = claim(person, project, Stage.VALIDATION, preferred=upcoming, now=now)
        between = time.process_time()
        now += timedelta(seconds=12)
        with CaptureQueriesContext(connection) as submitting:
            submit_vote(person, work.token, f"{number}", 1 + number % 2, now=now)
        upcoming = work.upcoming_slot
        seconds["claim_ms"] += between - began
        seconds["submit_ms"] += time.process_time() - between
        counts["claim_queries"] += len(claiming)
        counts["submit_queries"] += len(submitting)
    queries = {key: round(n / cycles, 1) for key, n in counts.items()}
    return {**queries, **{key: round(1000 * spent / cycles, 2) for key, spent in seconds.items()}}


if __name__ == "__main__":
    main()
