"""Build the documents of an export from the tables: citation, terms, answers, pay, rejections."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Max, Min, Prefetch, QuerySet

from annotation.models import Edit, Review, Stage, Vote, VoteState
from annotation.queries.paid_work import pay_of
from evaluation.board.gaps import as_table, gaps_of
from evaluation.board.latex import as_json
from evaluation.board.leaderboard import board
from evaluation.ladder.ladders import ladder_of_release
from evaluation.releases.changelog import changelog_of
from evaluation.releases.holdback import held_clips
from evaluation.releases.snapshot import made_by, screened_by
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.corpus.release_documents import Citation, ReleaseDocuments, SourceTerms
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import Consent, Project
from foilworks.site.documents.figures import figures_of
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence
from generation.models import Candidate

REJECTED = (CandidateState.FILTERED_OUT, CandidateState.DROPPED, CandidateState.SUPERSEDED)
CENT = Decimal("0.01")
ROWS_PER_QUERY = 500


def own_tables(release: Release, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the tables of an export that are not reports; None for a table without content."""
    return {
        "leaderboard": json.loads(as_json(board(release))) if runs else None,
        "ladder": _plain(ladder_of_release(release)) if runs else None,
        "pay": pay_statement(release.project),
        "changes": changelog_of(release),
        "private": as_table(gaps_of(release)) or None,
    }


