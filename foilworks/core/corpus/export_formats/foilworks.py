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
import heapq
import io
import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import IO, Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.jsonl import json_text, line
from foilworks.core.corpus.export_formats.parts.documents import (
    FIELDS,
    bibtex,
    cff,
    croissant,
    datasheet,
    described,
    fenced_bibtex,
    render,
)
from foilworks.core.corpus.export_formats.parts.facts import Facts, facts_of, manifest_of
from foilworks.core.corpus.export_formats.parts.folder import (
    pretty,
    safe_name,
    unused_name,
    write_folder,
    write_json,
    write_lines,
)
from foilworks.core.corpus.export_formats.parts.tables import numbered
from foilworks.core.corpus.records import ItemRecord, ReleaseContent, ReleaseScore, ReleaseVote, in_order
from foilworks.core.corpus.release_documents import Figure
from foilworks.core.corpus.release_records import CANARY, STATUS_FIELDS, foil_counts, item_record, vote_counts
from foilworks.core.text.batches import batched
from foilworks.core.text.storable import safe_row

LAYOUT_VERSION = 4
CHECKS = "checks"
COUNTED = "counted"
LOADER = Path(__file__).with_name("_load_snippet.py")
DATA = "data"
# Lines of a file that are sorted in memory.
SORTED_LINES = 20_000
# The columns of the flat rows; what has no fixed shape is JSON text.
TEXTS = (
    "id",
    "subtest",
    "test",
    "caption",
    "video",
    "video_key",
    "url",
    "source_dataset",
    "source_id",
    "time_unit",
    "split",
    "class_label",
    "category",
    "movie",
    "facts",
    "extra",
    "proficiency_caption",
)
LISTS = ("foils", "proficiency_foils")
NUMBERS = ("start_time", "end_time")
COUNTS = ("votes_caption", "votes_foil", "votes_other")
_TABLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")

# Whether the format needs the project's reports, which are slow to collect.
USES_TABLES = True


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    for name in (*release.tables, *release.papers.figures):
        if name == CHECKS or not _TABLE_NAME.fullmatch(name):
            raise CorpusError(f"tables/{name}.json: is not a valid table name; use letters, digits, - and _")
    facts = facts_of(release)
    return write_folder(out, _manifest(facts), lambda folder: _fill(folder, release, facts))


def _manifest(facts: Facts) -> dict[str, Any]:
    return {
        **manifest_of(facts),
        "format": "foilworks",
        "layout_version": LAYOUT_VERSION,
        "content_hash_covers": "released records of items.jsonl, sorted by id, without the fields of status_fields",
        "status_fields": sorted(STATUS_FIELDS),
        "counts": {
            "items": facts["n_items"],
            "released": facts["n_released"],
            "votes": facts["n_counted"],
            "votes_not_counted": facts["n_votes"] - facts["n_counted"],
            "scores": facts["n_scores"],
        },
    }


def _fill(folder: Path, release: ReleaseContent, facts: Facts) -> None:
    mark = {CANARY: release.canary} if release.canary else {}
    write_lines(folder / "items.jsonl", ({**item, **mark} for item in in_order(release.items, itemgetter("id"))))
    _write_votes(folder / "votes.jsonl", release, lambda vote: vote.state == COUNTED)
    if facts["n_counted"] < facts["n_votes"]:
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
    _write_documents(folder, release, facts)


def _write_votes(path: Path, release: ReleaseContent, is_written: Callable[[ReleaseVote], bool]) -> None:
    write_lines(path, map(vote_line, filter(is_written, in_order(release.votes, vote_order))))


def _write_documents(folder: Path, release: ReleaseContent, facts: Facts) -> None:
    """Write what is published with items, votes, scores and tables."""
    rejected = iter(release.papers.rejected())
    for first in rejected:
        write_lines(folder / "rejected.jsonl", chain([first], rejected))
    files = _write_flat(folder, release, facts)
    if files:
        write_json(folder / "croissant.json", _described(folder, facts, files))
    texts = {
        "README.md": render("exports/README.md", facts, files=files, bibtex=fenced_bibtex(facts)),
        "datasheet.md": datasheet(facts),
        "CHANGELOG.md": render("exports/CHANGELOG.md", facts),
        "LICENCES.md": render("exports/LICENCES.md", facts),
        "CITATION.cff": cff(facts),
        "citation.bib": bibtex(facts),
        "load.py": LOADER.read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, figure in release.papers.figures.items():
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / f"{name}.svg").write_bytes(figure.drawn())
        (folder / "figures" / f"{name}.csv").write_text(figure_csv(figure), encoding="utf-8", newline="")


