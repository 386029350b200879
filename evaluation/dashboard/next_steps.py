"""Choose the next steps of a project: at its start, and after a release."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from corpus.exporters.parts.datasheet_questions import QUESTIONS
from corpus.models import Release
from evaluation.cached_results.cache import find_result
from evaluation.dashboard.stored_count import SMALL, is_small
from evaluation.documents.models import DatasheetAnswer
from evaluation.publishing.models import PublicPage
from evaluation.publishing.sheet import KIND, own_answers
from projects.models import Project, Role

Words = str | Promise
PEOPLE = "projects:invitations"
MISSING = {
    Role.ANNOTATOR: ngettext_lazy("an annotator", "%(n)d annotators", "n"),
    Role.REVIEWER: ngettext_lazy("a reviewer", "%(n)d reviewers", "n"),
    Role.VALIDATOR: ngettext_lazy("%(n)d validator", "%(n)d validators", "n"),
}
# (title, reason, page, label of the button, counts that show that it is done)
STEPS: tuple[tuple[Words, Words, str, Words, tuple[str, ...]], ...] = (
    (
        _("Define a subtest"),
        _(
            "A subtest covers one phenomenon, such as direction, counting or change of state. It also sets "
            "the number of validators per pair."
        ),
        "corpus:subtests",
        _("Create subtest"),
        ("subtests", "items"),
    ),
    (
        _("Import videos and captions"),
        _("Each caption is a sentence that is true of its clip. You see a preview before anything is saved."),
        "imports:new_import",
        _("Import"),
        ("captions", "items"),
    ),
    (
        _("Generate foils"),
        _("A run applies one method to the captions. Filters remove unusable foils."),
        "generation:new_run",
        _("New run"),
        ("made", "items"),
    ),
    (
        _("Add people"),
        _(
            "Annotators edit, reviewers review, and validators who did neither judge. By default, each pair "
            "has three validators."
        ),
        PEOPLE,
        _("Invite people"),
        # Decided by the members, not by a count.
        (),
    ),
    (
        _("Collect annotations"),
        _("The queues below show the open work. An item is valid when enough validators chose the caption."),
        "annotation:work",
        _("Queues"),
        ("valid",),
    ),
    (
        _("Freeze a release"),
        _(
            "A release stores the valid items under a content hash. You score models on it and can give it a "
            "public page."
        ),
        "releases:freeze",
        _("Freeze"),
        ("released",),
    ),
)


@dataclass(frozen=True)
class FirstStep:
    """`is_next`: the first step that is not done. `missing`: the people it needs."""

    label: Words
    text: Words
    page: str
    action: Words
    is_done: bool
    is_next: bool
    missing: str = ""


def first_steps(counts: Mapping[str, int], missing: Mapping[str, int]) -> list[FirstStep]:
    """Return the first steps; None after the first release.

    `counts`: those of the funnel, with `subtests`; `missing`: people by role.
    """
    if counts["released"]:
        return []
    done = [not missing if page == PEOPLE else any(counts[name] for name in names) for *_w, page, _a, names in STEPS]
    following, lack = done.index(False), said(missing)
    return [
        FirstStep(label, text, page, action, done[place], place == following, lack if page == PEOPLE else "")
        for place, (label, text, page, action, _names) in enumerate(STEPS)
    ]


def said(missing: Mapping[str, int]) -> str:
    """Return the roles in the order of the work."""
    return ", ".join(str(words % {"n": missing[role]}) for role, words in MISSING.items() if missing.get(role))


@dataclass(frozen=True)
class AfterRelease:
    """`n_open`: unanswered questions of the datasheet; None if its numbers are not read yet."""

    release: Release
    n_open: int | None
    has_page: bool


def after_release(project: Project) -> AfterRelease | None:
    """Return the next steps of the newest release; None if there are none. A few queries.

    The overview uses the numbers that the datasheet page read last: reading those of a large release or project takes
    long, and they change with every vote.
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
