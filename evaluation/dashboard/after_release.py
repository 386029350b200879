"""What is left to do once something is released: the datasheet, an export, a public page."""

from dataclasses import dataclass

from corpus.exporters.parts.datasheet_questions import QUESTIONS
from corpus.models import Release
from evaluation.cached_results.cache import find_result
from evaluation.dashboard.stored_count import SMALL, is_small
from evaluation.documents.models import DatasheetAnswer
from evaluation.publishing.models import PublicPage
from evaluation.publishing.sheet import KIND, own_answers
from projects.models import Project


@dataclass(frozen=True)
class AfterRelease:
    """`n_open`: questions of the datasheet that nothing answers; None where its numbers are yet to be read."""

    release: Release
    n_open: int | None
    has_page: bool


def after_release(project: Project) -> AfterRelease | None:
    """Of the newest release; None where nothing is left to do. A few queries.

    What the numbers of a large release, or of a small one of a large project, answer is read by its datasheet's own
    page, not by a look at the overview, which takes what that page read last: it changes with every vote.
    """
    release = Release.objects.filter(project=project).order_by("-pk").first()
    if release is None:
        return None
    has_page = PublicPage.objects.filter(release__project=project, is_open=True).exists()
    n_open = _open_questions(project, release)
    return AfterRelease(release, n_open, has_page) if n_open or not has_page else None


def _open_questions(project: Project, release: Release) -> int | None:
    if release.n_items > SMALL or not is_small(project):
        sheet = find_result(project, KIND, str(release.pk))
        if sheet is None:
            return None
        own = sheet.data
    else:
        _release, own = own_answers(project)
    said = {
        slug
        for slug, text in DatasheetAnswer.objects.filter(project=project).values_list("question", "text")
        if text.strip()
    }
    asked = {slug for slug in QUESTIONS if not slug.endswith(".comments")}
    return len(asked - said - own.keys())
