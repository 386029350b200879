"""Say what verification recomputed and what only a hash holds, and check what an export writes around its records."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.export_formats.foilworks import CHECKS, score_order, vote_order
from foilworks.core.corpus.export_formats.parts.facts import Facts
from foilworks.core.corpus.export_formats.parts.markdown import link_safe
from foilworks.core.corpus.records import ReleaseScore, ReleaseVote

README = "README.md"
# What the card says of the release in numbers (templates/exports/README.md).
SIZES = re.compile(r"^(\d+) items in (\d+) subtests: ", re.MULTILINE)
FROZEN = re.compile(r"^that are false of it\. Frozen as release (.+) on (\S+); content hash `(\w*)`\.$", re.MULTILINE)
# Checked in part: the rest of these files is held by their hash.
IN_PART = {
    "items.jsonl": "captions, foils and videos of items that are not released, in items.jsonl",
    "votes.jsonl": "the votes in votes.jsonl themselves, with their times",
    "scores.jsonl": "the scores in scores.jsonl themselves",
    "tables/models.json": "intervals and settings in tables/models.json",
    "tables/leaderboard.json": "intervals and ranks in tables/leaderboard.json",
    README: "the text around the numbers of README.md",
}
RAW = ("items", "votes", "scores")
RAW_FILES = ("items.jsonl", "votes.jsonl", "scores.jsonl")
# Folders with one file per model, subtest or drawing: from this many on, they are counted.
COUNTED_FROM = 4
TABLES = "tables"
PUBLISHED = (
    "Whoever changes a file can also compute every hash again. Only the hash of the manifest that the publisher "
    "announced, on the public page or in the paper, shows that: foilworks verify {folder} --expect HASH"
)
AS_PUBLISHED = "The manifest has the expected hash, so every byte of every file is as published."
SCORES = "Scores of a model with intervals: foilworks metrics pairwise --file {file}"


def disorder(items: Sequence[Mapping[str, Any]], votes: Sequence[ReleaseVote], scores: Sequence[ReleaseScore]) -> str:
    """Return which file has its lines in another order than an export writes; "" if none."""
    keys = {
        "items.jsonl": [record.get("id") for record in items],
        "votes.jsonl": [vote_order(vote) for vote in votes],
        "scores.jsonl": [score_order(score) for score in scores],
    }
    return next((name for name, order in keys.items() if order != sorted(order)), "")


def readme_difference(text: str, facts: Facts) -> str:
    """Return the number of README.md that is not that of the facts from which an export fills it in; "" if all are."""
    sizes = {"items": str(facts["n_released"]), "subtests": str(len(facts["subtests"]))}
    frozen = {
        "release": link_safe(facts["release"]),
        "date": facts["date"],
        "content hash": facts["content_hash"],
    }
    for pattern, expected in ((SIZES, sizes), (FROZEN, frozen)):
        matches = pattern.findall(text)
        if not matches:
            return f"does not say its {' and '.join(expected)} as an export does"
        for match in matches:
            for (name, value), stated in zip(expected.items(), match, strict=True):
                if stated != value:
                    return f"{name} is {stated}; computed again, it is {value}"
    return ""


def notes(folder: Path, manifest: Mapping[str, Any], *, expected: bool) -> dict[str, Any]:
    """Return `advice`: what protects against files that were changed with all their hashes, and how to compute scores.

    With withheld items, also what is missing.
    """
    advice = [AS_PUBLISHED if expected else PUBLISHED.format(folder=folder)]
    of_models = sorted(name for name in manifest["files"] if name.startswith("scores/"))
    advice += [SCORES.format(file=folder / name) for name in of_models[:1]]
    return {"advice": advice, **_withheld(manifest)}


def _withheld(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the missing part of a release; nothing if it is complete."""
    withheld_items = manifest.get("withheld")
    if not withheld_items:
        return {}
    note = (
        f"{len(withheld_items)} items are withheld, because their videos were taken down; the hash is that of the "
        "frozen release, "
        f"and the remaining items have the hash {manifest.get('held_hash')}"
    )
    return {"withheld": [item["id"] for item in withheld_items], "held_hash": manifest.get("held_hash"), "note": note}


def covered(manifest: Mapping[str, Any], kinds: Collection[str], figures: Collection[str]) -> dict[str, list[str]]:
    """Return {"recomputed", "hash_only"} of a whole export, as lines for people.

    `kinds`: the tables that were computed from items and votes; `figures`: the files of numbers that were compared.
    """
    names, counts = list(manifest["files"]), manifest.get("counts", {})
    n = {name: f"{counts.get(name, 0):,}" for name in (*RAW, "released")}
    tables = [f"tables/{name}.json" for name in sorted({*kinds, CHECKS})]
    results = [name for name in ("tables/models.json", "tables/leaderboard.json") if name in names]
    of_models = [name for name in names if name.startswith("scores/")]
    data = [name for name in names if name.startswith("data/")]
    recomputed = [
        f"the content hash of {n['released']} released items",
        f"the numbers of items ({n['items']}), votes ({n['votes']}) and scores ({n['scores']}), in their order",
        "the vote counts of each item",
        *_line(of_models, "the lines of scores.jsonl"),
        *_line(results, "T, P, P+T, n and ties of each model"),
        *_line(tables, "all cells"),
        *_line(data, "the rows of the released items"),
        *_line(list(figures), "the numbers of the tables"),
        *_line([README] if README in names else [], "items, subtests, release, date and content hash"),
    ]
    checked_files = {*RAW_FILES, *of_models, *results, *tables, *data, *figures, README}
    in_part = [description for name, description in IN_PART.items() if name in names]
    return {
        "recomputed": recomputed,
        "hash_only": [*in_part, *by_folder(name for name in names if name not in checked_files)],
    }


def covered_by_hash(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the same of an export whose format has no tables: every file is held by its hash alone."""
    return {"recomputed": [], "hash_only": by_folder(manifest["files"])}


def _line(names: Sequence[str], what: str) -> list[str]:
    return [f"{', '.join(grouped(names))}: {what}"] if names else []


def by_folder(names: Iterable[str]) -> list[str]:
    """Return one line per folder."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(PurePosixPath(name).parent.as_posix(), []).append(name)
    return [", ".join(grouped(inside)) for _, inside in sorted(folders.items())]


def grouped(names: Iterable[str]) -> list[str]:
    """Name the files of a folder; many of one kind are counted, except tables."""
    folders: dict[tuple[str, str], list[str]] = {}
    for name in sorted(names):
        path = PurePosixPath(name)
        folders.setdefault((path.parent.as_posix(), path.suffix), []).append(name)
    labels = []
    for (folder, suffix), inside in folders.items():
        is_many = folder not in {".", TABLES} and len(inside) >= COUNTED_FROM
        labels += [f"{folder}/*{suffix} ({len(inside)} files)"] if is_many else inside
    return labels
