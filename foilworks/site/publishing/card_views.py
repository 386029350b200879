"""Serve the tabs of a public page: card, data, leaderboard, validation, versions. Each is an address of its own."""

from typing import Any
from urllib.parse import urlencode

from csp.constants import HEADER as POLICY_HEADER
from csp.utils import build_policy
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from evaluation.blind.probes import with_people
from evaluation.board.gaps import gaps_of
from evaluation.board.leaderboard import board
from evaluation.board.sorting import sorted_board
from evaluation.charts.preview import draw_preview
from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.wording import waterfall_rows
from evaluation.releases.changelog import changelog_of
from evaluation.releases.models import ReleaseGate
from evaluation.releases.withheld import withheld_of
from evaluation.scoring.figures import awaited
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import canary_of
from foilworks.core.text.diff import diff_segments
from foilworks.site.documents.release_documents import citation_of
from foilworks.site.exports.signature import public_key
from foilworks.site.publishing.models import PublicPage
from foilworks.site.publishing.public import (
    cited_as,
    composition_of,
    examples_of,
    get_public_page,
    judged_of,
    public_items,
    shown_sources,
    terms_of,
)

ITEMS_PER_PAGE = 10
# Characters that messengers show of a link at most.
MAX_PREVIEW, MAX_SEARCH = 200, 200


@login_not_required
@require_safe
def public_release(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    release, composition = page.release, composition_of(page.release)
    terms, waiting = terms_of(release, composition), awaited(release)
    shown_board = None if waiting else board(release)
    about = {
        "board": shown_board,
        "best": next((row for row in shown_board.scored if not row.run.is_toy), None) if shown_board else None,
        "ci_name": f"{shown_board.column}_ci" if shown_board else "",
        "composition": composition,
        "n_videos": sum(each.n_videos for each in terms),
        "n_foils": sum(foils for _name, _items, foils, _paired in composition.rows),
        "terms": terms,
        "examples": examples_of(page, composition, terms),
        "canary": canary_of(release.content_hash),
    }
    return _tab(request, page, "card", "evaluation/public_release.html", about)


@login_not_required
@require_safe
def public_preview(request: HttpRequest, key: str) -> HttpResponse:
    """Serve the picture of a link to the page: the title, and what the items need if a ladder is computed."""
    release = get_public_page(key).release
    ladder = None if awaited(release) else ladder_of_release(release)
    citation = citation_of(release.project)
    title, text = citation.title or release.project.name, _in_a_sentence(release, "")
    picture = draw_preview(title, text, waterfall_rows(ladder) if ladder else ())
    return HttpResponse(picture, content_type="image/png")


@login_not_required
@require_safe
def public_data(request: HttpRequest, key: str) -> HttpResponse:
    """Show the counts of subtests, and the items if the page lists them."""
    page, text = get_public_page(key), request.GET.get("q", "")[:MAX_SEARCH].strip()
    shown = shown_sources(page.release)
    items = Paginator(public_items(page, text), ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    for member in items:
        caption = member.record["caption"]
        member.foils = [diff_segments(caption, foil) for foil in member.record["foils"]]
        video = member.video
        member.has_strip = video and video.film_strip and not video.content_warning and video.source_dataset in shown
    about = {
        "composition": composition_of(page.release),
        "page": items,
        "searched": text,
        "query": f"{urlencode({'q': text})}&" if text else "",
        "public_key": public_key(),
    }
    return _tab(request, page, "data", "evaluation/public_data.html", about)


@login_not_required
@require_safe
def public_leaderboard(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    if awaited(page.release):
        return _tab(request, page, "leaderboard", "evaluation/public_leaderboard.html", {"waiting": True})
    shown = board(page.release)
    about = {"board": shown, "sorting": sorted_board(shown, request.GET.get("sort", "")), "gaps": gaps_of(page.release)}
    return _tab(request, page, "leaderboard", "evaluation/public_leaderboard.html", about)


@xframe_options_exempt
@login_not_required
@require_safe
def public_embed(request: HttpRequest, key: str) -> HttpResponse:
    """Show the board alone, for a frame of another site: without forms, links of the site or a session."""
    page = get_public_page(key)
    shown = None if awaited(page.release) else board(page.release)
    about = {
        "board": shown,
        "sorting": shown and sorted_board(shown, ""),
        "waiting": shown is None,
        "is_embedded": True,
    }
    response = _tab(request, page, "leaderboard", "evaluation/public_embed.html", about)
    response.headers[POLICY_HEADER] = build_policy(replace={"frame-ancestors": ["*"]})
    return response


@login_not_required
@require_safe
def public_validation(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    subtests = frozenset(name for name, *_counts in composition_of(page.release).rows)
    about = {"judged": judged_of(page, subtests), "gate_rows": _gate(page.release)}
    return _tab(request, page, "validation", "evaluation/public_validation.html", about)


@login_not_required
@require_safe
def public_versions(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    about = {"changes": changelog_of(page.release)}
    return _tab(request, page, "versions", "evaluation/public_versions.html", about)


def _tab(request: HttpRequest, page: PublicPage, tab: str, template: str, about: dict[str, Any]) -> HttpResponse:
    release = page.release
    citation = citation_of(release.project)
    shared = {
        "public": page,
        "release": release,
        "tab": tab,
        "citation": citation,
        "bibtex": cited_as(release, citation),
        "n_withheld": len(withheld_of(release)),
        "preview": {
            "title": citation.title or release.project.name,
            "text": _in_a_sentence(release, citation.abstract),
            "picture": request.build_absolute_uri(reverse("publishing:public_preview", args=[page.key])),
        },
    }
    response = render(request, template, {**shared, **about})
    # The address is the key: no referrer reveals it, and no search engine lists it.
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _in_a_sentence(release: Release, abstract: str) -> str:
    """Return what a link to the page shows below its title."""
    about = _("%(name)s: %(n)s items, each a caption beside foils that a video contradicts.") % {
        "name": release.name,
        "n": f"{release.n_public:,}",
    }
    return Truncator(" ".join(abstract.split()) or about).chars(MAX_PREVIEW)


def _gate(release: Release) -> list[dict[str, Any]]:
    gate = ReleaseGate.objects.filter(release=release).first()
    return with_people(release, gate.data["rows"]) if gate is not None else []
