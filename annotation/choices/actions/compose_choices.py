"""Store composed items, which wait for blind validation like any other item.

Queue the job that composes items for a subtest.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.workflow.groups import proficiency_item, refresh_rule
from annotation.choices.composition_sources import NOT_COPIED, Source, hard_options, random_items, source_named
from annotation.errors import AnnotationError
from annotation.models import Involvement
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState, first_item_state
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from generation.choices.compose import COMPOSED, Composed, Why, compose, facts_of, sample

BATCH = 500
MAX_SEED = 2**63 - 1
KINDS = (Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED)


@dataclass(frozen=True)
class Request:
    """What to compose. `random`, `hard`: a subtest's name or `run:12`; without `hard`, the items are Random items.

    `unreviewed`: also use candidates of runs that passed the filters and that nobody reviewed yet.
    """

    random: str
    hard: str = ""
    seed: int = 0
    limit: int | None = None
    unreviewed: bool = False


@dataclass
class Plan:
    """The items of a request: those that the subtest lacks, the number that it has, and why captions are left out."""

    random: Source
    hard: Source | None
    new: list[Composed] = field(default_factory=list)
    existing: int = 0
    left_out: Counter[Why] = field(default_factory=Counter)

    @property
    def counts(self) -> dict[str, Any]:
        return {
            "random": self.random.subtest.name,
            "hard": self.hard.subtest.name if self.hard else "",
            "existing": self.existing,
            "left_out": {why.value: n for why, n in self.left_out.most_common()},
        }


def plan_choices(subtest: Subtest, request: Request) -> Plan:
    """Return what `compose_choices` would store. AnnotationError: not a subtest for these items, or no such source."""
    project = subtest.project
    if not 0 <= request.seed <= MAX_SEED or (request.limit is not None and request.limit < 1):
        raise AnnotationError(_("The seed must be 0 or more, and the limit 1 or more. Change the number."))
    plan = Plan(
        source_named(project, request.random, unreviewed=request.unreviewed),
        source_named(project, request.hard, unreviewed=request.unreviewed) if request.hard else None,
    )
    _check(subtest, plan)
    source_items, removed = random_items(plan.random, subtest.foils_per_item)
    if not source_items:
        raise AnnotationError(
            _("%(source)s has no random captions to use. Make Random items first, or choose another source.")
            % {"source": quoted(request.random)}
        )
    options = hard_options(plan.hard) if plan.hard else None
    if options is not None and not options:
        raise AnnotationError(
            _("%(source)s has no foils to use. Accept foils in review first, or include unreviewed candidates.")
            % {"source": quoted(request.hard)}
        )
    if removed > 0:
        plan.left_out[Why.NOT_LIVE] = removed
    composed = []
    for item in source_items:
        own = None if options is None else options.get(item.caption_id, [])
        result = compose(item, own, n_foils=subtest.foils_per_item, seed=request.seed)
        if isinstance(result, Composed):
            composed.append(result)
        else:
            plan.left_out[result] += 1
    _without_existing(subtest, sample(composed, request.limit, request.seed), plan)
    return plan


def _check(subtest: Subtest, plan: Plan) -> None:
    fewest = 2 if plan.hard else 1
    if subtest.kind != Subtest.Kind.MAIN or subtest.foils_per_item < fewest:
        raise AnnotationError(
            _(
                "%(name)s has %(n)s foils per item. Choose a main subtest with at least %(fewest)s; the contrast sets "
                "have 4: one hard foil and three random captions."
            )
            % {"name": subtest.name, "n": subtest.foils_per_item, "fewest": fewest}
        )
    own = [source for source in (plan.random, plan.hard) if source and not source.run and source.subtest == subtest]
    if own:
        raise AnnotationError(
            _("%(name)s cannot be the source of its own items. Choose another subtest.") % {"name": subtest.name}
        )


def _without_existing(subtest: Subtest, composed: Sequence[Composed], plan: Plan) -> None:
    """Put into the plan the items that the subtest lacks. Items keep their key, whatever became of them since."""
    rows = Item.objects.filter(subtest=subtest).values_list("key", "facts__composed__random")
    stored_names = dict(rows)
    for composed_item in composed:
        if composed_item.source.key not in stored_names:
            plan.new.append(composed_item)
        elif stored_names[composed_item.source.key] == composed_item.source.name:
            plan.existing += 1
        else:
            plan.left_out[Why.KEY_TAKEN] += 1


def compose_choices(person: User | None, subtest: Subtest, request: Request) -> dict[str, Any]:
    """Store the composed items that the subtest lacks, in one transaction; `person` None is the operator.

    Return {"composed": number, "existing": number, "left_out": {why: number}, "items": [...]}. AccessDenied;
    AnnotationError as `plan_choices`.
    """
    require_researcher(person, subtest.project)
    return run_in_transaction(lambda: _compose(person, subtest, request))


def _compose(person: User | None, subtest: Subtest, request: Request) -> dict[str, Any]:
    serialize_writes(subtest.project)
    plan = plan_choices(subtest, request)
    votes, now = refresh_rule(subtest), timezone.now()
    for start in range(0, len(plan.new), BATCH):
        _store(person, subtest, plan, request, start, votes, now)
    result = result_of(plan, request)
    if plan.new:
        details = {name: result[name] for name in ("random", "hard", "seed", "composed", "left_out")}
        audit.record(audit.event(subtest.project, person, "annotation.compose_choices", subtest, **details))
    return result


def result_of(plan: Plan, request: Request) -> dict[str, Any]:
    """Return the plan as numbers and texts."""
    rows = [
        {
            "key": composed_item.source.key,
            "video": composed_item.source.clip,
            "caption": composed_item.source.caption,
            "foils": list(composed_item.foils),
            "hard_foil": composed_item.replaced,
        }
        for composed_item in plan.new
    ]
    return {**plan.counts, "seed": request.seed, "composed": len(rows), "items": rows}


def _store(
    person: User | None, subtest: Subtest, plan: Plan, request: Request, start: int, votes: int, now: datetime
) -> None:
    """Store one batch: items, foils, the involvement of those who made the hard foils, audit rows."""
    batch = plan.new[start : start + BATCH]
    captions = Caption.objects.in_bulk([composed_item.source.caption_id for composed_item in batch])
    hard = plan.hard.subtest.name if plan.hard else ""
    marked = partial(facts_of, random=plan.random.subtest.name, hard=hard, seed=request.seed)
    state, verdict = first_item_state(votes), FoilVerdict.PENDING if votes else FoilVerdict.VALID
    items = Item.objects.bulk_create(
        Item(
            project=subtest.project,
            subtest=subtest,
            video_id=composed_item.source.video_id,
            caption_id=composed_item.source.caption_id,
            proficiency_item=proficiency_item(subtest, captions[composed_item.source.caption_id]),
            key=composed_item.source.key,
            state=state,
            decided_at=now if state == ItemState.VALID else None,
            facts={**_copied(captions[composed_item.source.caption_id].facts), **marked(composed_item)},
        )
        for composed_item in batch
    )
    Foil.objects.bulk_create(
        Foil(item=item, position=position, text=text, text_sha256=_sha256(text), verdict=verdict)
        for item, composed_item in zip(items, batch, strict=True)
        for position, text in enumerate(composed_item.foils)
    )
    _involve(subtest, batch)
    audit.record_many(
        audit.event(
            subtest.project, person, "annotation.compose_item", item, to_state=state, **(item.facts or {})[COMPOSED]
        )
        for item in items
    )


def _copied(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if name not in NOT_COPIED}


def _involve(subtest: Subtest, batch: Sequence[Composed]) -> None:
    """Carry over who made or reviewed the hard foils: they cannot judge the new items either.

    An item without a candidate group has the involvement of its video.
    """
    groups = {composed_item.hard.group for composed_item in batch if composed_item.hard and composed_item.hard.group}
    rows = Involvement.objects.filter(group__in=groups, kind__in=KINDS).values_list("person", "video", "kind")
    Involvement.objects.bulk_create(
        (
            Involvement(project=subtest.project, person_id=person, video_id=video, kind=kind)
            for person, video, kind in rows.distinct()
        ),
        ignore_conflicts=True,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


JOB = "choices.compose"


@transaction.atomic
def ask_for_choices(person: User, subtest: Subtest, request: Request) -> Job:
    """Queue the job that composes the items.

    AnnotationError: as `plan_choices`, there is nothing new to compose, or such a job of the project is still active.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    if jobs_of(project).filter(state__in=OPEN_STATES).exists():
        raise AnnotationError(_("Items are being composed already. Wait until the job is done."))
    if not plan_choices(subtest, request).new:
        raise AnnotationError(_("There is nothing new to compose. The preview shows why captions are left out."))
    job = enqueue(JOB, subtest.pk, title=_("Composing items"), project_id=project.pk)
    job.payload = asdict(request)
    job.save(update_fields=["payload"])
    audit.record(audit.event(project, person, "annotation.ask_for_choices", subtest, **job.payload))
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the project's jobs that compose items, newest first."""
    return Job.objects.filter(project_id=project.pk, dotted__in=stored_names(JOB)).order_by("-created_at")
