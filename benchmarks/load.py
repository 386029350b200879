"""Claim and submit where a thousand places are open, and where a million are: two PostgreSQL databases of one server,
asked in turns, so that whatever else the machine does befalls both.

A cycle is a submit and the claim behind it, as `one request a judgement` does them; a page is the same by the web
framework with its card, without a network. Prints p95 in ms at each size and their ratios.

    .venv/bin/python benchmarks/load.py [--places 1000 1000000] [--cycles 600] [--validators 24]
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# First, since it puts the root on the path.
from _served import ROOT, SWAP

ROUND = 30
KINDS = ("claim", "submit", "cycle", "page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, nargs=2, default=[1_000, 1_000_000])
    parser.add_argument("--cycles", type=int, default=600, help="at each size, by actions and by pages each")
    parser.add_argument("--validators", type=int, default=24)
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        part(options.part, options.validators)
        return
    from tests.postgres import running_postgres

    try:
        with running_postgres(shared_buffers="256MB") as server:
            print(json.dumps(measure(server, options), indent=1))
    finally:
        shutil.rmtree(_settings("")["FOILWORKS_HOME"], ignore_errors=True)


def measure(server: object, options: argparse.Namespace) -> dict[str, object]:
    # The tables are made once.
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=_settings(server.make("empty")), check=True)
    parts = []
    for size in options.places:
        server.sql(f"CREATE DATABASE places{size} TEMPLATE empty")
        parts.append(Part(server.url(f"places{size}"), size, options.validators))
    try:
        filled = [each.ready() for each in parts]
        for _ in range(-(-options.cycles // ROUND)):
            for each in parts:
                each.turn()
    finally:
        for each in parts:
            each.end()
    small, large = ({kind: each.quantiles(kind) for kind in KINDS} for each in parts)
    return {
        "places": options.places,
        "filled_in_s": filled,
        "cycles": len(parts[0].seconds["cycle"]),
        "ms_p50_p95": {str(size): each for size, each in zip(options.places, (small, large), strict=True)},
        "ratio_of_p50": {kind: round(large[kind][0] / small[kind][0], 2) for kind in KINDS},
        "ratio_of_p95": {kind: round(large[kind][1] / small[kind][1], 2) for kind in KINDS},
    }


class Part:
    """A process with its own database, which works when it is told to."""

    def __init__(self, url: str, size: int, validators: int) -> None:
        command = [sys.executable, __file__, "--part", str(size), "--validators", str(validators)]
        settings = _settings(url)
        self.seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.child = subprocess.Popen(
            command, cwd=ROOT, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ready(self) -> float:
        """Seconds that filling the tables took."""
        return json.loads(self.child.stdout.readline())

    def turn(self) -> None:
        self.child.stdin.write("go\n")
        self.child.stdin.flush()
        for kind, seconds in json.loads(self.child.stdout.readline()).items():
            self.seconds[kind] += seconds

    def end(self) -> None:
        self.child.stdin.close()
        self.child.wait(60)

    def quantiles(self, kind: str) -> tuple[float, float]:
        ordered = sorted(self.seconds[kind])
        return round(1000 * statistics.median(ordered), 2), round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 2)


def _settings(url: str) -> dict[str, str]:
    home = Path(tempfile.gettempdir()) / f"foilworks-load-{os.getpid()}"
    own = {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "foilworks.settings", "FOILWORKS_HOME": str(home)}
    return {**os.environ, **own}


def part(size: int, validators: int) -> None:
    """In the process of one database."""
    import django

    django.setup()
    began = time.monotonic()
    project, people = _world(size, validators)
    print(round(time.monotonic() - began, 1), flush=True)
    hands = [Hand(project, person) for person in people]
    number = 0
    for _ in sys.stdin:
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(ROUND):
            number += 1
            hands[number % len(hands)].work(found)
            hands[(number + 1) % len(hands)].page(found)
        print(json.dumps(found), flush=True)


def _world(size: int, validators: int) -> tuple:
    from projects.models import Membership, Role, User
    from tests.many_rows import analyse, validation_project

    project = validation_project(size)
    people = [User.objects.create(username=f"validator{k}") for k in range(validators)]
    Membership.objects.bulk_create(Membership(project=project, person=p, role=Role.VALIDATOR) for p in people)
    analyse()
    return project, people


class Hand:
    """One validator, by actions and by pages."""

    def __init__(self, project: object, person: object) -> None:
        from django.test import Client

        from annotation.actions.claims.claim import claim

        self.project, self.person, self.answers = project, person, 0
        self.client = Client()
        self.client.force_login(person)
        self.held = claim(person, project, "validation")

    def work(self, found: dict[str, list[float]]) -> None:
        from annotation.actions.claims.claim import claim
        from annotation.actions.submissions.submit_vote import submit_vote

        self.answers += 1
        began = time.perf_counter()
        submit_vote(self.person, self.held.token, f"{self.held.token}", self._answer())
        between = time.perf_counter()
        self.held = claim(self.person, self.project, "validation", preferred=self.held.upcoming_slot)
        ended = time.perf_counter()
        found["submit"].append(between - began)
        found["claim"].append(ended - between)
        found["cycle"].append(ended - began)

    def page(self, found: dict[str, list[float]]) -> None:
        self.answers += 1
        fields = {"answer": self._answer(), "idempotency_key": f"{self.held.token}", "seconds": "2.0"}
        url = f"/projects/{self.project.slug}/work/validation/{self.held.token}/"
        began = time.perf_counter()
        answer = self.client.post(url, fields, headers=SWAP)
        found["page"].append(time.perf_counter() - began)
        assert answer.status_code == 200, (answer.status_code, answer.headers)
        token = re.search(r"/validation/([^/]+)/", answer.headers["X-Foilworks-Url"]).group(1)
        from annotation.claims import claim_of
        from annotation.models import Lease

        lease = Lease.objects.select_related("slot").get(token=token)
        self.held = claim_of(lease, lease.slot)

    def _answer(self) -> str:
        return ("first", "second", "neither")[self.answers % 3]


if __name__ == "__main__":
    main()
