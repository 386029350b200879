"""The data of the quality pages: pairs and their results, validators and their status, the experts' baseline."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from django.db.models import Count, F, FilteredRelation, Q, QuerySet

from annotation.models import (
    Attempt,
    Choice,
    ExpertLabel,
    GoldPair,
    PracticeCaption,
    QualityPolicy,
    Stage,
    Standing,
    Use,
    Vote,
    VoteState,
)
from annotation.rules.ordering import seeded_share
from annotation.rules.pausing import Thresholds, position_p, wilson
from annotation.rules.watch_evidence import shown_seconds
from foilworks.core.corpus.models import WATCHABLE, Item, Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.listing.headings import DOWN, Sorting
from foilworks.core.projects.models import Project, Role, User

PRACTICE_ROLE = {Stage.EDIT: Role.ANNOTATOR, Stage.VALIDATION: Role.VALIDATOR}
USE_OF_STAGE = {Stage.PRACTICE: Use.PRACTICE, Stage.QUALIFICATION: Use.QUALIFICATION}
# Two experts label ten items each (ViLMA, Sec. B.1).
LABELS_PER_EXPERT = 10
# Only items found valid have a known answer, and they do not wait for real votes.
DECIDED = (ItemState.VALID,)
# The columns of a video that give the length of its clip as shown.
CLIP = ("start_time", "end_time", "time_unit", "duration")

PAUSED, UNQUALIFIED = "paused", "qualification"


def policy_and_standing(person: User, project: Project) -> tuple[QualityPolicy, Standing | None] | None:
    """Return the project's policy with the person's status; None if there is no policy. One query."""
    mine = FilteredRelation("standings", condition=Q(standings__person=person))
    policy = QualityPolicy.objects.annotate(mine=mine).select_related("mine").filter(project=project).first()
    return None if policy is None else (policy, getattr(policy, "mine", None))


def why_not_admitted(policy: QualityPolicy, standing: Standing | None) -> str | None:
    """Return a key of messages.ADMISSION, or None."""
    if standing is not None and standing.state == Standing.State.PAUSED:
        return PAUSED
    qualified = standing is not None and standing.qualified_at is not None
    return None if qualified or not policy.qualification_required else UNQUALIFIED


def why_barred(person: User, project: Project) -> str:
    """Return a key of messages.ADMISSION, or "" for a person who may validate. One query."""
    found = policy_and_standing(person, project)
    return (why_not_admitted(*found) or "") if found else ""


def barred_from_judging(project: Project) -> set[int]:
    """Return people who cannot judge until a researcher acts, in one query.

    They are paused, or have no attempt left at a required qualification.
    """
    standings = Standing.objects.filter(policy__project=project)
    paused = standings.filter(state=Standing.State.PAUSED).values_list("person", flat=True)
    qualified = standings.filter(qualified_at__isnull=False).values("person")
    failed = Attempt.objects.filter(
        project=project, project__quality__qualification_required=True, stage=Stage.QUALIFICATION, passed=False
    )
    last = failed.filter(number__gte=F("project__quality__tries")).exclude(person__in=qualified)
    return set(paused.union(last.values_list("person", flat=True)))


def bars_of(policy: QualityPolicy) -> Thresholds:
    return Thresholds(
        careful=policy.careful_accuracy,
        guess=policy.guess_accuracy,
        false_pauses=policy.false_pauses,
        gold_min=policy.gold_min,
        position_min=policy.position_min,
        fast_min=policy.fast_min,
    )


@dataclass(frozen=True)
class Share:
    """`right` of `seen`, with Wilson's 95 % interval."""

    right: int
    seen: int

    @property
    def value(self) -> float | None:
        return self.right / self.seen if self.seen else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.seen)


@dataclass(frozen=True)
class Row:
    """A validator on the researcher's page."""

    person: User
    standing: Standing | None
    gold: Share
    first: int
    second: int
    position_p: float
    judged: int
    counted: int
    set_aside: int
    seconds: float | None
    clip_share: float | None
    covered: float | None
    fast: Share

    @property
    def first_share(self) -> Share:
        return Share(self.first, self.first + self.second)


