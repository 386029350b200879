"""Describe what happened to an item, from the foil that a method generated to the last vote."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.messages import REASONS, SETTLED
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import current_word
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.core.projects.pseudonyms import pseudonym
from generation.candidate_history import CANDIDATE_WORDS
from generation.models import Candidate

# The votes show who judged what, under pseudonyms; the history must not reveal the names.
JUDGED = frozenset({"vote", "recount"})

ITEM_WORDS: dict[str, str | Promise] = {
    "assemble": _("The item was created from its accepted foils."),
    "import": _("The item was imported."),
    "vote": _("A vote was added."),
    "take_publishers_word": _("The item counts as valid because it was imported as published."),
    "collect_votes": _("The item was queued for validation. It counts as valid until validators decide."),
    "recount": _("A vote was removed, so the item waits for votes again."),
    "ask_again": _("New validators were asked to judge the item. Earlier votes no longer count."),
    "adjudicate": _("The disputed item was decided."),
    "requeue": _("The foils were returned to editing."),
    "retract": _("The item was retracted."),
    "restore": _("The item was restored."),
    "undo_adjudicate": _("The decision was undone. The item is disputed again."),
    "undo_requeue": _("The return to editing was undone. The item is invalid again."),
    "undo_retract": _("The retraction was undone."),
    "undo_restore": _("The restoration was undone. The item is retracted again."),
    "recaption": _("The caption was corrected. This item remains as a record of its votes."),
    "drop_with_video": _("The item was retracted together with its video."),
    "take_apart": _("The item was removed because a review or submission was undone."),
}
WORDS = {"corpus.item": ITEM_WORDS, "generation.candidate": CANDIDATE_WORDS}


@dataclass(frozen=True)
class HistoryEvent:
    """One audit row in words. `candidate_text`: that of the foil that it is about, if any."""

    at: datetime
    who: str
    words: str | Promise
    from_state: str
    to_state: str
    reason: str | Promise
    candidate_text: str = ""


def history_of(project: Project, item: Item, candidates: Iterable[Candidate]) -> list[HistoryEvent]:
    """Return the audit rows of the item, its foils, their candidates with sources, and their group; in order."""
    texts = {str(candidate.pk): candidate.text for candidate in candidates}
    groups = {str(candidate.group_id) for candidate in candidates}
    foils = [str(pk) for pk in item.foils.values_list("pk", flat=True)]
    rows = AuditEvent.objects.filter(
        Q(target_type="corpus.item", target_id=str(item.pk))
        | Q(target_type="generation.candidate", target_id__in=texts)
        | Q(target_type="corpus.foil", target_id__in=foils)
        | Q(target_type="generation.candidategroup", target_id__in=groups)
    )
    return [_describe_event(project, event, texts) for event in rows.select_related("actor").order_by("pk")]


def _describe_event(project: Project, event: AuditEvent, texts: dict[str, str]) -> HistoryEvent:
    if event.actor is None:
        person_name = ""
    elif event.target_type == "corpus.item" and event.action in JUDGED:
        person_name = pseudonym(project, event.actor.pk)
    else:
        person_name = event.actor.get_username()
    states = current_word(event.from_state), current_word(event.to_state)
    words = WORDS.get(event.target_type, {}).get(event.action, event.action.replace("_", " "))
    candidate_text = texts.get(event.target_id, "") if event.target_type == "generation.candidate" else ""
    reason = REASONS.get(event.reason) or SETTLED.get(event.reason) or event.reason
    return HistoryEvent(event.at, person_name, words, *states, reason, candidate_text)
