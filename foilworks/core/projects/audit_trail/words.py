"""Say what an audit row records: its action in words, and the page of what it is about."""

from django.db.models import Q, QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import AuditEvent, Project
from foilworks.core.projects.pseudonyms import pseudonym

# Researchers read judgements under pseudonyms (docs/explanation/votes.md), so no row may name a judge.
JUDGEMENTS = frozenset({"annotation.vote"})
OF_ITEMS_BY_JUDGES = frozenset({"vote", "recount"})
# Rows of tasks have no name at all: beside the named row of an edit, a pseudonym would say whose it is.
UNNAMED = frozenset({"annotation.slot"})
KINDS: dict[str, str | Promise] = {
    "corpus.item": _("item"),
    "corpus.foil": _("foil"),
    "corpus.caption": _("caption"),
    "corpus.video": _("video"),
    "corpus.subtest": _("subtest"),
    "corpus.release": _("release"),
    "generation.candidate": _("candidate"),
    "generation.generationrun": _("generation run"),
    "evaluation.run": _("scoring run"),
    "evaluation.biasrun": _("bias run"),
    "evaluation.descriptions": _("frame descriptions"),
    "evaluation.benchmarkedmodel": _("model on splits"),
    "evaluation.teachertraining": _("training"),
    "evaluation.studentevaluation": _("evaluation of a training"),
    "evaluation.publicpage": _("public page"),
    "evaluation.cachedresult": _("report"),
    "annotation.slot": _("task"),
    "annotation.edit": _("edit"),
    "annotation.review": _("review"),
    "annotation.vote": _("vote"),
    "annotation.guideline": _("guideline"),
    "annotation.itemcomment": _("comment"),
    "annotation.goldpair": _("gold pair"),
    "annotation.paypolicy": _("pay rates"),
    "annotation.practicecaption": _("practice caption"),
    "annotation.reviewpolicy": _("review sampling"),
    "generation.captionrun": _("caption run"),
    "generation.selection": _("balanced selection"),
    "generation.tuning": _("tuned model"),
    "evaluation.modelcard": _("model card"),
    "projects.consenttext": _("consent text"),
    "projects.crowdplace": _("place in a crowd study"),
    "projects.crowdstudy": _("crowd study"),
    "annotation.qualitypolicy": _("rules of quality"),
    "annotation.standing": _("validator"),
    "evaluation.import": _("import"),
    "evaluation.itemreport": _("report of an item"),
    "evaluation.publicationfacts": _("citation and licences"),
    "evaluation.submission": _("submitted scores"),
    "projects.user": _("member"),
    "projects.membership": _("membership"),
    "projects.apitoken": _("token"),
    "projects.invitation": _("invitation"),
    "projects.webhook": _("webhook"),
    "projects.project": _("project"),
}
COMMENT = "annotation.itemcomment"
# The page of a row, by the kind of row: a view that takes the project and the number of the row.
PAGES = {
    "corpus.item": "items:item",
    "corpus.video": "corpus:video",
    "corpus.release": "releases:release",
    "generation.candidate": "generation:candidate",
    "generation.generationrun": "generation:run",
    "evaluation.run": "scoring:run",
    "evaluation.import": "imports:import",
    "projects.user": "annotation:member",
    "projects.webhook": "projects:webhook",
    "evaluation.biasrun": "utd:bias_run",
    "evaluation.descriptions": "utd:bias_descriptions",
    "evaluation.teachertraining": "teacher:teacher_training",
}


def action_words(action: str) -> str:
    """Return the action as words: `evaluation.freeze_release` is "freeze release"."""
    return action.rpartition(".")[2].replace("_", " ")


def kind_words(target_type: str) -> str | Promise:
    return KINDS.get(target_type, target_type.rpartition(".")[2])


def target_page(project: Project, event: AuditEvent) -> str:
    """Return the address of the row's page, or an empty string if it has none."""
    name, number = PAGES.get(event.target_type), event.target_id
    if event.target_type == COMMENT:
        name, number = PAGES["corpus.item"], str(event.details.get("item", ""))
    if name is None or not number.isdecimal():
        return ""
    try:
        return reverse(name, args=[project.slug, int(number)])
    except NoReverseMatch:
        return ""


def is_judgement(event: AuditEvent) -> bool:
    return event.target_type in JUDGEMENTS or (
        event.target_type == "corpus.item" and event.action in OF_ITEMS_BY_JUDGES
    )


def actor_name(project: Project, event: AuditEvent) -> str:
    """Return who did it: a username; a pseudonym for judgements; empty for the system, and for leases of tasks."""
    if event.actor is None or event.target_type in UNNAMED:
        return ""
    return pseudonym(project, event.actor.pk) if is_judgement(event) else event.actor.get_username()


def without_judges(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """Return the rows that name their actor: what a search for a person may find."""
    judged = Q(target_type__in=JUDGEMENTS | UNNAMED) | Q(target_type="corpus.item", action__in=OF_ITEMS_BY_JUDGES)
    return events.exclude(judged)
