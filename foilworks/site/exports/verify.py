"""Verify an export against itself: bytes by the manifest, the content hash by the items, tables by votes and scores.

Anyone who changes a file can also recompute the hashes. The numbers that follow from votes and scores cannot be changed
without the same arithmetic. So both are checked, and the first difference is reported.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.metrics import pairwise, two_clips
from evaluation.scoring.queries import credit_by_id, pair_scores, two_clip_results
from evaluation.scoring.set_results import set_results
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import foilworks as whole_export
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash
from foilworks.core.corpus.export_formats.parts.manifest import MADE_BY, MANIFEST, read_manifest
from foilworks.core.corpus.export_formats.parts.released_items import released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.records import ReleaseContent, ReleaseScore, ReleaseVote, VoteCounts
from foilworks.core.corpus.release_documents import Figure
from foilworks.core.corpus.release_records import as_published_facts, foil_counts, hash_of, n_as_published, vote_counts
from foilworks.core.corpus.rules.canonical import canonical_line
from foilworks.core.jobs.outcomes import MAX_MISSING_SHARE
from foilworks.core.text.quoting import quoted
from foilworks.site.documents.figures import figure_rows
from foilworks.site.exports.covered import README, covered, covered_by_hash, disorder, notes, readme_difference
from foilworks.site.exports.exported_files import DifferenceError, parse_line, read_lines, read_table
from foilworks.site.exports.recomputed import RECOMPUTED, Evidence, recomputed
from foilworks.site.exports.signature import problem_of

Rows = list[dict[str, Any]]
Counted = Mapping[str, VoteCounts]
WHOLE = "foilworks"
# The compared results of a model; intervals depend on random draws and are not compared.
SHARES = ("T", "P", "P+T", "n", "ties")
_KEY = "manifest_sha256"
# Since this version, tables are computed from the content of the export.
RECOMPUTED_SINCE = 2
# Since this version, a figure that differs from its page's main table has its own numbers.
OWN_NUMBERS_SINCE = 3
# Since this version, intervals are valid for few equal items, and undefined draws are named; digests cover older ones.
SMALL_SAMPLES_SINCE = 4
# Since this version, an item of several foils with votes on only one has no vote counts.
COUNTS_OF_ITEMS_SINCE = 3
# Since this version, file names keep underscores, and differ in more than case.
FILE_NAMES_SINCE = 4
# Since this version, words of every script count, and the blind audit names what it cannot judge. For older exports,
# tables about words are compared only for ASCII texts, whose words are equal; digests cover other texts.
EVERY_SCRIPT_SINCE = 4
OF_WORDS = frozenset({"validation", "divergence", "blind"})
UNKNOWN_BEFORE = frozenset({"n_unjudged", "unjudged"})
COVERED_BY_DIGESTS = frozenset({"solver_accuracy", "ci", "verdict", "reason", "classifier_accuracy", "folds"})
# Errors that a document of an unexpected shape causes.
STRANGE = (KeyError, TypeError, ValueError, AttributeError, IndexError)
# For recomputed numbers; the weights of a classifier differ in their last digits between machines.
NEAR = {"rel_tol": 1e-6, "abs_tol": 1e-9}


def verify(folder: Path, expected: str = "", key: str = "") -> dict[str, Any]:
    """Return {"ok": True, "hash", "manifest", "signed_by", "recomputed", …} or {"ok": False, "difference"}.

    `key`: the public key that the publisher announced. Without it, a signature shows only that it fits its own key.
    `hash` is the content's, `manifest` the manifest's, which covers every byte. `recomputed` and `hash_only` say in
    words what was checked in which way. `expected`: the manifest's hash as it was published. EvaluationError: there is
    no export, or `expected` is not a hash.
    """
    expected_hash = expected.strip().lower().removeprefix("sha256:")
    if expected and not re.fullmatch("[0-9a-f]{64}", expected_hash):
        raise EvaluationError(
            f"{quoted(expected)} is not a hash; give the 64 hexadecimal digits published with the export"
        )
    if not (folder / MANIFEST).is_file():
        fix = "unpack the archive, and give its folder" if folder.is_file() else "give the exported folder"
        raise EvaluationError(f"{folder}: is not an export (it has no {MANIFEST}); {fix}")
    try:
        manifest = _manifest(folder)
        _same_files(folder, manifest)
        checked = covered_by_hash(manifest)
        if manifest.get("format") == WHOLE:
            checked = _same_content(folder, manifest)
        if expected_hash and expected_hash != manifest[_KEY]:
            raise DifferenceError(_hash_difference(manifest, expected_hash))
        signer = _signer(manifest, key.strip().lower())
    except DifferenceError as difference:
        return {"ok": False, "difference": str(difference)}
    report = {**checked, **notes(folder, manifest, expected=bool(expected_hash))}
    return {"ok": True, "hash": manifest["content_hash"], "manifest": manifest[_KEY], "signed_by": signer, **report}


def _signer(manifest: Mapping[str, Any], expected_key: str) -> str:
    """Check the signature, if there is one or a key is expected; return its public key."""
    signature = manifest.get("signature")
    unsigned = {name: value for name, value in manifest.items() if name != "signature"}
    try:
        problem = problem_of(signature, self_hash(unsigned), expected_key)
    except CorpusError as error:
        if expected_key:
            raise
        return f"not checked: {error}"
    if problem:
        raise DifferenceError(f"{MANIFEST}: {problem}")
    return str(signature["public_key"]) if signature else ""


def _manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest and check its own hash."""
    try:
        text = (folder / MANIFEST).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise DifferenceError(f"{MANIFEST}: cannot be read ({error})") from error
    manifest = read_manifest(text)
    if manifest is None or "content_hash" not in manifest:
        raise DifferenceError(f"{MANIFEST}: was not made by {MADE_BY}, or lacks the files or the content hash")
    if pretty(manifest) != text or self_hash(manifest) != manifest.get(_KEY):
        raise DifferenceError(f"{MANIFEST}: was changed: its own hash differs")
    return manifest


