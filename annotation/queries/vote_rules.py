"""The vote rule of a subtest: the rule in force, and whether it can still change."""

from dataclasses import replace

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Lease, Stage, Vote
from annotation.rules.voting import VoteRule, rule_in_force
from foilworks.core.corpus.models import PUBLISHERS_WORD, Item, Subtest
from foilworks.core.corpus.rules.states import ItemState

# Without a vote, an item waits or was retracted.
UNDECIDED = (ItemState.IN_VALIDATION, ItemState.RETRACTED)


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
