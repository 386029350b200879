"""Read the texts of the sources that a training's negatives are mixed from: runs, items, people, items of two clips.

The rules of all negatives hold for each source: never a true caption of the same video, never a foil that was dropped
or whose item was retracted. Of an item with a hard foil, only that one is used; the other foils are captions of other
videos. A caption of a two-clip item's other clip is used only if that clip is in the learned split, too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import DROPPED_OUT, FOUND_FALSE, Caption, Foil, Item, Subtest, withdrawn_items
from foilworks.core.corpus.rules.hard_foils import Candidates, hard_foils
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted, shortened
from foilworks.site.teacher.mixtures import IMPORTED, PAIRS, PEOPLE, RUN, SUBTEST, Mixture, Source
from generation.models import Candidate, CandidateGroup, GenerationRun

# Candidates that filters or people rejected, and texts that were replaced.
NOT_TAKEN = (CandidateState.FILTERED_OUT, CandidateState.DROPPED, CandidateState.SUPERSEDED)
# Of texts by people: drafts and texts that a reviewer returned are not used.
BY_PEOPLE = (CandidateState.IN_REVIEW, CandidateState.ACCEPTED)
NOT_FALSE = (FoilVerdict.INVALID, FoilVerdict.DISPUTED)
REJECTED = (ItemState.RETRACTED, ItemState.REQUEUED)
ROWS = 2000

Texts = dict[str, dict[int, list[str]]]


def check_sources(project: Project, mixture: Mixture) -> dict[str, GenerationRun]:
    """Return the runs of the mixture by source. EvaluationError: a run or subtest that the project does not have."""
    run_ids = {source.key: int(source.name) for source in mixture.sources if source.kind == RUN}
    rows = GenerationRun.objects.filter(project=project).in_bulk(list(run_ids.values()))
    if unknown_keys := [key for key, pk in run_ids.items() if pk not in rows]:
        raise EvaluationError(f"negatives: {shortened(', '.join(unknown_keys))}: no such run in this project")
    subtest_names = dict.fromkeys(Subtest.objects.filter(project=project).values_list("name", flat=True))
    for source in mixture.sources:
        if source.kind == SUBTEST and source.name not in subtest_names:
            raise EvaluationError(
                f"negatives: the project has no subtest {quoted(source.name)}; choose one of: "
                f"{shortened(', '.join(subtest_names)) or 'none yet'}"
            )
    return {key: rows[pk] for key, pk in run_ids.items()}


def covered(project: Project, mixture: Mixture, split: str) -> Q:
    """Return the captions that a source has texts for, as a condition on captions."""
    condition = Q(pk__in=())
    for source in mixture.sources:
        if source.kind == RUN:
            condition |= Q(pk__in=CandidateGroup.objects.filter(run_id=int(source.name)).values("caption"))
        elif source.kind == PEOPLE:
            condition |= Q(pk__in=_by_people(project).values("group__caption"))
        else:
            condition |= Q(pk__in=_items(project, source, split).values("caption"))
    return condition


def texts_of(project: Project, mixture: Mixture, videos: Mapping[int, int], split: str) -> Texts:
    """Return {source: {caption: its usable negatives}} of the captions {id: video}, the best rank of a run first.

    EvaluationError: a source without any, which is a mistake in the request.
    """
    refused = refused_texts(set(videos.values()))
    texts_by_source: Texts = {}
    for source in mixture.sources:
        own: dict[int, list[str]] = defaultdict(list)
        for caption, text in _rows(project, source, split):
            video = videos.get(caption)
            if video is not None and plain(text) not in refused[video] and text not in own[caption]:
                own[caption].append(text)
        texts_by_source[source.key] = {caption: texts for caption, texts in own.items() if texts}
        if not texts_by_source[source.key]:
            raise EvaluationError(
                f"negatives: {source.key} has no usable negative for the chosen captions of the {split} split; add "
                "foils to it, or leave it out"
            )
    return texts_by_source


def known_sources(project: Project, split: str, runs: Iterable[int]) -> list[str]:
    """Return the sources that have texts for captions of the split, as they are typed. Two queries."""
    items = Item.objects.filter(project=project, video__split=split).exclude(withdrawn_items())
    made_elsewhere = Count("foils", filter=Q(foils__candidate__isnull=True, pair=""))
    rows = list(
        items.exclude(state__in=REJECTED)
        .order_by("subtest__name")
        .values_list("subtest__name")
        .annotate(last_pair=Max("pair"), n_elsewhere=made_elsewhere)
    )
    sources = [IMPORTED] if any(count for _, _, count in rows) else []
    sources += [PAIRS] if any(pair for _, pair, _ in rows) else []
    sources += [PEOPLE] if _by_people(project).filter(group__caption__video__split=split).exists() else []
    return [*sources, *(f"{SUBTEST}:{name}" for name, _, _ in rows), *(f"{RUN}:{pk}" for pk in runs)]


def _rows(project: Project, source: Source, split: str) -> Iterable[tuple[int, str]]:
    """Yield the captions and texts of a source."""
    if source.kind == RUN:
        rows = Candidate.objects.filter(group__run_id=int(source.name)).exclude(state__in=NOT_TAKEN)
        return rows.order_by("group__caption_id", "rank", "pk").values_list("group__caption_id", "text").iterator(ROWS)
    if source.kind == PEOPLE:
        written = _by_people(project).filter(group__caption__video__split=split)
        return written.order_by("group__caption_id", "pk").values_list("group__caption_id", "text").iterator(ROWS)
    return _foils(_items(project, source, split))


def _by_people(project: Project) -> QuerySet[Candidate]:
    """Return what annotators wrote or reworded, and reviewers fixed, unless it was rejected."""
    rows = Candidate.objects.filter(group__run__project=project, author__isnull=False)
    return rows.filter(state__in=BY_PEOPLE)


def _items(project: Project, source: Source, split: str) -> QuerySet[Item]:
    """Return the items of the split whose foils a source has."""
    rows = Item.objects.filter(project=project, video__split=split).exclude(withdrawn_items())
    rows = rows.exclude(state__in=REJECTED)
    if source.kind == SUBTEST:
        rows = rows.filter(subtest__name=source.name)
    elif source.kind == PAIRS:
        rows = rows.filter(pair__gt="")
    else:
        made_elsewhere = Foil.objects.filter(item=OuterRef("pk"), candidate__isnull=True)
        rows = rows.filter(Exists(made_elsewhere), pair="")
    # A caption of a clip in another split, which a release may show.
    other_half = Item.objects.filter(subtest=OuterRef("subtest"), pair=OuterRef("pair"), pair__gt="")
    return rows.exclude(Exists(other_half.exclude(video__split=split)))


def _foils(items: QuerySet[Item]) -> Iterable[tuple[int, str]]:
    """Yield the caption and text of the foils that count as edits and that nobody found true."""
    ordered_items = items.order_by("pk").select_related("caption", "subtest").prefetch_related("foils")
    read = list(ordered_items)
    candidates = [_candidates(item) for item in read]
    for item, hard in zip(read, hard_foils(candidates), strict=True):
        foils = list(item.foils.all())
        counted_foils = foils if hard is None else foils[max(hard.index, 0) : hard.index + 1]
        for foil in counted_foils:
            if foil.verdict not in NOT_FALSE:
                yield item.caption_id, foil.text


def _candidates(item: Item) -> Candidates:
    foils = list(item.foils.all())
    texts = tuple(foil.text for foil in foils)
    positions = [foil.position for foil in foils]
    return Candidates(item.subtest.name, item.caption.text, texts, item.extra, item.known_facts, positions)


def refused_texts(videos: Iterable[int]) -> dict[int, set[str]]:
    """Return by video its true captions, and the foils that validation or a researcher rejected.

    The state of a candidate does not show these: a candidate that became a foil remains accepted.
    """
    texts_by_video: dict[int, set[str]] = defaultdict(set)
    video_ids = sorted(videos)
    for start in range(0, len(video_ids), ROWS):
        some = video_ids[start : start + ROWS]
        true = Caption.objects.filter(video_id__in=some).exclude(FOUND_FALSE).values_list("video_id", "text")
        out = Foil.objects.filter(DROPPED_OUT | Q(item__state=ItemState.RETRACTED), item__video_id__in=some)
        for video, text in (*true, *out.values_list("item__video_id", "text")):
            texts_by_video[video].add(plain(text))
    return texts_by_video


def plain(text: str) -> str:
    """Return the text without differences of capitals, spaces and the last full stop."""
    return " ".join(text.casefold().split()).rstrip(".")
