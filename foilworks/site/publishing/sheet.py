"""Compute the datasheet answers that the numbers of a project's newest release give, for the form."""

from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Count, Sum

from annotation.models import Vote, VoteState
from evaluation.analyses import validation
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.releases.withheld import withheld_of
from foilworks.core.corpus.export_formats.parts.documents import own_answers as answers_of
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.models import Item, Release
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.projects.models import Project
from foilworks.site.documents.models import SourceLicence
from foilworks.site.documents.release_documents import (
    citation_of,
    known_of,
    own_tables,
    pay_statement,
    release_documents,
)
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.recomputed import item_facts_of

KIND = "datasheet"
VERSION = "2"


def own_answers(project: Project) -> tuple[Release | None, dict[str, str]]:
    """Return (the newest release, answer by question); ({}) without a release. A fixed number of queries once cached.

    Cached by the release, its description and the state of its project; later scores are in the datasheet of an export.
    """
    release = Release.objects.filter(project=project).select_related("project").order_by("-pk").first()
    if release is None:
        return None, {}

    def make() -> dict[str, str]:
        answers = answers_of(facts_of(content_for_answers(release)))
        return {slug: "\n".join(lines) for slug, lines in answers.items()}

    return release, cached_by_fingerprint(
        project, KIND, str(release.pk), digest([VERSION, *made_from(release)]), make, in_memory=False
    )


def content_for_answers(release: Release) -> ReleaseContent:
    """Return the release with its documents, and only those reports that answer the datasheet."""
    content = collect_release(release, tables=False)
    content = replace(content, tables=_tables(release, content))
    return replace(content, papers=release_documents(release, content))


def made_from(release: Release) -> list[Any]:
    """Return the inputs of the answers, in addition to the frozen records."""
    project = release.project
    terms = SourceLicence.objects.filter(project=project).order_by("pk")
    counted = Vote.objects.filter(item__subtest__project=project, state=VoteState.COUNTED)
    states = Item.objects.filter(subtest__project=project).order_by("state").values_list("state")
    return [
        release.content_hash,
        asdict(citation_of(project)),
        list(terms.values_list("source_dataset", "licence", "url", "notes")),
        known_of(release),
        sorted(withheld_of(release)),
        pay_statement(project),
        # The sum changes if one vote is excluded and another one reinstated.
        counted.aggregate(n=Count("pk"), sum=Sum("pk")),
        list(states.annotate(n=Count("pk"))),
    ]


def _tables(release: Release, content: ReleaseContent) -> dict[str, Any]:
    """Return the tables of an export that answers read; alpha without its interval, which they do not use."""
    tables = own_tables(release, ())
    with suppress(EvaluationError):  # no item exists any more
        tables["validation"] = validation.compute(item_facts_of(content.items, content.votes), draws=1)
    return {name: table for name, table in tables.items() if table is not None}