def _same_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Check that the folder holds the manifest's files, byte for byte, and no others."""
    file_names = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()
    }
    listed_files = manifest["files"]
    for name in sorted(file_names - {MANIFEST} - set(listed_files)):
        raise DifferenceError(f"{name}: is not in the manifest")
    for name in sorted(listed_files):
        path = folder / name
        if name not in file_names or ".." in PurePosixPath(name).parts:
            raise DifferenceError(f"{name}: is missing")
        if path.is_symlink():
            raise DifferenceError(f"{name}: is a link, not a file")
        if hashlib.sha256(path.read_bytes()).hexdigest() != listed_files[name].get("sha256"):
            raise DifferenceError(f"{name}: was changed: its SHA-256 is not the manifest's")


def _same_content(folder: Path, manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Check what follows from items, votes and scores; return what was recomputed."""
    items = [record for _, record in read_lines(folder / "items.jsonl")]
    parsed = (whole_export.vote_of, whole_export.vote_line), (whole_export.score_of, whole_export.score_line)
    votes = [parse_line("vote", *parsed[0], where, line) for where, line in read_lines(folder / "votes.jsonl")]
    scores = [parse_line("score", *parsed[1], where, line) for where, line in read_lines(folder / "scores.jsonl")]
    try:
        content_hash = hash_of(record for record in items if record.get("released"))
    except (TypeError, ValueError, KeyError) as error:
        raise DifferenceError(f"items.jsonl: has no content hash ({error})") from error
    expected_hash = manifest["held_hash"] if manifest.get("withheld") else manifest["content_hash"]
    _same("items.jsonl", "content hash", content_hash, expected_hash)
    counts = {"items": len(items), "votes": len(votes), "scores": len(scores)}
    for name, count in counts.items():
        _same(MANIFEST, f"counts.{name}", manifest.get("counts", {}).get(name), count)
    word = as_published_facts(n_as_published(record for record in items if record.get("released")))
    _same(MANIFEST, "as_published", manifest.get("as_published"), word.get("as_published"))
    layout = manifest.get("layout_version", 1)
    since = layout >= RECOMPUTED_SINCE
    try:
        counted = vote_counts(votes, foil_counts(items) if layout >= COUNTS_OF_ITEMS_SINCE else None)
        _same_counts(items, counted)
        _same_computed(folder, items, votes, scores)
        if since:
            _same_made(folder, items, votes, scores, counted, layout)
    except (EvaluationError, *STRANGE) as error:
        # A document with impossible content: its digest tells which one.
        if since:
            _same_digests(folder)
        raise DifferenceError(f"tables/: cannot be computed again ({quoted(error)})") from error
    if since:
        _same_digests(folder)
    _same_layout(folder, manifest, items, votes, scores)
    kinds = [kind for kind in _kinds(items, layout) if (folder / "tables" / f"{kind}.json").exists()] if since else []
    rows = _figure_rows(folder, of_own=layout >= OWN_NUMBERS_SINCE) if since else {}
    return covered(manifest, kinds, [f"figures/{stem}.csv" for stem in rows])


def _same_layout(
    folder: Path, manifest: Mapping[str, Any], items: Rows, votes: list[ReleaseVote], scores: list[ReleaseScore]
) -> None:
    """Check what has no digest of its own besides the manifest's: the order of lines, the numbers of the card."""
    if name := disorder(items, votes, scores):
        raise DifferenceError(f"{name}: the order of its lines is not that of an export")
    if README in manifest["files"]:
        text = (folder / README).read_text(encoding="utf-8", errors="replace")
        frozen = (str(manifest.get(name)) for name in ("project", "release", "content_hash", "created_at"))
        if difference := readme_difference(text, facts_of(ReleaseContent(*frozen, items, votes, scores))):
            raise DifferenceError(f"{README}: {difference}")


def _same_computed(folder: Path, items: Rows, votes: list[ReleaseVote], scores: list[ReleaseScore]) -> None:
    _same_checks(folder, votes, scores)
    _same_model_files(folder, scores)
    _same_results(folder, scores, items)


def _same_made(
    folder: Path, items: Rows, votes: list[ReleaseVote], scores: list[ReleaseScore], counted: Counted, layout: int
) -> None:
    """Check what exports derive from their own items, votes and tables."""
    _same_tables(folder, items, votes, layout)
    _same_leaderboard(folder, items, scores)
    _same_flat(folder, items, counted, own_names=layout >= FILE_NAMES_SINCE)
    _same_figures(folder, of_own=layout >= OWN_NUMBERS_SINCE)


def _hash_difference(manifest: Mapping[str, Any], expected_hash: str) -> str:
    difference = f"{MANIFEST}: has the hash {manifest[_KEY]}, not the expected one"
    if expected_hash == manifest["content_hash"]:
        return (
            f"{difference}: that one is the items' alone, which are the same; votes and tables are held by the "
            "manifest's"
        )
    return difference


def _same_counts(items: Rows, counted: Mapping[str, VoteCounts]) -> None:
    """Check that the vote counts of an item equal its votes."""
    for item in items:
        pairs = [item, *([item["proficiency"]] if item.get("proficiency") else [])]
        for pair in pairs:
            tally = counted.get(pair.get("id", ""))
            line = tally and {"caption": tally.caption, "foil": tally.foil, "other": tally.other}
            _same("items.jsonl", f"votes of {pair.get('id')}", pair.get("votes"), line)


def _same_checks(folder: Path, votes: list[ReleaseVote], scores: list[ReleaseScore]) -> None:
    name = f"tables/{whole_export.CHECKS}.json"
    table, computed = read_table(folder, whole_export.CHECKS), whole_export.checks(votes, scores)
    rows_by_key = [
        {(row.get("subtest"), row.get("model"), row.get("protocol")): row for row in rows}
        for rows in (table.get("scores", []), computed["scores"])
    ]
    for row_key in sorted(rows_by_key[0].keys() | rows_by_key[1].keys(), key=str):
        label = " / ".join(map(str, row_key))
        _same(name, f"scores of {label}", rows_by_key[0].get(row_key), rows_by_key[1].get(row_key))
    exported_choices, computed_choices = table.get("annotators", {}), computed["annotators"]
    for person in sorted(exported_choices.keys() | computed_choices.keys()):
        _same(name, f"choices of {person}", exported_choices.get(person), computed_choices.get(person))
    _same(name, "content", {key: table.get(key) for key in computed}, computed)


def _same_model_files(folder: Path, scores: list[ReleaseScore]) -> None:
    """Check that the files of single models have the lines of scores.jsonl, each once."""
    records = [record for path in sorted((folder / "scores").glob("*.jsonl")) for _, record in read_lines(path)]
    model_lines = sorted(map(canonical_line, records))
    expected_lines = sorted(canonical_line(whole_export.score_line(score)) for score in scores)
    _same("scores/", "lines", model_lines, expected_lines, show=False)


def _same_results(folder: Path, scores: list[ReleaseScore], items: Rows) -> None:
    """Check T, P and P+T of every model, overall and per subtest and test, recomputed from the raw scores."""
    if not (folder / "tables" / "models.json").exists():
        return
    for exported in read_table(folder, "models"):
        rows = [
            score
            for score in scores
            if (score.model_key, score.protocol) == (exported["model_key"], exported["protocol"])
        ]
        rows = [score for score in rows if score.id not in set(exported.get("left_out", ()))]
        if not rows or exported.get("overall") is None:
            continue
        computed = pairwise.compute(pair_scores(rows), ties=exported["tie_policy"], draws=1)
        if pairs := exported.get("two_clips"):
            _same_two_clips(exported["model"], pairs, rows, exported["tie_policy"])
        if exported.get("sets"):
            _same_sets(exported, rows, items)
        groups = [("overall", exported["overall"], computed["overall"])]
        for kind in ("subtests", "tests"):
            names = sorted(exported[kind].keys() | computed[kind].keys())
            groups += [(f"{kind}.{name}", exported[kind].get(name), computed[kind].get(name)) for name in names]
        for group, exported_shares, computed_shares in groups:
            for share in SHARES:
                pair = ((exported_shares or {}).get(share), (computed_shares or {}).get(share))
                _same("tables/models.json", f"{exported['model']}, {group}.{share}", *pair)


def _same_two_clips(model: str, exported: Mapping[str, Any], rows: list[ReleaseScore], ties: str) -> None:
    """Check text, video and group score of the items of two clips, which the raw scores name."""
    winners, shares = exported["scores"] == two_clips.WINNERS, exported["scores"] == two_clips.SHARES
    computed = two_clip_results(rows, ties, 1, winners=winners, shares=shares) or {}
    for name in two_clips.SCORES:
        pair = ((results.get("overall") or {}).get(name) for results in (exported, computed))
        _same("tables/models.json", f"{model}, two_clips.{name}", *pair)


def _same_sets(exported: Mapping[str, Any], rows: list[ReleaseScore], items: Rows) -> None:
    """Check the scores of sets; answers that cannot be read are not exported, so sets with one are not checked."""
    overall = exported["sets"]["overall"]
    if "n_unread" in overall:
        return
    released = [item for item in items if item.get("released")]
    credit = credit_by_id(pair_scores(rows), exported["tie_policy"])
    computed = (set_results(released, credit, set(), 1) or {}).get("overall") or {}
    for name in overall["chance"]:
        _same("tables/models.json", f"{exported['model']}, sets.{name}", overall[name], computed.get(name))


def _same_tables(folder: Path, items: Rows, votes: list[ReleaseVote], layout: int) -> None:
    """Check the tables that follow from items and votes, cell by cell."""
    old_words = layout < EVERY_SCRIPT_SINCE
    evidence = Evidence(items, votes)
    for kind in _kinds(items, layout):
        path = f"tables/{kind}.json"
        exported = read_table(folder, kind) if (folder / path).exists() else None
        computed = recomputed(kind, evidence, exported)
        if computed is None and exported is None:
            continue
        exported = read_table(folder, kind)
        if layout < SMALL_SAMPLES_SINCE:
            exported, computed = (_without(table, _is_interval) for table in (exported, computed))
        if kind == "blind":
            exported, computed = (_without(table, COVERED_BY_DIGESTS.__contains__) for table in (exported, computed))
        if old_words:
            computed = _without(computed, UNKNOWN_BEFORE.__contains__)
        _same_cells(path, "", exported, computed)


def _kinds(items: Rows, layout: int) -> list[str]:
    """Return the tables to compute from items and votes."""
    skipped = OF_WORDS if layout < EVERY_SCRIPT_SINCE and not all(map(_is_ascii, items)) else frozenset()
    return [kind for kind in RECOMPUTED if kind not in skipped]


def _is_ascii(item: Mapping[str, Any]) -> bool:
    pair = item.get("proficiency") or {"caption": "", "foils": []}
    return all(text.isascii() for record in (item, pair) for text in (record["caption"], *record["foils"]))


def _is_interval(key: str) -> bool:
    return key == "ci" or key.endswith(("_ci", "_ci_undefined"))


def _without(table: Any, leaves_out: Callable[[str], bool]) -> Any:
    """Return the table without the keys, at every depth."""
    if isinstance(table, list):
        return [_without(row, leaves_out) for row in table]
    if not isinstance(table, dict):
        return table
    return {key: _without(value, leaves_out) for key, value in table.items() if not leaves_out(key)}


def _same_cells(name: str, path: str, exported: Any, computed: Any) -> None:
    """Name the first differing cell by its path: "subtests[0].n_valid"."""
    if isinstance(exported, dict) and isinstance(computed, dict):
        for key in sorted(exported.keys() | computed.keys()):
            _same_cells(name, f"{path}.{key}".lstrip("."), exported.get(key), computed.get(key))
    elif isinstance(exported, list) and isinstance(computed, list) and len(exported) == len(computed):
        for index, (exported_cell, computed_cell) in enumerate(zip(exported, computed, strict=True)):
            _same_cells(name, f"{path}[{index}]", exported_cell, computed_cell)
    elif isinstance(exported, float) and isinstance(computed, float) and math.isclose(exported, computed, **NEAR):
        return
    else:
        _same(name, path or "content", exported, computed)


def _same_leaderboard(folder: Path, items: Rows, scores: list[ReleaseScore]) -> None:
    """Check that its shares equal the models' results. A model without scores of enough items has none there."""
    if not (folder / "tables" / "leaderboard.json").exists():
        return
    name, board = "tables/leaderboard.json", read_table(folder, "leaderboard")
    results = {(model["model_key"], model["protocol"]): model["overall"] for model in read_table(folder, "models")}
    n_released = sum(bool(record.get("released")) for record in items)
    n_scored = Counter((score.model_key, score.protocol) for score in scores)
    for row in board["models"]:
        key = (row["model_key"], row["protocol"])
        model_shares = results.get(key) or {}
        has_too_few = n_released - n_scored[key] > MAX_MISSING_SHARE * n_released
        if has_too_few and all(row.get(share) is None for share in SHARES):
            continue
        for share in SHARES:
            _same_cells(name, f"{row['model']}.{share}", row.get(share), model_shares.get(share))


def _same_flat(folder: Path, items: Rows, counted: Counted, *, own_names: bool) -> None:
    """Check that the rows of data/ are those of the released items. Not `own_names`: files named by an older rule."""
    content = ReleaseContent("", "", "", "", tuple(items))
    older = {} if own_names else _files_by_subtest(folder / whole_export.DATA)
    for name, records in by_subtest(released_items(content, counted), ".jsonl").items():
        exported = [row for _, row in read_lines(folder / whole_export.DATA / older.get(records[0].subtest, name))]
        texts = whole_export.flat_texts(has_pairs=any(record.pair for record in records))
        rows = (whole_export.flat_row(record, texts) for record in records)
        for row, expected in zip_longest(exported, rows, fillvalue={}):
            _same_cells(f"{whole_export.DATA}/{name}", str(expected.get("id", "rows")), row, expected)


def _files_by_subtest(folder: Path) -> dict[str, str]:
    """Return subtest -> the name of the file whose first row belongs to it."""
    first = {path.name: next(read_lines(path), ("", {}))[1] for path in sorted(folder.glob("*.jsonl"))}
    return {str(row.get("subtest")): name for name, row in first.items()}


def _same_figures(folder: Path, *, of_own: bool) -> None:
    """Check that the numbers of the figures equal those of the tables."""
    for stem, rows in _figure_rows(folder, of_own=of_own).items():
        path = folder / "figures" / f"{stem}.csv"
        text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else None
        if text != whole_export.figure_csv(Figure(bytes, rows)):
            raise DifferenceError(f"figures/{path.name}: differs from the numbers of its table")


def _figure_rows(folder: Path, *, of_own: bool) -> dict[str, Any]:
    tables = {path.stem: read_table(folder, path.stem) for path in sorted((folder / "tables").glob("*.json"))}
    return dict(figure_rows(tables, of_own=of_own))


def _same_digests(folder: Path) -> None:
    """Check that what cannot be computed from the export still has the digests stored at export."""
    paths = sorted((folder / "tables").glob("*.json"))
    tables = {path.stem: read_table(folder, path.stem) for path in paths if path.stem != whole_export.CHECKS}
    exported, computed = read_table(folder, whole_export.CHECKS), whole_export.digests_of(folder, tables)
    for kind, where in (("lines", "{}.jsonl"), ("tables", "tables/{}.json")):
        for name in sorted(computed[kind].keys() | exported.get(kind, {}).keys()):
            if exported.get(kind, {}).get(name) != computed[kind].get(name):
                raise DifferenceError(
                    f"{where.format(name)}: was changed: tables/{whole_export.CHECKS}.json records different content"
                )


def _same(name: str, what: str, exported: Any, computed: Any, *, show: bool = True) -> None:
    close = (
        isinstance(exported, float) and isinstance(computed, float) and math.isclose(exported, computed, rel_tol=1e-9)
    )
    if exported != computed and not (close and "checks" not in name):
        values = (
            f" is {_short(exported)}; computed again, it is {_short(computed)}"
            if show
            else " are not those of scores.jsonl"
        )
        raise DifferenceError(f"{name}: {what}{values}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 160 else f"{text[:157]}..."
