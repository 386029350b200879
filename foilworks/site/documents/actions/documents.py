"""Store answers of the datasheet; one that somebody else changed in the meantime is not overwritten.

Store how a project is published: its citation and the licences of its sources.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS
from foilworks.core.corpus.models import Video
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence, answer_version

MAX_ANSWER_LENGTH = 5_000


class ChangedMeanwhileError(EvaluationError):
    """Answers differ from what the form was filled with. `stored`: their present texts by question."""

    def __init__(self, stored: Mapping[str, str]) -> None:
        words = _("Somebody changed this answer after you opened the page. Compare both texts, then save again.")
        super().__init__(words)
        self.stored = stored


@transaction.atomic
def answer_datasheet(
    person: User, project: Project, answers: Mapping[str, str], seen: Mapping[str, str] | None = None
) -> int:
    """Store the answers by question, delete empty ones, and return how many changed.

    `seen`: by question, the version of the answer that the person saw (`models.answer_version`); a question without
    one is not compared. AccessDenied without the researcher's role; EvaluationError for an unknown question, or a text
    that is too long; ChangedMeanwhileError, and nothing is stored, if a stored answer has another version.
    """
    require_role(person, project, Role.RESEARCHER)
    # Two people who answer one question are served one after the other, even before it has a row.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    stored = dict(DatasheetAnswer.objects.filter(project=project).values_list("question", "text"))
    texts = {slug: text.strip().replace("\r\n", "\n") for slug, text in answers.items()}
    for slug, said in texts.items():
        _check(slug, said)
    changed = {slug: said for slug, said in texts.items() if said != stored.get(slug, "")}
    _refuse_stale(changed, stored, seen or {})
    for slug, said in changed.items():
        if said:
            values = {"text": said, "changed_by": person}
            DatasheetAnswer.objects.update_or_create(project=project, question=slug, defaults=values)
        else:
            DatasheetAnswer.objects.filter(project=project, question=slug).delete()
    if changed:
        audit.record(audit.event(project, person, "evaluation.answer_datasheet", project, questions=list(changed)))
    return len(changed)


def _check(slug: str, said: str) -> None:
    if slug not in QUESTIONS:
        raise EvaluationError(f"the datasheet has no question {quoted(slug)}")
    if len(said) > MAX_ANSWER_LENGTH:
        most = MAX_ANSWER_LENGTH
        raise EvaluationError(_("An answer can have at most %(most)d characters. Shorten it.") % {"most": most})


def _refuse_stale(changed: Mapping[str, str], stored: Mapping[str, str], seen: Mapping[str, str]) -> None:
    found = {slug: stored.get(slug, "") for slug in changed}
    stale = {slug: text for slug, text in found.items() if slug in seen and answer_version(text) != seen[slug]}
    if stale:
        raise ChangedMeanwhileError(stale)


FACTS = ("title", "authors", "abstract", "year", "doi", "url", "licence", "licence_url", "contact")
TERMS = ("licence", "url", "notes", "may_show")


def sources_in(project: Project) -> list[str]:
    """Return the data sets that videos of the project name, "" if some name none. One query."""
    rows = Video.objects.filter(project=project).order_by("source_dataset")
    return list(rows.values_list("source_dataset", flat=True).distinct())


@transaction.atomic
def describe_publication(
    person: User, project: Project, facts: Mapping[str, Any], sources: Iterable[Mapping[str, Any]]
) -> PublicationFacts:
    """Store the citation of releases and the terms of the sources; `sources` have `source_dataset` and TERMS.

    AccessDenied without the researcher's role; EvaluationError for a source that no video of the project names.
    """
    require_role(person, project, Role.RESEARCHER)
    changed = _changed(PublicationFacts.objects.filter(project=project).first(), facts, FACTS)
    row, _made = PublicationFacts.objects.update_or_create(
        project=project, defaults={name: facts[name] for name in FACTS}
    )
    known, shown = set(sources_in(project)), []
    for terms in sources:
        name = terms["source_dataset"]
        if name not in known:
            raise EvaluationError(_("No video in this project is from “%(name)s”. Reload the page.") % {"name": name})
        stated = {each: terms[each] for each in TERMS}
        held = SourceLicence.objects.filter(project=project, source_dataset=name).first()
        changed += [each for each in _changed(held, stated, TERMS) if each not in changed]
        SourceLicence.objects.update_or_create(project=project, source_dataset=name, defaults=stated)
        shown += [name] if terms["may_show"] else []
    details = {"changed": changed, "may_show": shown}
    audit.record(audit.event(project, person, "evaluation.describe_publication", row, **details))
    return row


def _changed(held: models.Model | None, said: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the names of the fields that get another value; the values may name people, so no row holds them."""
    return [name for name in names if (getattr(held, name, None) or "") != (said[name] or "")]
