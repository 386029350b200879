"""Answers of the datasheet about motivation and composition, from the release's own numbers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foilworks.core.corpus.export_formats.parts.basis_of_alpha import basis_of_alpha
from foilworks.core.corpus.export_formats.parts.markdown import cell, table
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.corpus.release_records import n_as_published

Lines = list[str]


def released(release: ReleaseContent) -> Iterator[Mapping[str, Any]]:
    return (item for item in release.items if item.get("released"))


def purpose(release: ReleaseContent) -> Lines:
    said = release.papers.citation.abstract or release.papers.known.get("description", "")
    task = (
        "It tests whether video-language models can distinguish a true sentence about a video from false minimal edits "
        "of it."
    )
    return [*([cell(said), ""] if said else []), task]


def creators(release: ReleaseContent) -> Lines:
    authors = release.papers.citation.authors
    return [f"{cell('; '.join(authors))}."] if authors else []


def instances(_release: ReleaseContent) -> Lines:
    return [
        (
            "An instance is an item: a clip of a video, a caption that is true of the clip, and one or more foils. A "
            "foil is a minimal edit of the caption that is false of the clip. Each item belongs to a subtest. An item "
            "can have a proficiency pair, which asks a simpler question about the same clip."
        )
    ]


def count(release: ReleaseContent) -> Lines:
    counts: dict[str, Counter[str]] = {}
    for item in released(release):
        found = counts.setdefault(item["subtest"], Counter())
        found.update(items=1, foils=len(item["foils"]), paired=item["proficiency"] is not None)
    rows: list[list[Any]] = [[name, n["items"], n["foils"], n["paired"]] for name, n in sorted(counts.items())]
    total = ["all", *(sum(row[at] for row in rows) for at in (1, 2, 3))]
    return table(["subtest", "items", "foils", "with a proficiency item"], [*rows, total])


def sample(release: ReleaseContent) -> Lines:
    others = [item for item in release.items if not item.get("released")]
    n, on_word = sum(1 for _ in released(release)), n_as_published(released(release))
    passed = f"count as valid ({on_word} imported as published)" if on_word else "passed validation"
    lines = [f"The release is a selection of {n} items that {passed}."]
    if others:
        lines.append(f"`items.jsonl` also lists {len(others)} items that are not released{_found(others)}.")
    n_rejected = release.papers.known.get("n_rejected")
    if n_rejected:
        lines.append(f"{n_rejected} candidates for foils were rejected. `rejected.jsonl` lists them with the reasons.")
    return [" ".join(lines)]


def _found(others: Sequence[Mapping[str, Any]]) -> str:
    """Describe the validation results of unreleased items; nothing if an older record has none."""
    if not all("found_valid" in item for item in others):
        return ""
    counts = Counter(item["found_valid"] for item in others)
    left_out = "passed, too, but were left out of the release or decided later"
    said = {True: left_out, False: "did not pass", None: "are undecided"}
    return ": " + "; ".join(f"{counts[valid]} {what}" for valid, what in said.items() if counts[valid])


def data(release: ReleaseContent) -> Lines:
    with_hash = sum(bool(item["video"].get("sha256")) for item in released(release))
    return [
        (
            "Text (captions, foils), and the identity of the clip: source data set and id, trim, and for "
            f"{with_hash} items the SHA-256 of the file. `items.jsonl` "
            "contains all of this, and `data/` contains the same as flat rows."
        )
    ]


def label(_release: ReleaseContent) -> Lines:
    return ["The caption is true and every foil is false; the validators' answers for each pair are in `votes.jsonl`."]


def missing(release: ReleaseContent) -> Lines:
    if not release.withheld:
        return ["No released item is withheld. The videos themselves are not part of the data set."]
    return [
        (
            f"{len(release.withheld)} items are withheld because their videos were taken down (see “Withheld”). The "
            "videos themselves are not part of the data set."
        )
    ]


def relations(release: ReleaseContent) -> Lines:
    sources = {
        (item["video"]["source_dataset"], item["video"]["source_id"] or item["video"]["key"])
        for item in released(release)
    }
    return [
        (
            f"Items of one source video share `source_dataset` and `source_id` ({len(sources)} source videos); "
            "statistics cluster by them. Items of one phenomenon share `test`."
        )
    ]


def splits(release: ReleaseContent) -> Lines:
    counts = Counter(item["video"]["split"] or "none named" for item in released(release))
    said = ", ".join(f"{cell(name)} ({n})" for name, n in sorted(counts.items()))
    return [f"All released items are for testing. Splits of the source videos: {said}."]


def errors(release: ReleaseContent) -> Lines:
    whole = (release.tables.get("validation") or {}).get("overall") or {}
    lines = []
    if whole.get("n_valid") is not None:
        lines.append(
            f"Of {whole['n_items']} items that were validated or are waiting for votes, {whole['n_valid']} are valid, "
            f"{whole['n_unanimous']} of them by a unanimous vote."
        )
        if on_word := whole.get("n_as_published"):
            lines.append(f"{on_word} of them were imported as published and are valid without votes collected here.")
        if whole["alpha_all"] is not None:
            said = f"Krippendorff's alpha over all of these items is {whole['alpha_all']:.3f}"
            lines.append(f"{said} (coding {whole['alpha_coding']}).")
            lines += filter(None, [basis_of_alpha(whole)])
    repeated = _repeated(release)
    lines.append(
        f"{repeated} captions are in more than one item." if repeated else "No caption is in more than one item."
    )
    return [" ".join(lines)]


def _repeated(release: ReleaseContent) -> int:
    counts = Counter((item["video"]["key"], item["caption"]) for item in released(release))
    return sum(n > 1 for n in counts.values())


def self_contained(release: ReleaseContent) -> Lines:
    rows = [
        [
            source.dataset or "none named",
            source.n_items,
            source.n_videos,
            source.licence or "**not stated**",
            source.url or "–",
        ]
        for source in release.papers.sources
    ]
    lines = ["The texts are self-contained. The videos belong to other data sets and must be obtained from there."]
    return lines if not rows else [*lines, "", *table(["source", "items", "videos", "licence", "address"], rows)]


def offensive(release: ReleaseContent) -> Lines:
    warned = release.papers.known.get("n_warned")
    return [] if warned is None else [f"{warned} of the videos have a content warning by the authors of the dataset."]
