"""Choose the next steps of a project: at its start, and after a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from evaluation.cached_results.cache import find_result
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project, Role
from foilworks.site.dashboard.stored_count import SMALL, is_small
from foilworks.site.documents.models import DatasheetAnswer
from foilworks.site.publishing.models import PublicPage
from foilworks.site.publishing.sheet import KIND, own_answers

Words = str | Promise
PEOPLE, WORK = "projects:invitations", "annotation:work"
MISSING = {
    Role.ANNOTATOR: ngettext_lazy("an annotator", "%(n)d annotators", "n"),
    Role.REVIEWER: ngettext_lazy("a reviewer", "%(n)d reviewers", "n"),
    Role.VALIDATOR: ngettext_lazy("%(n)d validator", "%(n)d validators", "n"),
}
# (title, reason, page, label of the button, counts that show that it is done)
STEPS: tuple[tuple[Words, Words, str, Words, tuple[str, ...]], ...] = (
    (
        _("Import videos and captions"),
        _(
            "Drop a folder, a table or an archive. You see which clips match and how each row is understood before "
            "anything is saved. A row with foils becomes an item."
        ),
        "imports:new_import",
        _("Import"),
        ("captions", "items"),
    ),
    (
        _("Define a subtest"),
        _(
            "A subtest covers one phenomenon, such as direction, counting or change of state. It also sets "
            "how many validators judge each pair of caption and foil. If a column of your file names subtests, "
            "the import creates them."
        ),
        "corpus:subtests",
        _("Create subtest"),
        ("subtests", "items"),
    ),
    (
        _("Generate foils"),
        _("A run applies one method to your captions. Filters reject unusable foils."),
        "generation:new_run",
        _("New run"),
        ("made", "items"),
    ),
    (
        _("Add people"),
        _(
            "Annotators edit foils, and reviewers check them. Validators judge foils that they have not "
            "edited or reviewed. The subtest says how many of them judge each pair."
        ),
        PEOPLE,
        _("Invite people"),
        # Decided by the members, not by a count.
        (),
    ),
    (
        _("Collect annotations"),
        _("Under Work, people find their open tasks. An item becomes valid when enough validators choose its caption."),
        WORK,
        _("Open queues"),
        ("valid",),
    ),
    (
        _("Freeze a release"),
        _("A release is a fixed copy of the valid items. You can score models on it and give it a public page."),
        "releases:freeze",
        _("Freeze release"),
        ("released",),
    ),
)


@dataclass(frozen=True)
class FirstStep:
    """`is_next`: the first step that is not done. `missing`: the people it needs; `query`: what its page fills in."""

    label: Words
    text: Words
    page: str
    action: Words
    is_done: bool
    is_next: bool
    missing: str = ""
    query: str = ""


def first_steps(counts: Mapping[str, int], missing: Mapping[str, int], n_open: int = 0) -> list[FirstStep]:
    """Return the first steps; none after the first release.

    `counts`: those of the funnel, with `subtests`; `missing`: people by role; `n_open`: tasks that nobody has done,
    which keep the step of the annotations open.
    """
    if counts["released"]:
        return []
    is_done_by_step = [
        not missing if page == PEOPLE else any(counts[name] for name in names) for *_w, page, _a, names in STEPS
    ]
    is_done_by_step = [
        is_done and not (n_open and step[2] == WORK) for is_done, step in zip(is_done_by_step, STEPS, strict=True)
    ]
    following, lacking = is_done_by_step.index(False), (said(missing), _invitation_query(missing))
    return [
        FirstStep(
            label, text, page, action, is_done_by_step[index], index == following, *(lacking if page == PEOPLE else ())
        )
        for index, (label, text, page, action, _names) in enumerate(STEPS)
    ]


def _invitation_query(missing: Mapping[str, int]) -> str:
    """Return what the page of invitations reads: the number of people by role."""
    return f"?{urlencode(missing)}" if missing else ""


def said(missing: Mapping[str, int]) -> str:
    """Return the roles in the order of the work."""
    return ", ".join(str(words % {"n": missing[role]}) for role, words in MISSING.items() if missing.get(role))


@dataclass(frozen=True)
class AfterRelease:
    """`n_open`: unanswered questions of the datasheet; None if its numbers are not read yet."""

    release: Release
    n_open: int | None
    has_page: bool


N_RELEASES = 5


def latest_releases(project: Project) -> list[Release]:
    """Return the newest releases, each with `project_has_page`: whether any release has an open page. One query."""
    public = PublicPage.objects.filter(release__project=project, is_open=True)
    rows = Release.objects.filter(project=project).annotate(project_has_page=Exists(public))
    return list(rows.order_by("-pk")[:N_RELEASES])


def after_release(project: Project, releases: Sequence[Release] | None = None) -> AfterRelease | None:
    """Return the next steps of the newest release; None if there are none. A few queries.

    The overview uses the numbers that the datasheet page read last: reading those of a large release or project takes
    long, and they change with every vote.

    `releases`: what latest_releases returned, if it was called.
    """
    if releases is None:
        releases = latest_releases(project)
    if not releases:
        return None
    release, has_page = releases[0], bool(releases[0].project_has_page)
    n_open = _open_questions(project, release)
    return AfterRelease(release, n_open, has_page) if n_open or not has_page else None


def _open_questions(project: Project, release: Release) -> int | None:
    if release.n_items > SMALL or not is_small(project):
        sheet = find_result(project, KIND, str(release.pk))
        if sheet is None:
            return None
        project_answers = sheet.data
    else:
        _release, project_answers = own_answers(project)
    answered = {
        slug
        for slug, text in DatasheetAnswer.objects.filter(project=project).values_list("question", "text")
        if text.strip()
    }
    questions = {slug for slug in QUESTIONS if not slug.endswith(".comments")}
    return len(questions - answered - project_answers.keys())


@dataclass(frozen=True)
class NextAction:
    """The one thing to do next: `text` continues "Next:", `action` is on the button that leads to `url`."""

    text: str
    action: Words
    page: str
    args: tuple[int, ...] = ()
    query: str = ""


# (which number of the count, text, button, page), the most urgent first.
ACTIONS: tuple[tuple[str, Any, Words, str], ...] = (
    (
        "disputed",
        ngettext_lazy("adjudicate %(n)d disputed item", "adjudicate %(n)d disputed items", "n"),
        _("Adjudicate"),
        "annotation:disputed_items",
    ),
    (
        "paused",
        ngettext_lazy("decide about %(n)d paused validator", "decide about %(n)d paused validators", "n"),
        _("Open validators"),
        "annotation:validators",
    ),
    ("lacking", ngettext_lazy("invite %(n)d person", "invite %(n)d people", "n"), _("Invite people"), PEOPLE),
    (
        "doubted",
        ngettext_lazy("check %(n)d caption that may be wrong", "check %(n)d captions that may be wrong", "n"),
        _("Check captions"),
        "annotation:repairs",
    ),
    (
        "open",
        ngettext_lazy("work on %(n)d open task", "work on %(n)d open tasks", "n"),
        _("Open queues"),
        WORK,
    ),
    (
        "unreleased",
        ngettext_lazy("freeze a release with %(n)d new valid item", "freeze a release with %(n)d new valid items", "n"),
        _("Freeze release"),
        "releases:freeze",
    ),
    (
        "questions",
        ngettext_lazy("answer %(n)d question in the datasheet", "answer %(n)d questions in the datasheet", "n"),
        _("Open datasheet"),
        "publishing:datasheet",
    ),
)


def next_action(
    counted: Mapping[str, Any], first: Sequence[FirstStep], after: AfterRelease | None
) -> NextAction | None:
    """Return what the project needs next, None if nothing waits.

    `counted`: a count; `first`: its first steps; `after`: the next steps of its newest release.
    """
    funnel = counted["funnel"]
    numbers = {
        "disputed": sum(row["n_disputed"] for row in counted["subtests"]),
        "paused": counted["paused"],
        "lacking": sum(counted.get("missing", {}).values()),
        "doubted": counted["doubted"],
        "open": sum(row["open"] for row in counted["queues"] if row.get("stage") not in counted.get("blocked", ())),
        "unreleased": max(0, funnel["valid"] - funnel["released"]),
        "questions": (after.n_open or 0) if after else 0,
    }
    following = next((step for step in first if step.is_next), None)
    # A project that nobody works in yet has one way on: that of its first steps.
    if following and not (funnel["judged"] or numbers["open"]):
        return NextAction(str(following.label), following.action, following.page, query=following.query)
    for name, text, action, page in ACTIONS:
        if numbers[name]:
            query = _invitation_query(counted["missing"]) if page == PEOPLE else ""
            return NextAction(str(text % {"n": numbers[name]}), action, page, query=query)
    if after and not after.has_page:
        return NextAction(str(OPEN_PAGE), _("Open public page"), "publishing:public_page", (after.release.pk,))
    return None


OPEN_PAGE = _("publish the release")