def _plain(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a ladder without row numbers, which mean nothing outside of this installation."""
    if found is None:
        return None
    models = [{name: value for name, value in model.items() if name != "run"} for model in found["models"]]
    return {name: value for name, value in found.items() if name != "release"} | {"models": models}


def release_documents(release: Release, content: ReleaseContent) -> ReleaseDocuments:
    """Build the documents of a release; `content` has its items and tables."""
    project = release.project
    return ReleaseDocuments(
        citation=citation_of(project),
        sources=tuple(sources_of(project, content.items)),
        answers=dict(DatasheetAnswer.objects.filter(project=project).values_list("question", "text")),
        known=known_of(release),
        changes=content.tables.get("changes"),
        figures=figures_of(release, content.tables),
        rejected=lambda: rejected_of(project),
    )


def citation_of(project: Project) -> Citation:
    """Return what the owners stated; empty if nothing."""
    row = PublicationFacts.objects.filter(project=project).first()
    if row is None:
        return Citation()
    authors = tuple(line.strip() for line in row.authors.splitlines() if line.strip())
    names = ("title", "abstract", "year", "doi", "url", "licence", "licence_url", "contact")
    return Citation(authors=authors, **{name: getattr(row, name) for name in names})


def sources_of(project: Project, items: Sequence[Any]) -> list[SourceTerms]:
    """Return the data sets that these records name, with the stated terms. One query."""
    n_items, videos = Counter[str](), defaultdict[str, set[str]](set)
    for item in items:
        if item.get("released", True):
            source = item["video"]["source_dataset"]
            n_items[source] += 1
            videos[source].add(item["video"]["key"])
    stated = {row.source_dataset: row for row in SourceLicence.objects.filter(project=project)}
    return [_terms(name, stated.get(name), n_items[name], len(videos[name])) for name in sorted(n_items)]


def _terms(name: str, row: SourceLicence | None, n_items: int, n_videos: int) -> SourceTerms:
    if row is None:
        return SourceTerms(name, n_items=n_items, n_videos=n_videos)
    return SourceTerms(name, row.licence, row.url, row.notes, row.may_show, n_items, n_videos)


def pay_statement(project: Project) -> dict[str, Any] | None:
    """Return the earnings by stage and the median hourly pay, without names. None if nothing is paid or done."""
    policy, rates, paid = pay_of(project)
    if not rates and not paid.total.pieces:
        return None
    stages = []
    for stage in (each for each in Stage.values if each in rates or each in paid.stages):
        rate, earned = rates.get(stage), paid.stages.get(stage)
        stages.append(
            {
                "stage": stage,
                "unit": rate.unit if rate else None,
                "amount": _money(rate.amount) if rate else None,
                "pieces": earned.pieces if earned else 0,
                "hours": _rounded(earned.hours) if earned else "0",
                "pay": _rounded(earned.pay) if earned else "0",
            }
        )
    return {
        "currency": policy.currency,
        "floor": None if policy.floor is None else _money(policy.floor),
        "rates": len(rates),
        "stages": stages,
        "pieces": paid.total.pieces,
        "hours": _rounded(paid.total.hours),
        "pay": _rounded(paid.total.pay),
        "median_hourly": None if paid.median_hourly is None else _rounded(paid.median_hourly),
        "below_floor": paid.below_floor,
        "n_people": len(paid.people),
    }


def _money(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _rounded(amount: Decimal) -> str:
    return str(amount.quantize(CENT))


def known_of(release: Release) -> dict[str, Any]:
    """Return numbers for the datasheet that neither items nor votes contain. Eight queries."""
    project = release.project
    # Votes from files have the time of the import; when people gave them is unknown.
    votes = Vote.objects.filter(item__subtest__project=project, source=Vote.Source.PERSON)
    made = {"texts": Candidate.objects.filter(group__run__project=project), "judgements": votes}
    spans = {what: rows.aggregate(first=Min("created_at"), last=Max("created_at")) for what, rows in made.items()}
    warned = (
        ReleaseItem.objects.filter(release=release, is_private=False)
        .exclude(video=None)
        .exclude(video__content_warning="")
    )
    releases = Release.objects.filter(project=project).order_by("pk")
    return {
        "name": project.name,
        "description": project.description,
        "made_at": {
            what: [moment.isoformat() for moment in span.values()] for what, span in spans.items() if span["first"]
        },
        "n_rejected": _rejected_rows(project).count(),
        "n_warned": warned.values("video").distinct().count(),
        "consent_version": project.consent_version,
        **_agreed(project),
        "releases": [
            {"name": each.name, "created_at": each.created_at.isoformat(), "content_hash": each.shown_hash}
            for each in releases
        ],
        "takes_scores": Release.objects.filter(
            pk=release.pk, public_page__is_open=True, public_page__takes_scores=True
        ).exists(),
    }


def _agreed(project: Project) -> dict[str, int]:
    """Count the people whose work counts, and how many of them accepted a consent text, even if withdrawn later."""
    votes = Vote.objects.filter(item__subtest__project=project, person__isnull=False, state=VoteState.COUNTED)
    edits = Edit.objects.filter(group__run__project=project, person__isnull=False, undone_at=None)
    reviews = Review.objects.filter(candidate__group__run__project=project, person__isnull=False, undone_at=None)
    rows = (work.order_by().values_list("person") for work in (edits, reviews))
    people = set(votes.order_by().values_list("person").union(*rows))
    agreed = set(Consent.objects.filter(text__project=project, refused=False).values_list("person"))
    return {"n_workers": len(people), "n_agreed": len(people & agreed)}


def rejected_of(project: Project) -> Iterator[dict[str, Any]]:
    """Return candidates that did not become foils, with the reasons; without those on clips with private items or
    taken-down videos.

    Free text of reviewers is left out: it was written to the author, and may name people.
    """
    reviews = Prefetch("reviews", Review.objects.filter(undone_at=None).order_by("pk"), "standing_reviews")
    rows = _rejected_rows(project).order_by("pk").prefetch_related("filter_scores", reviews)
    rows = rows.select_related("parent", "group__run__subtest", "group__caption__video")
    screened = screened_by(project)
    return (_rejected(project, row, screened) for row in rows.iterator(chunk_size=ROWS_PER_QUERY))


def _rejected_rows(project: Project) -> QuerySet[Candidate]:
    here = Candidate.objects.filter(group__run__project=project, group__caption__video__takedown__isnull=True)
    here = here.exclude(group__caption__video__in=held_clips(project))
    return here.filter(state__in=REJECTED)


def _rejected(project: Project, row: Any, screened: Mapping[int, list[str]]) -> dict[str, Any]:
    caption = row.group.caption
    return {
        "id": f"{row.group.run.subtest.name}:candidate-{row.pk}",
        "subtest": row.group.run.subtest.name,
        "video": {
            "key": caption.video.key,
            "source_dataset": caption.video.source_dataset,
            "source_id": caption.video.source_id,
        },
        "caption": caption.text,
        "text": row.text,
        "state": row.state,
        "rejected_by": list(row.rejected_by),
        "held_back_by": row.held_back_by,
        "reviews": [{"decision": one.decision, "reasons": list(one.reasons)} for one in row.standing_reviews],
        "provenance": made_by(project, row, screened),
    }
