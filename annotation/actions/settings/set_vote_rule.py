"""A researcher changes the vote rule of a subtest before anybody has seen one of its pairs."""

from dataclasses import asdict

from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import Slot, Stage, Task, TaskState
from annotation.queries.vote_rules import why_fixed
from annotation.rules.voting import VoteRule, rule_in_force
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.forms import MAX_PER_ITEM
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User

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
    return run_in_transaction(lambda: _set(person, subtest, rule))


def _set(person: User, unlocked_subtest: Subtest, rule: VoteRule) -> Subtest:
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
