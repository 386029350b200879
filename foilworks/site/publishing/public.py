"""Load what people without an account see of a release: counts, examples, terms, boards. No names, contacts, votes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.cached_results.cache import cached_by_fingerprint, digest, find_data
from foilworks.core.corpus.export_formats.parts.documents import bibtex
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.models import MediaState, Release, ReleaseItem, Video
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.corpus.release_documents import Citation, ReleaseDocuments, SourceTerms
from foilworks.core.corpus.video_files.player import player_clip, plays_elsewhere
from foilworks.core.text.diff import diff_segments
from foilworks.site.documents.release_documents import sources_of
from foilworks.site.publishing.archive import is_current
from foilworks.site.publishing.models import PublicPage

KINDS = ("validation", "agreement", "position")


@dataclass(frozen=True)
class Judged:
    """`rows`: those of the validation report for the subtests of the release; `whole`: the row for all of them.

    `agreement`, `position`: those reports, None if nobody has voted in the project.
    """

    rows: list[dict[str, Any]]
    whole: dict[str, Any]
    agreement: dict[str, Any] | None
    position: dict[str, Any] | None


def judged_of(page: PublicPage, subtests: frozenset[str]) -> Judged | None:
    """Return the judgements in the archive; None without a current archive, or if its items came without a validation.

    Four queries.
    """
    if not is_current(page):
        return None
    abouts = {f"{page.release_id}:{kind}": kind for kind in KINDS}
    found = find_data(page.release.project, "exported", abouts)
    tables = {abouts[about]: data["table"] for about, data in found.items()}
    validation = tables.get("validation")
    if not validation:
        return None
    rows = [row for row in validation["subtests"] if row["name"] in subtests and row["n_valid"] is not None]
    if not rows:
        return None
    everything = {row["name"] for row in validation["subtests"]} == subtests
    whole = validation["overall"] if everything else rows[0] if len(rows) == 1 else _together(rows)
    return Judged(rows, whole, tables.get("agreement"), tables.get("position"))


def _together(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up counts; agreement cannot be added."""
    added = {name: sum(row[name] or 0 for row in rows) for name in ("n_items", "n_valid", "n_unanimous")}
    if any("n_judged_in_full" in row for row in rows):
        # A subtest that does not stop votes early has all its items judged in full.
        added["n_judged_in_full"] = sum(row.get("n_judged_in_full", row["n_items"]) for row in rows)
    return {**added, "alpha_all": None, "alpha_all_ci": None, "js_all": None, "js_valid": None}


VERSION = "1"
# Positions of examples, some of which may be withheld or without a video; and how many of them a page shows.
CANDIDATES = 12
EXAMPLES = 3


def get_public_page(key: str) -> PublicPage:
    """Return the open page at this address; a closed page, or one of a deleted project, does not exist."""
    pages = PublicPage.objects.select_related("release__project")
    return get_object_or_404(pages, key=key, is_open=True, release__project__deleted_at=None)


@dataclass(frozen=True)
class Example:
    """A released item as the page shows it. `src`: where its video plays from; if empty, `why` says why."""

    position: int
    record: Mapping[str, Any]
    foils: list[list[tuple[str, str]]]
    src: str
    warning: str
    why: str = ""


@dataclass(frozen=True)
class Composition:
    """Rows of (subtest, items, foils, with a proficiency pair), the positions of examples, the sources."""

    rows: list[list[Any]]
    examples: list[int]
    sources: list[dict[str, Any]]


def composition_of(release: Release) -> Composition:
    """Return counts that are computed once per release, which never changes. At most two queries."""

    def make() -> dict[str, Any]:
        members = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
        members = members.values_list("position", "record")
        counts: dict[str, list[int]] = {}
        places: dict[str, list[int]] = {}
        sources: dict[str, dict[str, Any]] = {}
        for position, record in members.iterator():
            found = counts.setdefault(record["subtest"], [0, 0, 0])
            found[0], found[1] = found[0] + 1, found[1] + len(record["foils"])
            found[2] += record["proficiency"] is not None
            places.setdefault(record["subtest"], []).append(position)
            _count_source(sources, record["video"])
        return {
            "rows": [[name, *found] for name, found in sorted(counts.items())],
            "examples": _spread(list(places.values())),
            "sources": [{**each, "videos": len(each["videos"])} for each in sources.values()],
        }

    fingerprint = digest([VERSION, release.content_hash])
    return Composition(**cached_by_fingerprint(release.project, "public", str(release.pk), fingerprint, make))


def _count_source(sources: dict[str, dict[str, Any]], video: Mapping[str, Any]) -> None:
    name = video["source_dataset"]
    found = sources.setdefault(name, {"name": name, "items": 0, "videos": {}})
    found["items"] += 1
    found["videos"][video["key"]] = True


def _spread(places: list[list[int]]) -> list[int]:
    """Return the first of each subtest, then the second of each, and so on, up to the limit; in release order."""
    longest = max((len(each) for each in places), default=0)
    turns = [each[turn] for turn in range(longest) for each in places if turn < len(each)]
    return sorted(turns[:CANDIDATES])


def terms_of(release: Release, composition: Composition) -> list[SourceTerms]:
    """Return the licences of the sources, as stated now. One query."""
    stated = {one.dataset: one for one in sources_of(release.project, [_about(each) for each in composition.sources])}
    return [
        SourceTerms(each["name"], one.licence, one.url, one.notes, one.may_show, each["items"], each["videos"])
        for each in composition.sources
        if (one := stated[each["name"]])
    ]