def validators(project: Project) -> list[Row]:
    """Return current and former validators: paused ones first, then by name. Four queries."""
    standings = {s.person_id: s for s in Standing.objects.filter(policy__project=project).select_related("paused_by")}
    here = Q(item__subtest__project=project, stage=Stage.VALIDATION) | Q(gold__project=project)
    votes = Vote.objects.filter(here, person__isnull=False).exclude(state=VoteState.UNDONE)
    work: dict[int, list[Vote]] = defaultdict(list)
    fields = ("person", "state", "choice", "caption_first", "fast", "watch__covered", "seconds_spent", "gold")
    clips = [f"{of}__video__{name}" for of in ("item", "gold") for name in CLIP]
    for row in votes.values(*fields, "gold__answer", *clips):
        work[row["person"]].append(row)
    members = Q(memberships__project=project, memberships__role=Role.VALIDATOR)
    people = User.objects.filter(members | Q(pk__in=[*work, *standings])).distinct().order_by("username")
    rows = [_row(person, standings.get(person.pk), work.get(person.pk, [])) for person in people]
    return sorted(rows, key=lambda row: not (row.standing and row.standing.state == Standing.State.PAUSED))


def sorted_validators(rows: Sequence[Row], sorting: Sorting) -> list[Row]:
    """Return the rows in the order of a column; people without a value are last, equal ones as they are."""
    if sorting.column == "name":
        return list(reversed(rows)) if sorting.is_back else list(rows)
    values = {
        "gold": lambda row: row.gold.value,
        "position": lambda row: row.first_share.value,
        "fast": lambda row: row.fast.value,
    }
    value = values.get(sorting.column, lambda row: getattr(row, sorting.column))
    with_value = [row for row in rows if value(row) is not None]
    falling = sorting.headings[sorting.column].order == DOWN
    return [*sorted(with_value, key=value, reverse=falling), *(row for row in rows if value(row) is None)]


def _row(person: User, standing: Standing | None, votes: Sequence[dict]) -> Row:
    gold = [vote for vote in votes if vote["gold"]]
    places = Counter(
        (vote["choice"] == Choice.CAPTION) == vote["caption_first"]
        for vote in votes
        if vote["choice"] in (Choice.CAPTION, Choice.FOIL) and vote["caption_first"] is not None
    )
    states = Counter(vote["state"] for vote in votes if not vote["gold"])
    timed = [vote["fast"] for vote in votes if vote["fast"] is not None]
    spent = [vote["seconds_spent"] for vote in votes if vote["seconds_spent"] is not None]
    return Row(
        person=person,
        standing=standing,
        gold=Share(sum(vote["choice"] == vote["gold__answer"] for vote in gold), len(gold)),
        first=places[True],
        second=places[False],
        position_p=position_p(places[True], places[False]),
        judged=len(votes),
        counted=states[VoteState.COUNTED],
        set_aside=states[VoteState.SET_ASIDE],
        seconds=median(spent) if spent else None,
        clip_share=_median(_clip_share(vote) for vote in votes),
        covered=_median(vote["watch__covered"] for vote in votes),
        fast=Share(sum(timed), len(timed)),
    )


def _clip_share(vote: dict) -> float | None:
    of = "gold" if vote["gold"] else "item"
    length = shown_seconds(*(vote[f"{of}__video__{name}"] for name in CLIP))
    return vote["seconds_spent"] / length if length and vote["seconds_spent"] is not None else None


def _median(numbers) -> float | None:
    known = [number for number in numbers if number is not None]
    return median(known) if known else None


def pairs_of(project: Project, use: str) -> QuerySet[GoldPair]:
    """Return a use's active pairs, with the number of answers and of right ones."""
    live = Q(votes__isnull=False) & ~Q(votes__state=VoteState.UNDONE)
    asked = Q(questions__answered_at__isnull=False)
    pairs = GoldPair.objects.filter(project=project, use=use, withdrawn_at=None)
    return (
        pairs.select_related("video", "subtest", "said_by")
        .annotate(
            n_votes=Count("votes", filter=live, distinct=True),
            n_right_votes=Count("votes", filter=live & Q(votes__choice=F("answer")), distinct=True),
            n_asked=Count("questions", filter=asked, distinct=True),
            n_right_asked=Count("questions", filter=asked & Q(questions__right=True), distinct=True),
        )
        .order_by("-pk")
    )


