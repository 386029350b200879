"""What the numbers of a project's newest release answer to the questions of its datasheet, for the form beside them."""

from dataclasses import asdict, replace

from corpus.exporters._sheet_answers import ANSWERS
from corpus.models import Release
from evaluation.exchange.collect import collect_release
from evaluation.kept import digest, kept
from evaluation.publishing.papers import citation_of, papers_of
from evaluation.publishing.tables import SourceLicence
from projects.models import Project

KIND = "datasheet"
VERSION = "2"


def own_answers(project: Project) -> tuple[Release | None, dict[str, str]]:
    """(the newest release, answer by question); ({}) where nothing is released. Few queries once it is kept.

    Kept by the release and what was said of it: later scores stand in the datasheet of an export.
    """
    release = Release.objects.filter(project=project).select_related("project").order_by("-pk").first()
    if release is None:
        return None, {}

    def make() -> dict[str, str]:
        content = collect_release(release, tables=False)
        content = replace(content, papers=papers_of(release, content))
        found = {slug: "\n".join(answer(content)).strip() for slug, answer in ANSWERS.items()}
        return {slug: text for slug, text in found.items() if text}

    terms = SourceLicence.objects.filter(project=project).order_by("pk")
    stated = terms.values_list("source_dataset", "licence", "url", "notes")
    parts = [VERSION, release.content_hash, asdict(citation_of(project)), list(stated), project.consent_version]
    return release, kept(project, KIND, str(release.pk), digest(parts), make)