def _about(source: Mapping[str, Any]) -> dict[str, Any]:
    return {"released": True, "video": {"source_dataset": source["name"], "key": ""}}


def examples_of(page: PublicPage, composition: Composition, terms: list[SourceTerms]) -> list[Example]:
    """Return a few items without taken-down ones; with a video only if its source's terms permit. One query.

    Items whose video plays come first.
    """
    members = _candidates(page.release, composition)
    by_source = {one.dataset: one for one in terms}
    return _chosen([_example(page, member, by_source) for member in members])


def own_examples(release: Release) -> list[Example]:
    """Return a few items for the project's researchers, whom no terms keep from the project's videos. Two queries."""
    return _chosen([_own_example(member) for member in _candidates(release, composition_of(release))])


def _candidates(release: Release, composition: Composition) -> QuerySet[ReleaseItem]:
    rows = ReleaseItem.objects.filter(release=release, position__in=composition.examples, is_private=False)
    return rows.filter(video__takedown__isnull=True).select_related("video__project").order_by("position")


def _chosen(found: list[Example]) -> list[Example]:
    playing_first = sorted(found, key=lambda example: not example.src)
    return sorted(playing_first[:EXAMPLES], key=lambda example: example.position)


def _example(page: PublicPage, member: ReleaseItem, by_source: Mapping[str, SourceTerms]) -> Example:
    record, video = member.record, member.video
    stated = by_source.get(record["video"]["source_dataset"])
    allowed = video is not None and all(
        (terms := by_source.get(name)) is not None and terms.may_show
        for name in (video.source_dataset, record["video"]["source_dataset"])
    )
    src = _source(page, member.position, video) if allowed and video is not None else ""
    return _shown(member, src, "" if src else _why_not(stated, allowed))


def _own_example(member: ReleaseItem) -> Example:
    src = _trimmed(player_clip(member.video)["src"], member.video) if member.video is not None else ""
    return _shown(member, src, "" if src else str(NO_FILE))


def _shown(member: ReleaseItem, src: str, why: str) -> Example:
    record, video = member.record, member.video
    return Example(
        position=member.position,
        record=record,
        foils=[diff_segments(record["caption"], foil) for foil in record["foils"]],
        src=src,
        warning=video.content_warning if video is not None else "",
        why=why,
    )


NO_FILE = gettext_lazy("There is no playable file of this video.")


def _why_not(terms: SourceTerms | None, allowed: bool) -> str:
    """Return the reason that is true: no licence, not allowed by the team, or no file."""
    if allowed:
        return str(NO_FILE)
    if terms is None or not (terms.licence or terms.url):
        return _("No licence is stated for this video, so this page does not play it.")
    return _("The benchmark team did not allow this page to play videos of this source.")


def _source(page: PublicPage, position: int, video: Video) -> str:
    """Return our own stream by the page's address, or an external one that browsers may play, with the trim."""
    if video.file and video.media_state == MediaState.READY:
        return _trimmed(reverse("publishing:public_video", args=[page.key, position]), video)
    return _trimmed(video.url, video) if plays_elsewhere(video.url) else ""


def _trimmed(src: str, video: Video) -> str:
    """Add the trim as a fragment, which browsers apply."""
    if not src or video.time_unit != "sec" or video.start_time is None:
        return src
    end = "" if video.end_time is None else f",{video.end_time:g}"
    return f"{src}#t={video.start_time:g}{end}"


def cited_as(release: Release, citation: Citation) -> str:
    """Return the BibTeX entry, as in an export."""
    papers = ReleaseDocuments(citation=citation, known={"name": release.project.name})
    about = (release.project.slug, release.name, release.shown_hash, release.created_at.isoformat())
    return bibtex(facts_of(ReleaseContent(*about, (), papers=papers)))


def unstated(release: Release) -> tuple[list[str], list[str]]:
    """Return the sources of a release without a licence, and those whose videos the public page may not play.

    The name is "" for videos that name none. Two queries.
    """
    terms = terms_of(release, composition_of(release))
    unlicensed = [one.dataset for one in terms if not (one.licence or one.url)]
    return unlicensed, [one.dataset for one in terms if not one.may_show]


def shown_sources(release: Release) -> set[str]:
    """Return the sources whose videos the public page may show."""
    return {terms.dataset for terms in terms_of(release, composition_of(release)) if terms.may_show}


def public_items(page: PublicPage, text: str = "") -> QuerySet[ReleaseItem]:
    """Return the items that the page lists, with `text` in their id, caption or foils: none if it lists no items.

    Held-back items and those of a video that was taken down are never among them.
    """
    if not page.lists_items:
        return ReleaseItem.objects.none()
    rows = ReleaseItem.objects.filter(release=page.release, is_private=False, video__takedown__isnull=True)
    if text:
        in_record = Q(record__id__icontains=text) | Q(record__caption__icontains=text)
        # As JSON, the foils contain quotation marks as they are not typed; other words are as they are.
        rows = rows.alias(foils=Cast("record__foils", TextField())).filter(in_record | Q(foils__icontains=text))
    return rows.select_related("video").order_by("position")
