"""`foilworks`: everything about a release in plain files.

`items.jsonl` items with their status, released or not · `votes.jsonl` judgements that count, under pseudonyms
(`votes_not_counted.jsonl`: surplus ones and those excluded, where there are some) ·
`scores.jsonl` raw scores of all models, and one file a model in `scores/` that `foilworks metrics pairwise` reads ·
`tables/*.json` reports (`gate.json`: the blind audit at its freezing; `leaderboard`, `ladder`, `human`, `pay`,
`changes`), and `tables/checks.json` with what can be recomputed from votes and scores · `figures/` drawings with their
numbers ·
`rejected.jsonl` candidates that did not become foils, where there are some · `data/` flat rows, `README.md`,
`croissant.json` · `datasheet.md` · `CHANGELOG.md` · `LICENCES.md` · `CITATION.cff`, `citation.bib` · `load.py` ·
`manifest.json`.
"""

import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.changelog import changelog, licences
from foilworks.core.corpus.export_formats.parts.citation import bibtex, cff
from foilworks.core.corpus.export_formats.parts.datasheet import datasheet
from foilworks.core.corpus.export_formats.parts.flat import write_flat
from foilworks.core.corpus.export_formats.parts.folder import (
    pretty,
    safe_name,
    unused_name,
    write_folder,
    write_json,
    write_lines,
)
from foilworks.core.corpus.export_formats.parts.released_items import selection_facts, withheld_facts
from foilworks.core.corpus.records import ReleaseContent, ReleaseScore, ReleaseVote, in_order
from foilworks.core.corpus.release_documents import Figure
from foilworks.core.corpus.release_records import (
    CANARY,
    STATUS_FIELDS,
    as_published_facts,
    holdback_facts,
    n_as_published,
)
from foilworks.core.text.storable import safe_row

LAYOUT_VERSION = 4
CHECKS = "checks"
COUNTED = "counted"
LOADER = Path(__file__).with_name("_load_snippet.py")
_TABLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")

# Whether the format needs the project's reports, which are slow to collect.
USES_TABLES = True


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    for name in (*release.tables, *release.papers.figures):
        if name == CHECKS or not _TABLE_NAME.fullmatch(name):
            raise CorpusError(f"tables/{name}.json: is not a valid table name; use letters, digits, - and _")
    return write_folder(out, _facts(release), lambda folder: _fill(folder, release))


def _facts(release: ReleaseContent) -> dict[str, Any]:
    return {
        "format": "foilworks",
        "layout_version": LAYOUT_VERSION,
        "project": release.project,
        "release": release.release,
        "created_at": release.created_at,
        "content_hash": release.content_hash,
        "content_hash_covers": "released records of items.jsonl, sorted by id, without the fields of status_fields",
        "status_fields": sorted(STATUS_FIELDS),
        "simulated": release.simulated,
        "counts": {
            "items": len(release.items),
            "released": sum(bool(item.get("released")) for item in release.items),
            "votes": sum(vote.state == COUNTED for vote in release.votes),
            "votes_not_counted": sum(vote.state != COUNTED for vote in release.votes),
            "scores": len(release.scores),
        },
        **as_published_facts(n_as_published(item for item in release.items if item.get("released"))),
        **selection_facts(release),
        **withheld_facts(release),
        **holdback_facts(release.canary, release.holdback),
    }


def _fill(folder: Path, release: ReleaseContent) -> None:
    mark = {CANARY: release.canary} if release.canary else {}
    write_lines(folder / "items.jsonl", ({**item, **mark} for item in in_order(release.items, itemgetter("id"))))
    _write_votes(folder / "votes.jsonl", release, lambda vote: vote.state == COUNTED)
    if any(vote.state != COUNTED for vote in release.votes):
        _write_votes(folder / "votes_not_counted.jsonl", release, lambda vote: vote.state != COUNTED)
    write_lines(folder / "scores.jsonl", map(score_line, in_order(release.scores, score_order)))
    (folder / "scores").mkdir()
    for model, name in _file_names(release).items():
        scores = (score for score in in_order(release.scores, score_order) if _model_of(score) == model)
        write_lines(folder / "scores" / f"{name}.jsonl", map(score_line, scores))
    for name, table in release.tables.items():
        write_json(folder / "tables" / f"{name}.json", table)
    counted = (vote for vote in release.votes if vote.state == COUNTED)
    table = {**checks(counted, release.scores), **digests_of(folder, release.tables)}
    write_json(folder / "tables" / f"{CHECKS}.json", table)
    _write_papers(folder, release)


def _write_votes(path: Path, release: ReleaseContent, is_written: Callable[[ReleaseVote], bool]) -> None:
    write_lines(path, map(vote_line, filter(is_written, in_order(release.votes, vote_order))))


def _write_papers(folder: Path, release: ReleaseContent) -> None:
    """What goes out beside items, votes, scores and tables."""
    rejected = iter(release.papers.rejected())
    for first in rejected:
        write_lines(folder / "rejected.jsonl", chain([first], rejected))
    write_flat(folder, release)
    texts = {
        "datasheet.md": datasheet(release),
        "CHANGELOG.md": changelog(release),
        "LICENCES.md": licences(release),
        "CITATION.cff": cff(release),
        "citation.bib": bibtex(release),
        "load.py": LOADER.read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, figure in release.papers.figures.items():
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / f"{name}.svg").write_bytes(figure.drawn())
        (folder / "figures" / f"{name}.csv").write_text(figure_csv(figure), encoding="utf-8", newline="")


