"""Search a project: pages, texts, runs, releases and members. What a person finds is what their role may open."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.queries.members import narrowed_members
from annotation.queries.own_answers import own_foils, own_reviews
from evaluation.items.listing import narrowed
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Caption, Foil, Item, Release, Video
from foilworks.core.projects.access import roles_in
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.templatetags.wording import in_words
from foilworks.core.text.diff import diff_segments
from foilworks.site.navigation import GROUPS, Page
from foilworks.site.page_words import BESIDE, SUBJECTS
from generation.method_names import method_label
from generation.methods.registry import METHODS
from generation.models import GenerationRun

HITS_PER_GROUP = 5
# Longer numbers do not fit the column.
MAX_ID_DIGITS = 18


@dataclass(frozen=True)
class Hit:
    """One result. `title` is the link; `text` or `segments` (a foil against its caption) is the sentence, if any."""

    title: str
    url: str
    facts: tuple[str, ...] = ()
    text: str = ""
    segments: Sequence[tuple[str, str]] = ()
    video: Video | None = None


@dataclass(frozen=True)
class ResultGroup:
    """The first results of one kind. `all_url`: the list with the same search; empty without such a list."""

    slug: str
    label: str | Promise
    hits: list[Hit]
    all_url: str = ""


@dataclass(frozen=True)
class Results:
    """`texts` have sentences, `names` only names; both without empty groups."""

    texts: list[ResultGroup]
    names: list[ResultGroup]

    @property
    def columns(self) -> list[list[ResultGroup]]:
        return [groups for groups in (self.texts, self.names) if groups]


def search(person: User, project: Project, text: str) -> Results:
    """Return what contains the text, for the roles of the person.

    Researchers: one statement per group. Other people: two statements, over their own foils and reviews. Nobody else
    finds items, captions, videos or votes: people judge without knowing which sentence is the foil.
    """
    roles = roles_in(person, project)
    pages = ResultGroup("pages", gettext_lazy("Pages"), _pages(project, roles, text))
    if Role.RESEARCHER in roles:
        texts = [_items(project, text), _captions(project, text), _videos(project, text)]
        names = [pages, _runs(project, text), _scored(project, text), _releases(project, text), _members(project, text)]
    else:
        texts, names = [_foils(person, project, text), _reviews(person, project, text)], [pages]
    return Results([group for group in texts if group.hits], [group for group in names if group.hits])


def _pages(project: Project, roles: frozenset[str], text: str) -> list[Hit]:
    """Return the pages whose name or menu contains the text, then those that are about it."""
    by_name, by_subject = [], []
    for trail, page, subjects in _pages_with_subjects():
        if not roles & frozenset(page.roles):
            continue
        url = reverse(page.name, args=[project.slug])
        if text.casefold() in trail.casefold():
            by_name.append(Hit(trail, url))
        elif text.casefold() in subjects.casefold():
            by_subject.append(Hit(trail, url, (subjects,)))
    return (by_name + by_subject)[:HITS_PER_GROUP]


def _pages_with_subjects() -> Iterator[tuple[str, Page, str]]:
    for group in GROUPS:
        for page in group.pages:
            trail = str(page.label) if len(group.pages) == 1 else f"{group.label} → {page.label}"
            yield trail, page, str(SUBJECTS.get(page.name, ""))
    for page, subjects in BESIDE:
        yield str(page.label), page, str(subjects)


def _items(project: Project, text: str) -> ResultGroup:
    foils = Foil.objects.filter(item=OuterRef("pk")).order_by("position").values("text")
    # The foil that was searched for, else the item's first one.
    foil_text = Coalesce(Subquery(foils.filter(text__icontains=text)[:1]), Subquery(foils[:1]))
    rows = narrowed(project, {"q": text}, None).annotate(foil_shown=foil_text).order_by("-pk")
    rows = rows.select_related("caption", "subtest", "video")[:HITS_PER_GROUP]
    return ResultGroup(
        "items", gettext_lazy("Items"), [_item(project, row) for row in rows], _list_url("items:items", project, text)
    )


def _item(project: Project, row: Item) -> Hit:
    return Hit(
        row.key,
        reverse("items:item", args=[project.slug, row.pk]),
        (row.subtest.name, str(in_words(row.state))),
        row.caption.text,
        diff_segments(row.caption.text, row.foil_shown) if row.foil_shown else (),
        row.video,
    )


def _captions(project: Project, text: str) -> ResultGroup:
    rows = Caption.objects.filter(video__project=project, text__icontains=text).select_related("video")
    hits = [
        Hit(row.key, reverse("corpus:video", args=[project.slug, row.video_id]), text=row.text, video=row.video)
        for row in rows.order_by("video__key", "text_sha256")[:HITS_PER_GROUP]
    ]
    return ResultGroup("captions", gettext_lazy("Captions"), hits, _list_url("items:captions", project, text))


def _videos(project: Project, text: str) -> ResultGroup:
    rows = Video.objects.filter(Q(key__icontains=text) | Q(source_id__icontains=text), project=project)
    hits = [
        Hit(
            row.key,
            reverse("corpus:video", args=[project.slug, row.pk]),
            tuple(fact for fact in (row.source_dataset, row.source_id, row.get_media_state_display()) if fact),
            video=row,
        )
        for row in rows.order_by("key")[:HITS_PER_GROUP]
    ]
    return ResultGroup("videos", gettext_lazy("Videos"), hits, _list_url("corpus:videos", project, text))


def _runs(project: Project, text: str) -> ResultGroup:
    methods = [slug for slug in METHODS if text.casefold() in method_label(slug).casefold()]
    fits = Q(method__in=methods) | Q(method__icontains=text) | Q(subtest__name__icontains=text) | _number(text)
    rows = GenerationRun.objects.filter(fits, project=project).select_related("subtest").order_by("-pk")
    hits = [
        Hit(
            f"{method_label(row.method)} #{row.pk}",
            reverse("generation:run", args=[project.slug, row.pk]),
            (row.subtest.name,),
        )
        for row in rows[:HITS_PER_GROUP]
    ]
    return ResultGroup("runs", gettext_lazy("Generation runs"), hits)


def _scored(project: Project, text: str) -> ResultGroup:
    fits = Q(label__icontains=text) | Q(spec__icontains=text) | _number(text)
    rows = Run.objects.filter(fits, release__project=project).select_related("release").order_by("-pk")
    hits = [
        Hit(f"{row.label} #{row.pk}", reverse("scoring:run", args=[project.slug, row.pk]), (row.release.name,))
        for row in rows[:HITS_PER_GROUP]
    ]
    return ResultGroup("scores", gettext_lazy("Scoring runs"), hits)


def _releases(project: Project, text: str) -> ResultGroup:
    fits = Q(name__icontains=text) | Q(content_hash__istartswith=text) | Q(public_hash__istartswith=text)
    rows = Release.objects.filter(fits, project=project).order_by("-pk")[:HITS_PER_GROUP]
    hits = [
        Hit(row.name, reverse("releases:release", args=[project.slug, row.pk]), (row.shown_hash[:12],)) for row in rows
    ]
    return ResultGroup("releases", gettext_lazy("Releases"), hits)


def _members(project: Project, text: str) -> ResultGroup:
    rows = narrowed_members(project, {"q": text}).select_related("person").order_by("-person_id")
    hits = [
        Hit(
            row.person.get_full_name() or row.person.username,
            reverse("annotation:member", args=[project.slug, row.person_id]),
            (row.person.username,) if row.person.get_full_name() else (),
        )
        for row in rows[:HITS_PER_GROUP]
    ]
    return ResultGroup("members", gettext_lazy("Members"), hits, _list_url("annotation:people", project, text))


def _foils(person: User, project: Project, text: str) -> ResultGroup:
    return _own_texts(
        "own-foils", gettext_lazy("Your foils"), project, own_foils(project, person, text, HITS_PER_GROUP)
    )


def _reviews(person: User, project: Project, text: str) -> ResultGroup:
    return _own_texts(
        "own-reviews", gettext_lazy("Your reviews"), project, own_reviews(project, person, text, HITS_PER_GROUP)
    )


def _own_texts(slug: str, label: Promise, project: Project, texts: list[str]) -> ResultGroup:
    # An answer has no page of its own: it cannot be changed.
    url = f"{reverse('annotation:own_figures', args=[project.slug])}#answers"
    return ResultGroup(slug, label, [Hit(_("Your activity"), url, text=answer_text) for answer_text in texts])


def _number(text: str) -> Q:
    """Match "12" and "#12" with the row of this number."""
    digits = text.removeprefix("#")
    return Q(pk=int(digits)) if digits.isdecimal() and len(digits) <= MAX_ID_DIGITS else Q(pk__in=())


def _list_url(name: str, project: Project, text: str) -> str:
    return f"{reverse(name, args=[project.slug])}?{urlencode({'q': text})}"