def _write_flat(folder: Path, release: ReleaseContent, facts: Facts) -> list[dict[str, Any]]:
    """Write the released items as flat rows, one file per subtest, and describe the files."""
    counts = vote_counts(release.votes, foil_counts(release.items))
    ordered = in_order(release.items, lambda item: numbered(item["id"]))
    items = (item_record(item, counts) for item in ordered if item.get("released"))
    files: dict[str, dict[str, Any]] = {}
    taken: set[str] = set()
    for subtest, rows in groupby(items, attrgetter("subtest")):
        (folder / DATA).mkdir(exist_ok=True)
        if subtest not in files:
            stem = unused_name(subtest, taken)
            texts = flat_texts(has_pairs=bool(facts["subtests"][subtest]["pairs"]))
            files[subtest] = {"stem": stem, "path": f"{DATA}/{stem}.jsonl", "columns": _columns(texts), "texts": texts}
        flat = (flat_row(item, files[subtest]["texts"]) for item in rows)
        write_lines(folder / files[subtest]["path"], flat, mode="a")
    return list(files.values())


def flat_texts(*, has_pairs: bool) -> tuple[str, ...]:
    """Return the columns of text of a file: with the name of the pair, if an item of it has one."""
    return (*TEXTS, "pair") if has_pairs else TEXTS


def _columns(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the type of each column, so that a column that is empty in one subtest has the same one everywhere."""
    columns = [(name, "dtype: string") for name in texts] + [(name, "sequence: string") for name in LISTS]
    return columns + [(name, "dtype: float64") for name in NUMBERS] + [(name, "dtype: int64") for name in COUNTS]


def flat_row(item: ItemRecord, texts: Sequence[str]) -> dict[str, Any]:
    """Return a row with every column: missing texts are "", missing lists empty, missing numbers null."""
    record = line(item)
    pair, votes = record.get("proficiency") or {}, record.get("votes") or {}
    row: dict[str, Any] = {name: record.get(name) or "" for name in texts}
    row |= {name: json_text(record.get(name)) or "" for name in ("facts", "extra")}
    row |= {"foils": record["foils"], "proficiency_caption": pair.get("caption", "")}
    row |= {"proficiency_foils": pair.get("foils", []), **{name: record.get(name) for name in NUMBERS}}
    return row | {f"votes_{choice}": votes.get(choice) for choice in ("caption", "foil", "other")}


def _described(folder: Path, facts: Facts, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return Croissant of the flat rows, with their authors and licence, where these are known."""
    cited = facts["cited"]
    paths = sorted(folder / file["path"] for file in files)
    more = {
        "citeAs": bibtex(facts),
        "license": cited["licence_url"] or cited["licence"],
        "creator": [{"@type": "sc:Person", "name": name} for name in cited["authors"]],
        "url": cited["url"],
    }
    return croissant(facts, [described(path, "application/jsonlines", FIELDS) for path in paths], more)


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
        group_values = values.setdefault((score.subtest, score.model, score.protocol), [])
        group_values += [score.caption, *score.foils]
        if score.proficiency_caption is not None:
            group_values += [score.proficiency_caption, *score.proficiency_foils]
    choices: dict[str, Counter[str]] = {}
    for vote in votes:
        choices.setdefault(vote.annotator, Counter())[vote.choice] += 1
    return {
        "scores": [
            {
                "subtest": subtest,
                "model": model,
                "protocol": protocol,
                "n": len(group_values),
                "sum": math.fsum(group_values),
                "min": min(group_values),
                "max": max(group_values),
            }
            for (subtest, model, protocol), group_values in sorted(values.items())
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
    with path.open("rb") as file, ExitStack() as stack:
        parts = [stack.enter_context(_sorted_part(lines)) for lines in batched(file, SORTED_LINES)]
        for number, line in enumerate(heapq.merge(*parts)):
            digest.update((b"\n" if number else b"") + line.removesuffix(b"\n"))
    return digest.hexdigest()


def _sorted_part(lines: Iterable[bytes]) -> IO[bytes]:
    sorted_file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    sorted_file.writelines(sorted(line.removesuffix(b"\n") + b"\n" for line in lines))
    sorted_file.seek(0)
    return sorted_file


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
