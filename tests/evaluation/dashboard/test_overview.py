"""What the overview says at a glance: the next action, the durations, who did what last."""

import pytest
from django.db import transaction

from foilworks.core.corpus.models import Release
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.dashboard.activity import N_EVENTS, N_LINES, recent_activity
from foilworks.site.dashboard.drawings import FURTHEST, duration
from foilworks.site.dashboard.next_steps import AfterRelease, FirstStep, next_action
from tests.factories import make_member, make_project

FUNNEL = dict.fromkeys(("captions", "items", "judged", "valid", "released"), 0)
FROZEN = AfterRelease(Release(pk=7), n_open=0, has_page=False)
NEW = FirstStep("Define a subtest", "", "corpus:subtests", "Create subtest", is_done=False, is_next=True)


def count_with(**numbers) -> dict:
    funnel = {**FUNNEL, **{key: numbers.pop(key) for key in FUNNEL if key in numbers}}
    return {
        "funnel": funnel,
        "subtests": [{"n_disputed": numbers.get("disputed", 0)}],
        "queues": [{"open": numbers.get("open", 0)}],
        "missing": numbers.get("missing", {}),
        "paused": numbers.get("paused", 0),
        "doubted": numbers.get("doubted", 0),
    }


@pytest.mark.parametrize(
    ("numbers", "after", "text", "page"),
    [
        (
            {"judged": 168, "disputed": 4, "open": 12, "doubted": 3},
            None,
            "adjudicate 4 disputed items",
            "disputed_items",
        ),
        ({"judged": 1, "paused": 1, "open": 2}, None, "decide about 1 paused validator", "validators"),
        ({"judged": 1, "missing": {"validator": 2}, "open": 2}, None, "invite 2 people", "invitations"),
        ({"judged": 1, "doubted": 1, "open": 2}, None, "check 1 caption that may be wrong", "repairs"),
        ({"open": 2, "valid": 1}, None, "work on 2 open tasks", "work"),
        ({"judged": 3, "valid": 3, "released": 1}, None, "freeze a release with 2 new valid items", "freeze"),
        ({"judged": 3}, AfterRelease(Release(), 5, True), "answer 5 questions in the datasheet", "datasheet"),
        ({"judged": 3}, FROZEN, "publish the release", "public_page"),
    ],
)
def test_the_most_urgent_action_is_next(numbers, after, text, page):
    action = next_action(count_with(**numbers), [], after)
    assert (action.text, action.page.partition(":")[2]) == (text, page)
    assert action.args == ((7,) if after is FROZEN else ())


def test_nothing_is_next_if_nothing_waits():
    assert next_action(count_with(judged=3, valid=3, released=3), [], None) is None


def test_a_project_without_work_continues_with_its_first_steps():
    assert next_action(count_with(captions=3), [NEW], None).page == NEW.page
    assert next_action(count_with(captions=3, open=1), [NEW], None).page == "annotation:work"


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (None, ""),
        (0.0, ""),
        (0.1, "less than a day of work left"),
        (1.2, "about 2 days of work left"),
        (30, "about 4 weeks of work left"),
        (100, "about 3 months of work left"),
        (FURTHEST + 1, ""),
    ],
)
def test_a_duration_is_said_only_if_it_is_known(days, words):
    assert duration(days) == words


def record(project, person, *actions) -> None:
    with transaction.atomic():
        audit.record_many(audit.event(project, person, action, project) for action in actions)


@pytest.mark.django_db
def test_the_same_work_in_a_row_is_one_line():
    project = make_project()
    ann, bob = (make_member(project, Role.VALIDATOR, name=name) for name in ("ann", "bob"))
    record(project, ann, "submit_vote", "lease", "vote", "submit_vote")
    record(project, bob, "submit_vote")
    record(make_project(), bob, "submit_edit")
    record(project, None, "evaluation.import_records")
    lines = [(line.who, line.words) for line in recent_activity(project)]
    assert lines == [("Foilworks", "imported a file"), ("bob", "judged 1 pair"), ("ann", "judged 2 pairs")]


@pytest.mark.django_db
def test_activity_reads_a_fixed_number_of_rows(django_assert_num_queries):
    project = make_project()
    people = [make_member(project, Role.VALIDATOR) for _ in range(N_LINES + 2)]
    for person in people:
        record(project, person, "submit_vote")
    with django_assert_num_queries(1):
        assert len(recent_activity(project)) == N_LINES
    record(project, people[0], *["lease"] * N_EVENTS)
    assert recent_activity(project) == []
    assert AuditEvent.objects.filter(project=project).count() > N_EVENTS
