"""Compare many reviews in a request with as many requests one by one, in this process and an empty database.

    .venv/bin/python -m benchmarks.bulk_reviews --reviews 10000 --single 300

Both are requests to the API by Django's own client, so neither counts a network. One by one, each submit asks for the
next task. Seconds are of the processor, for each review.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reviews", type=int, default=10_000)
    parser.add_argument("--single", type=int, default=300, help="of them one by one, for the comparison")
    options = parser.parse_args()
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_test_environment

    setup_test_environment()
    connection.creation.create_test_db(verbosity=0)
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    try:
        _compare(options.reviews, options.single)
    finally:
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)


def _compare(n_bulk: int, n_single: int) -> None:
    from foilworks.core.projects.models import Role
    from tests.factories import make_member, make_project

    project = make_project()
    _make_candidates(project, n_single + n_bulk)
    single = _seconds(lambda: _one_by_one(project.slug, make_member(project, Role.REVIEWER), n_single)) / n_single
    bulk = _seconds(lambda: _in_bulk(project, make_member(project, Role.REVIEWER))) / n_bulk
    print(f"one by one {1000 * single:.2f} ms, in bulk {1000 * bulk:.2f} ms for each review: {single / bulk:.1f} times")


def _make_candidates(project: Any, count: int) -> None:
    from django.db import transaction

    from annotation.actions.workflow.make_tasks import make_tasks
    from foilworks.core.corpus.rules.states import CandidateState
    from tests.factories import make_candidate, make_group, make_run, make_subtest

    run = make_run(make_subtest(project))
    with transaction.atomic():
        for _number in range(count):
            make_candidate(make_group(run), state=CandidateState.IN_REVIEW)
    make_tasks(project)


def _post(person: Any) -> Any:
    from django.test import Client

    from foilworks.core.projects.actions.tokens import make_token

    secret, client = make_token(person, name="bulk", scope="work").secret, Client()

    def post(path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {secret}"}
        response = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers)
        assert response.status_code in (200, 201), response.content
        return response.json()

    return post


def _one_by_one(slug: str, person: Any, count: int) -> None:
    post = _post(person)
    work = post(f"projects/{slug}/queues/review/claim", {})
    for _number in range(count):
        work = post(f"work/{work['token']}/submit?next=true", {"decision": "accept"})["next"]


def _in_bulk(project: Any, person: Any) -> None:
    from annotation.actions.submissions.reviews import MAX_REVIEWS
    from foilworks.core.corpus.rules.states import CandidateState
    from generation.models import Candidate

    waiting: Sequence[int] = Candidate.objects.filter(
        group__run__project=project, state=CandidateState.IN_REVIEW
    ).values_list("pk", flat=True)
    reviews = [{"candidate": pk, "decision": "accept"} for pk in waiting]
    post = _post(person)
    for start in range(0, len(reviews), MAX_REVIEWS):
        answer = post(f"projects/{project.slug}/reviews", {"reviews": reviews[start : start + MAX_REVIEWS]})
        # One candidate is in the hands of the other reviewer.
        assert len(answer["refused"]) <= 1, answer["refused"][:5]


def _seconds(act: Any) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


if __name__ == "__main__":
    main()