@dataclass(frozen=True)
class Readiness:
    """The number of questions by kind, and what still prevents opening."""

    matched: int = 0
    mismatched: int = 0
    captions: int = 0
    subtests: list[tuple[str, int]] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return self.matched + self.mismatched


def readiness(project: Project, use: str) -> Readiness:
    pairs = GoldPair.objects.filter(project=project, use=use, withdrawn_at=None)
    kinds = dict(pairs.values_list("mismatched").annotate(n=Count("pk")))
    by_subtest = pairs.filter(mismatched=False, item__isnull=False).values_list("item__subtest__name")
    captions = PracticeCaption.objects.filter(project=project, withdrawn_at=None).count() if use == Use.PRACTICE else 0
    return Readiness(
        matched=kinds.get(False, 0),
        mismatched=kinds.get(True, 0),
        captions=captions,
        subtests=list(by_subtest.annotate(n=Count("pk")).order_by("item__subtest__name")),
    )


@dataclass(frozen=True)
class Expert:
    """An expert's labels on the pairs of the qualification, against the known answers."""

    person: User
    share: Share


def experts(project: Project) -> list[Expert]:
    """Return the experts with their agreement with the known answers: the baseline of the qualification."""
    labels = ExpertLabel.objects.filter(pair__project=project, pair__withdrawn_at=None)
    rows = labels.values("person").annotate(n=Count("pk"), right=Count("pk", filter=Q(choice=F("pair__answer"))))
    people = User.objects.in_bulk([row["person"] for row in rows])
    return [Expert(people[row["person"]], Share(row["right"], row["n"])) for row in rows.order_by("person__username")]


def baseline(found: Sequence[Expert]) -> float | None:
    """Return the experts' average accuracy."""
    return sum(expert.share.value or 0.0 for expert in found) / len(found) if found else None


def next_to_label(person: User, policy: QualityPolicy) -> tuple[GoldPair | None, int]:
    """Return (the expert's next pair of the qualification to label, how many they have labelled)."""
    pairs = GoldPair.objects.filter(project=policy.project_id, use=Use.QUALIFICATION, withdrawn_at=None)
    done = ExpertLabel.objects.filter(person=person, pair__in=pairs).count()
    ids = (
        pairs.filter(video__media_state__in=WATCHABLE).exclude(labels__person=person).exclude(said_by=person, item=None)
    )
    chosen = min(
        ids.values_list("pk", flat=True),
        key=lambda pk: seeded_share(policy.secret, "label", person.pk, pk),
        default=None,
    )
    found = GoldPair.objects.select_related("video__project", "subtest").filter(pk=chosen).first()
    return (found if done < LABELS_PER_EXPERT else None), done


def sources(project: Project, use: str) -> QuerySet[Subtest]:
    """Return subtests with items that can become pairs, `n_free` of them; proficiency first."""
    free = Q(items__state__in=DECIDED, items__video__media_state__in=WATCHABLE, items__gold_pairs__isnull=True)
    found = Subtest.objects.filter(project=project).annotate(n_free=Count("items", filter=free, distinct=True))
    return found.filter(n_free__gt=0).order_by("-kind", "name")


def free_items(subtest: Subtest) -> QuerySet[Item]:
    """Return decided items of the subtest that are not gold yet, with their foils."""
    items = Item.objects.filter(subtest=subtest, state__in=DECIDED, gold_pairs__isnull=True)
    return items.filter(video__media_state__in=WATCHABLE).select_related("caption", "video")


def tries_of(person: User, project: Project) -> list[Attempt]:
    """Return the person's attempts at the qualification, the last one first."""
    attempts = Attempt.objects.filter(person=person, project=project, stage=Stage.QUALIFICATION)
    return list(
        attempts.annotate(n=Count("questions"), right=Count("questions", filter=Q(questions__right=True))).order_by(
            "-number"
        )
    )
