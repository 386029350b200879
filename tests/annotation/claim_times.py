"""Measure claim and submit with many open slots, on a PostgreSQL of its own.

A cycle is a submit and the claim after it, as the setting "one request per judgement" does them; a page is the same
through the web framework, rendered, without a network. Prints p50 and p95 in ms. Run it with a thousand and with a
million slots: they should be alike.

    .venv/bin/python -m tests.annotation.claim_times [--places 1000000] [--cycles 600] [--validators 24]
"""

import argparse
import json
import re
import time

from tests.served_home import SWAP, own_home

KINDS = ("claim", "submit", "cycle", "page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=1_000_000)
    parser.add_argument("--cycles", type=int, default=600, help="by actions and by pages each")
    parser.add_argument("--validators", type=int, default=24)
    options = parser.parse_args()
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    with own_home():
        project, people = _world(options.places, options.validators)
        hands = [Hand(project, person) for person in people]
        for number in range(options.cycles):
            hands[number % len(hands)].work(seconds)
            hands[(number + 1) % len(hands)].page(seconds)
    found = {
        kind: [round(1000 * sorted(all_)[int(q * (len(all_) - 1))], 2) for q in (0.5, 0.95)]
        for kind, all_ in seconds.items()
    }
    print(json.dumps({**vars(options), "ms_p50_p95": found}))


def _world(size: int, validators: int) -> tuple:
    from foilworks.core.projects.models import Membership, Role, User
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
        from annotation.actions.submissions.judgements import submit_vote

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
        from annotation.models import Lease
        from annotation.queries.cards import claim_of

        lease = Lease.objects.select_related("slot").get(token=token)
        self.held = claim_of(lease, lease.slot)

    def _answer(self) -> str:
        return ("first", "second", "neither")[self.answers % 3]


if __name__ == "__main__":
    main()
