"""Store how a project is published: its citation and the licences of its sources."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Video
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.documents.models import PublicationFacts, SourceLicence

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
