"""The share of each annotator's work that reviewers see: the project's policy, and individual rates."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.models import Edit, Review, ReviewPolicy, ReviewRate, Task, TaskState
from annotation.rules.reviewing import DECISIONS
from foilworks.core.projects.models import Membership, Project, Role, User
from foilworks.core.projects.sql.prepared import Prepared
from generation.models import Candidate

_RATE = Prepared(
    lambda project, person: ReviewRate.objects.filter(project=project, person=person).values_list("rate")[:1]
)


def review_rate(project: Project, person: User, policy: ReviewPolicy | None = None) -> float:
    """Return the share (0..1) of the person's edits that a reviewer sees. `policy`: that of the project, if known."""
    own = _RATE.first(project=project.pk, person=person.pk)
    return (policy or policy_of(project)).rate if own is None else own


def policy_of(project: Project) -> ReviewPolicy:
    """Return the project's row, or an unsaved one with the defaults: everything is reviewed once."""
    return ReviewPolicy.objects.filter(project=project).first() or ReviewPolicy(project=project)


def policy_in(project: Project) -> ReviewPolicy:
    """Return the same of a project that was just read with its row, as the lease of a submit is."""
    return getattr(project, "review_policy", None) or ReviewPolicy(project_id=project.pk)


@dataclass(frozen=True)
class AnnotatorShare:
    """One annotator: their own rate (None: the project's), and the decisions on their foils so far."""

    person: User
    rate: float | None
    n_edits: int
    n_reviewed: int
    n_unreviewed: int
    # In the order of DECISIONS.
    n_accepted: int
    n_returned: int
    n_dropped: int
    n_fixed: int


def annotator_shares(project: Project) -> list[AnnotatorShare]:
    """Return the project's annotators with their numbers, by name. Five queries."""
    people = User.objects.filter(
        pk__in=Membership.objects.filter(project=project, role=Role.ANNOTATOR).values("person")
    )
    rates = dict(ReviewRate.objects.filter(project=project).values_list("person", "rate"))
    edits = _count(Edit.objects.filter(group__run__project=project, undone_at=None), "person")
    by_rule = Candidate.objects.filter(submitted_in__group__run__project=project, unreviewed=True)
    passed = _count(by_rule, "submitted_in__person")
    here = Review.objects.filter(candidate__group__run__project=project)
    decided = here.filter(undone_at=None, slot__isnull=False, second=False)
    decisions = {
        row.pop("candidate__submitted_in__person"): row
        # Not `exclude(…=None)`: PostgreSQL may compare each review with all candidates for its NOT EXISTS.
        for row in decided.filter(candidate__submitted_in__isnull=False)
        .order_by()
        .values("candidate__submitted_in__person")
        .annotate(
            all=Count("pk", distinct=True),
            **{name: Count("pk", filter=Q(decision=name), distinct=True) for name in DECISIONS},
        )
    }
    return [
        AnnotatorShare(person, rates.get(person.pk), edits.get(person.pk, 0), *_of(decisions, passed, person.pk))
        for person in people.order_by("username")
    ]


def _of(decisions: dict[int, dict[str, int]], passed: dict[int, int], person: int) -> tuple[int, ...]:
    row = decisions.get(person, {})
    return row.get("all", 0), passed.get(person, 0), *(row.get(name, 0) for name in DECISIONS)


def _count(rows: QuerySet, column: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(column).annotate(n=Count("pk", distinct=True)))


def waiting_second_reviews(project: Project) -> int:
    """Return how many second reviews are still to be done."""
    return Task.objects.filter(project=project, second=True, state=TaskState.OPEN).count()