def figure_csv(figure: Figure) -> str:
    """The numbers behind a drawing; cells that a spreadsheet would run are neutralised."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(safe_row(list(row)) for row in figure.rows)
    return out.getvalue()


def vote_line(vote: ReleaseVote) -> dict[str, Any]:
    """One judgement; `position` is 1 where the caption was shown first, 2 where second, null where unknown."""
    return {
        "item": vote.item,
        "subtest": vote.subtest,
        "kind": vote.kind,
        "foil": vote.foil,
        "stage": vote.stage,
        "annotator": vote.annotator,
        "choice": vote.choice,
        "position": None if vote.caption_first is None else 1 if vote.caption_first else 2,
        "state": vote.state,
        "source": vote.source,
        "simulated": vote.simulated,
        "seconds": vote.seconds,
        "watch": dict(vote.watch),
        "guideline": vote.guideline,
        **({"guideline_of": vote.guideline_of} if vote.guideline_of else {}),
        **({} if vote.compared else {"compared": False}),
    }


def vote_of(line: Mapping[str, Any]) -> ReleaseVote:
    """Return the vote of a line: the reverse of `vote_line`. KeyError, TypeError: it is not one."""
    position = line["position"]
    fields = {name: value for name, value in line.items() if name != "position"}
    return ReleaseVote(**fields, caption_first=None if position is None else position == 1)


def score_of(line: Mapping[str, Any]) -> ReleaseScore:
    """Return the scores of a line: the reverse of `score_line`. KeyError, TypeError: they are none."""
    fields = {name: value for name, value in line.items() if name not in {"proficiency", "foils"}}
    pair = line.get("proficiency") or {"caption": None, "foils": []}
    return ReleaseScore(
        **fields,
        foils=tuple(line["foils"]),
        proficiency_caption=pair["caption"],
        proficiency_foils=tuple(pair["foils"]),
    )


def score_line(score: ReleaseScore) -> dict[str, Any]:
    """The scores of one item by one model, in the form that `metrics pairwise` reads, with what names the model."""
    line: dict[str, Any] = {
        "id": score.id,
        "model": score.model,
        "model_key": score.model_key,
        "protocol": score.protocol,
        "subtest": score.subtest,
        "test": score.test or score.subtest,
        "cluster": score.cluster,
        "kind": score.kind,
        "higher_is_better": score.higher_is_better,
        "caption": score.caption,
        "foils": list(score.foils),
    }
    if score.proficiency_caption is not None:
        line["proficiency"] = {"caption": score.proficiency_caption, "foils": list(score.proficiency_foils)}
    if score.pair:
        line["pair"] = score.pair
    return line


def checks(votes: Iterable[ReleaseVote], scores: Iterable[ReleaseScore]) -> dict[str, Any]:
    """Sums that a changed vote or score cannot leave as they are.

    For every subtest, model and protocol: number of values, their exact sum (math.fsum), least and greatest; for
    every annotator how often each choice was made.
    """
    values: dict[tuple[str, str, str], list[float]] = {}
    for score in scores:
        found = values.setdefault((score.subtest, score.model, score.protocol), [])
        found += [score.caption, *score.foils]
        if score.proficiency_caption is not None:
            found += [score.proficiency_caption, *score.proficiency_foils]
    choices: dict[str, Counter[str]] = {}
    for vote in votes:
        choices.setdefault(vote.annotator, Counter())[vote.choice] += 1
    return {
        "scores": [
            {
                "subtest": subtest,
                "model": model,
                "protocol": protocol,
                "n": len(found),
                "sum": math.fsum(found),
                "min": min(found),
                "max": max(found),
            }
            for (subtest, model, protocol), found in sorted(values.items())
        ],
        "annotators": {name: dict(sorted(counts.items())) for name, counts in sorted(choices.items())},
    }


def digests_of(folder: Path, tables: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of every table, and of the lines of items, votes and scores in any order.

    Some tables follow from numbers that no file has (working times, limits, pay): a change of one is detected by this.
    """
    return {
        "tables": {name: hashlib.sha256(pretty(table).encode()).hexdigest() for name, table in sorted(tables.items())},
        "lines": {name: _sha256_of_lines(folder / f"{name}.jsonl") for name in ("items", "votes", "scores")},
    }


def _sha256_of_lines(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for number, line in enumerate(sorted(file)):
            digest.update((b"\n" if number else b"") + line.removesuffix(b"\n"))
    return digest.hexdigest()


def vote_order(vote: ReleaseVote) -> tuple[str, int, str, str]:
    return vote.item, -1 if vote.foil is None else vote.foil, vote.stage, vote.annotator


def score_order(score: ReleaseScore) -> tuple[str, str, str]:
    return score.model, score.protocol, score.id


def _model_of(score: ReleaseScore) -> tuple[str, str, str]:
    return score.model, score.protocol, score.model_key


def _file_names(release: ReleaseContent) -> dict[tuple[str, str, str], str]:
    """Return a file name for each model: its label made safe, with the protocol and a number if labels are alike."""
    names: dict[tuple[str, str, str], str] = {}
    taken: set[str] = set()
    for model in dict.fromkeys(map(_model_of, in_order(release.scores, score_order))):
        label, protocol, _key = model
        is_taken = safe_name(label).casefold() in taken
        names[model] = unused_name(f"{label}-{protocol}" if is_taken else label, taken)
    return names
