"""The rules of a project's work and whether they can still change: scope, vote rules, shares that reviewers see."""

from dataclasses import dataclass, replace

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Edit, Lease, Review, ReviewPolicy, ReviewRate, Stage, Task, TaskState, Vote
from annotation.queries.eligibility import JUDGING
from annotation.rules.reviewing import DECISIONS
from annotation.rules.voting import VoteRule, rule_in_force
from foilworks.core.corpus.models import PUBLISHERS_WORD, Item, Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Membership, Project, Role, User
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate

_RATE = Prepared(
    lambda project, person: ReviewRate.objects.filter(project=project, person=person).values_list("rate")[:1]
)
# Without a vote, an item waits or was retracted.
UNDECIDED = (ItemState.IN_VALIDATION, ItemState.RETRACTED)


def why_scope_fixed(project: Project) -> str:
    """Return why the scope of the leakage rule can no longer change, or "". At most two queries."""
    shown = Lease.objects.filter(slot__project=project, slot__stage__in=JUDGING)
    own = Q(item__project=project) | Q(gold__project=project)
    # Votes of a file were cast elsewhere, under rules that nobody here can change.
    voted = Vote.objects.filter(own, source=Vote.Source.PERSON)
    if shown.exists() or voted.exists():
        return _(
            "Someone has already seen or judged a pair of this project, so this rule is fixed. Votes under two rules "
            "could not be compared. To use another rule, create another project."
        )
    return ""


def rule_for_files(subtest: Subtest) -> VoteRule:
    """Return the rule for votes of a file: they all exist already, so nothing stops early and no pair gets more."""
    return replace(rule_in_force(subtest), stop_early=False, most=0)


def changeable(subtests: QuerySet[Subtest]) -> QuerySet[Subtest]:
    """Return those of the subtests for which `why_fixed` gives no reason."""
    shown = Lease.objects.filter(slot__item__subtest=OuterRef("pk"), slot__stage=Stage.VALIDATION)
    voted = Vote.objects.filter(item__subtest=OuterRef("pk"), stage=Stage.VALIDATION)
    decided = Item.objects.filter(subtest=OuterRef("pk")).exclude(state__in=UNDECIDED).exclude(PUBLISHERS_WORD)
    return subtests.filter(~Exists(shown), ~Exists(voted), ~Exists(decided))


def why_fixed(subtest: Subtest) -> str:
    """Return why the subtest's rule can no longer change, or "". At most three queries."""
    if Lease.objects.filter(slot__item__subtest=subtest, slot__stage=Stage.VALIDATION).exists():
        return _("Someone has already seen a pair of this subtest. To use a different rule, create another subtest.")
    if Vote.objects.filter(item__subtest=subtest, stage=Stage.VALIDATION).exists():
        return _("This subtest contains imported votes. To use a different rule, create another subtest.")
    if Item.objects.filter(subtest=subtest).exclude(state__in=UNDECIDED).exclude(PUBLISHERS_WORD).exists():
        return _("Items of this subtest are already decided. To use a different rule, create another subtest.")
    return ""


def review_rate(project: Project, person: User, policy: ReviewPolicy | None = None) -> float:
    """Return the share (0..1) of the person's edits that a reviewer sees. `policy`: that of the project, if known."""
    own = _RATE.first(project=project.pk, person=person.pk)
    return (policy or policy_of(project)).rate if own is None else own


def policy_of(project: Project) -> ReviewPolicy:
    """Return the project's row, or an unsaved one with the defaults: everything is reviewed once."""
    return ReviewPolicy.objects.filter(project=project).first() or ReviewPolicy(project=project)


def reviews_per_foil(project: Project) -> int:
    """Return how many reviewers decide on a foil: none if no edit is drawn for a review, two if some are repeated."""
    policy = policy_of(project)
    own_rates = ReviewRate.objects.filter(project=project, rate__gt=0)
    if project.edit_stage and not policy.rate and not own_rates.exists():
        return 0
    return 2 if policy.second_share else 1


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
