"""A researcher changes how people work: rules of the work, guidelines, pay, shares that reviewers see, vote rules."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import (
    Guideline,
    PayEntry,
    PayPolicy,
    PayRate,
    ReviewPolicy,
    ReviewRate,
    Slot,
    Stage,
    Task,
    TaskState,
)
from annotation.queries.guidelines import work_under_version
from annotation.queries.paid_work import PAID, rates_of
from annotation.queries.work_rules import why_fixed, why_scope_fixed
from annotation.rules.guidelines import MAX_CHARACTERS
from annotation.rules.pay import Rate
from annotation.rules.voting import VoteRule, rule_in_force
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.forms import MAX_PER_ITEM
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import or_404, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_SETTINGS, refuse_published
from foilworks.core.projects.models import CrowdPlace, Membership, PlaceState, Project, Role, User

FIELDS = (
    "votes_wanted",
    "votes_needed",
    "valid_when",
    "foils_enough",
    "stop_early",
    "full_share",
    "votes_max",
    "skilled_first",
)


@dataclass(frozen=True)
class WorkRules:
    """`leakage_scope`: what a person who worked on a foil cannot judge. Times in seconds."""

    leakage_scope: str
    judge_caption_once: bool
    lease_seconds: int
    undo_seconds: int


def rules_of(project: Project) -> WorkRules:
    return WorkRules(project.leakage_scope, project.judge_caption_once, project.lease_seconds, project.undo_seconds)


def set_work_rules(person: User, project: Project, rules: WorkRules) -> Project:
    """Store the rules; they apply to tasks that people get from now on.

    AnnotationError for a value out of range, and for another scope after somebody has seen or judged a pair: people who
    judged under the old scope could be people whom the new one excludes.
    """
    require_role(person, project, Role.RESEARCHER)
    refuse_published(person, NO_SETTINGS)
    return run_in_transaction(lambda: _store_work_rules(person, project, rules))


def _store_work_rules(person: User, unlocked_project: Project, rules: WorkRules) -> Project:
    serialize_writes(unlocked_project)
    project = or_404(Project.objects.filter(pk=unlocked_project.pk, deleted_at=None).first(), _("Project not found."))
    before = rules_of(project)
    if rules == before:
        return project
    if rules.leakage_scope != before.leakage_scope and (why := why_scope_fixed(project)):
        raise AnnotationError(why)
    for name, value in asdict(rules).items():
        setattr(project, name, value)
    try:
        project.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    project.save(update_fields=list(asdict(rules)))
    audit.record(audit.event(project, person, "set_work_rules", project, before=asdict(before), rules=asdict(rules)))
    return project


def publish_guideline(
    person: User, project: Project, stage: str, text: str, *, subtest: Subtest | None = None
) -> Guideline:
    """Publish the next version for the stage, or for one of its subtests; new work is stored with it.

    AnnotationError for an unknown stage, an empty text, or a subtest of another project.
    """
    require_role(person, project, Role.RESEARCHER)
    if stage not in Stage.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(Stage.values)})
    if not text.strip() or "\x00" in text:
        raise AnnotationError(_("Write the guidelines before you publish them."))
    if len(text) > MAX_CHARACTERS:
        raise AnnotationError(
            _("The guidelines are longer than %(most)s characters. Shorten them.") % {"most": MAX_CHARACTERS}
        )
    if subtest is not None and subtest.project_id != project.pk:
        raise AnnotationError(_("This subtest belongs to another project. Choose one from this project."))
    return run_in_transaction(lambda: _publish(person, project, stage, text.strip(), subtest))


def _publish(person: User, project: Project, stage: str, text: str, subtest: Subtest | None) -> Guideline:
    versions = Guideline.objects.filter(project=project, stage=stage, subtest=subtest)
    newest = versions.order_by("-version").first()
    if newest is not None and newest.text == text:
        raise AnnotationError(_("The text is the same as the current version. Change it before you publish."))
    last = newest.version if newest else 0
    n_begun = work_under_version(project, stage, subtest)
    guideline = Guideline.objects.create(
        project=project, stage=stage, subtest=subtest, version=last + 1, text=text, created_by=person
    )
    audit.record(
        audit.event(project, person, "publish_guideline", guideline, to_state=str(guideline.version), begun=n_begun)
    )
    return guideline


def set_pay(
    person: User,
    project: Project,
    *,
    currency: str,
    floor: Decimal | None,
    rates: Mapping[str, Rate],
    now: datetime | None = None,
) -> PayPolicy:
    """Store currency, minimum and rates by stage; a stage without a rate earns nothing.

    Rates hold for what is submitted from now on; people in a crowd study keep those of their entry. AnnotationError
    for a rate of a stage that cannot be paid, an unknown unit, a negative amount, no currency, or another currency
    than that of work that was already paid or is promised to people in crowd studies.
    """
    require_role(person, project, Role.RESEARCHER)
    if not set(rates) <= set(PAID):
        raise AnnotationError(
            _("This stage cannot be paid. Choose edits, reviews, judgements, choices or object checks.")
        )
    policy = PayPolicy(project=project, currency=currency, floor=floor)
    return run_in_transaction(lambda: _store_pay(person, policy, rates, now or timezone.now()))


def _store_pay(person: User, policy: PayPolicy, rates: Mapping[str, Rate], now: datetime) -> PayPolicy:
    project, currency, floor = policy.project, policy.currency, policy.floor
    serialize_writes(project)
    before, stored = rates_of(project), PayPolicy.objects.filter(project=project).first()
    policy.pk = stored and stored.pk
    if PayEntry.objects.filter(project=project, rate__isnull=False).exclude(currency=currency).exists():
        raise AnnotationError(_("Work was already paid in another currency. Keep it, or start a new project."))
    promised = CrowdPlace.objects.filter(study__project=project, study__stage__in=before, state=PlaceState.ACTIVE)
    if stored and stored.currency != currency and promised.exists():
        text = _("People in crowd studies were promised pay in %(currency)s. Keep it until they have finished.")
        raise AnnotationError(text % {"currency": stored.currency})
    rows = [
        PayRate(project=project, stage=stage, unit=rate.unit, amount=rate.amount, since=now)
        for stage, rate in rates.items()
        if before.get(stage) != rate
    ]
    ended = [
        PayRate(project=project, stage=stage, unit=rate.unit, since=now)
        for stage, rate in before.items()
        if stage not in rates
    ]
    try:
        policy.clean_fields(exclude=["project"])
        for row in rows:
            row.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    policy.save()
    PayRate.objects.bulk_create([*rows, *ended])
    rates_in_words = {stage: f"{rate.amount} per {rate.unit}" for stage, rate in sorted(rates.items())}
    audit.record(
        audit.event(
            project, person, "set_pay", policy, currency=currency, floor=floor and str(floor), rates=rates_in_words
        )
    )
    return policy


def set_review_sampling(
    person: User,
    project: Project,
    *,
    rate: float,
    second_share: float,
    own_rates: Mapping[int, float] | None = None,
    now: datetime | None = None,
) -> ReviewPolicy:
    """Store both shares (0..1) and annotators' own rates by id; other annotators use the project's.

    Applies to what is submitted and decided from now on. AnnotationError for a share out of range, or a person who is
    not an annotator here.
    """
    require_role(person, project, Role.RESEARCHER)
    rates = dict(own_rates or {})
    if not all(0.0 <= share <= 1.0 for share in (rate, second_share, *rates.values())):
        raise AnnotationError(_("A share must be between 0 and 100 %."))
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR, person__in=rates)
    if members.count() != len(rates):
        raise AnnotationError(_("A person in the list is no longer an annotator of this project. Reload the page."))
    return run_in_transaction(
        lambda: _store_review_sampling(person, project, rate, second_share, rates, now or timezone.now())
    )


def _store_review_sampling(
    person: User, project: Project, rate: float, second_share: float, rates: dict[int, float], now: datetime
) -> ReviewPolicy:
    shares = {"rate": rate, "second_share": second_share}
    policy, _made = ReviewPolicy.objects.update_or_create(project=project, defaults=shares)
    ReviewRate.objects.filter(project=project).exclude(person__in=rates).delete()
    for annotator, own in rates.items():
        ReviewRate.objects.update_or_create(project=project, person_id=annotator, defaults={"rate": own})
    own_rates = {str(annotator): own for annotator, own in sorted(rates.items())}
    audit.record(audit.event(project, person, "set_review_shares", policy, **shares, own_rates=own_rates))
    return policy


def set_vote_rule(person: User, subtest: Subtest, rule: VoteRule) -> Subtest:
    """Store the rule, and give every waiting pair the slots that it requires.

    AnnotationError if a pair of the subtest was already shown, voted on or decided (a rule chosen after its results
    proves nothing), for a rule that no vote can satisfy, and for no votes while items wait for some.
    """
    require_role(person, subtest.project, Role.RESEARCHER)
    if rule.needed > rule.wanted:
        raise AnnotationError(
            _("The required votes are more than the votes per pair. Lower this number or raise the votes per pair.")
        )
    if not 0 <= rule.needed <= rule.wanted <= MAX_PER_ITEM or not 1 <= rule.pairs_enough <= MAX_PER_ITEM:
        message = _("Set 0 to %(most)d votes per pair and a minimum of 1 to %(most)d valid pairs.")
        raise AnnotationError(message % {"most": MAX_PER_ITEM})
    if not 0.0 <= rule.full_share <= 1.0:
        raise AnnotationError(_("Set the share of items judged in full to a number from 0 to 1."))
    if rule.most and not rule.wanted < rule.most <= MAX_PER_ITEM:
        message = _("Set the max. votes of a pair to 0, or to a number above %(wanted)d and at most %(most)d.")
        raise AnnotationError(message % {"wanted": rule.wanted, "most": MAX_PER_ITEM})
    return run_in_transaction(lambda: _store_vote_rule(person, subtest, rule))


def _store_vote_rule(person: User, unlocked_subtest: Subtest, rule: VoteRule) -> Subtest:
    # The project first, as imports and make_tasks do; a writer that makes an item of the subtest locks it, too.
    serialize_writes(unlocked_subtest.project)
    subtest = Subtest.objects.select_related("project").select_for_update(of=("self",)).get(pk=unlocked_subtest.pk)
    slots = Slot.objects.filter(item__subtest=subtest, stage=Stage.VALIDATION).order_by("pk")
    # A parallel claim either gets its slot and is seen below, or finds it gone.
    list(slots.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    if why := why_fixed(subtest):
        raise AnnotationError(why)
    if not rule.wanted and subtest.items.exists():
        raise AnnotationError(
            _("Items of this subtest are waiting for votes. Require at least one vote, or create another subtest.")
        )
    before = rule_in_force(subtest)
    subtest.votes_wanted, subtest.votes_needed = rule.wanted, rule.needed
    subtest.valid_when = Subtest.ValidWhen.ALL if rule.all_pairs else Subtest.ValidWhen.ENOUGH
    subtest.foils_enough, subtest.stop_early = rule.pairs_enough, rule.stop_early
    subtest.full_share, subtest.votes_max = rule.full_share, rule.most
    subtest.skilled_first = rule.skilled_first
    subtest.save(update_fields=FIELDS)
    open_tasks = Task.objects.filter(item__subtest=subtest, stage=Stage.VALIDATION, state=TaskState.OPEN)
    n_pairs = task_slots.give_slots(open_tasks, rule.wanted)
    task_slots.draw_in_full(open_tasks, subtest.project, rule.full_share)
    details = {"before": asdict(before), "rule": asdict(rule), "pairs": n_pairs}
    audit.record(audit.event(subtest.project, person, "set_vote_rule", subtest, **details))
    return subtest
