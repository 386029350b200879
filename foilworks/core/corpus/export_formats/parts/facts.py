"""One record of facts about a release, computed once per export: every document of the export is filled in from it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.export_formats.parts.markdown import cell, line, link_safe
from foilworks.core.corpus.records import ReleaseContent, ReleaseScore, ReleaseVote
from foilworks.core.corpus.release_documents import Citation
from foilworks.core.corpus.release_records import (
    PUBLISHERS_WORD,
    SCREENED_BY,
    SCREENED_WORDS,
    as_published_facts,
    hash_of,
    holdback_facts,
    n_as_published,
)
from foilworks.core.corpus.vote_records import SOURCE, is_anonymous_vote

Facts = dict[str, Any]
VALIDATION, COUNTED = "validation", "counted"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
NEEDS = {
    "clip": "their clip",
    "frames": "several frames of their clip",
    "order": "the order of the frames of their clip",
}
PARTS = {"words": "words alone", "picture": "one frame", "frames": "several frames", "order": "order of frames"}
PROBES = {
    "solver": "a solver that never sees a video, held out by video",
    "classifier": "a bag-of-words classifier, held out by caption",
    "longer": "the rule “the longer text is true”",
    "shorter": "the rule “the shorter text is true”",
}
ALPHA_IN_FULL = (
    "Pairs get no more votes once their votes have decided, so alpha is of the {n} of {of} items "
    "that were judged in full."
)
ALPHA_BIASED = (
    "Pairs get no more votes once their votes have decided, and no item was judged in full, so alpha is too high."
)
LEFT_OUT = {
    True: "passed, too, but were left out of the release or decided later",
    False: "did not pass",
    None: "are undecided",
}
COUNTS_OF_ITEMS = (
    "n_items",
    "n_with_hash",
    "n_as_published",
    "n_extra",
    "n_screened",
    "n_provenances",
    "n_made",
    "n_by_people",
    "n_by_software",
)
COUNTS_OF_VOTES = (
    "n_votes",
    "n_counted",
    "n_imported",
    "n_named",
    "n_unnamed",
    "n_judged_here",
    "n_validation_imported",
)
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"{}\\]+")


def facts_of(release: ReleaseContent) -> Facts:
    """Return what documents say of a release, as JSON values. Reads items, votes and scores once."""
    papers, tables, gate = release.papers, release.tables, release.gate
    made_at = papers.known.get("made_at", {})
    items, overall = _of_items(release.items), (tables.get("validation") or {}).get("overall") or {}
    spans = {kind: span for kind, span in made_at.items() if kind != "texts" or items["n_made"]}
    selection = (gate or {}).get("needs")
    measures = _measures(tables.get("ladder"))
    return {
        **{name: getattr(release, name) for name in ("project", "release", "content_hash", "created_at", "simulated")},
        "canary": release.canary,
        "holdback": dict(release.holdback),
        "withheld": list(map(dict, release.withheld)),
        "answers": dict(papers.answers),
        "known": dict(papers.known),
        "changes": papers.changes,
        **_of_citation(release),
        "sources": [asdict(source) for source in papers.sources],
        "has_named_sources": any(source.dataset for source in papers.sources),
        "validation": overall,
        "alpha_basis": basis_of_alpha(overall),
        "divergence": (tables.get("divergence") or {}).get("overall") or {},
        "pay": tables.get("pay"),
        "measures": measures,
        "span": _span(spans),
        "time_frame": _time_frame(made_at),
        "gate": gate and {**gate, "rows": [_gate_row(row) for row in gate["rows"]]},
        "audit": _audit((gate or {}).get("rows", ())),
        "balanced": sorted(((gate or {}).get("balanced") or {}).items()),
        "selected": {"needs": selection["needs"], "note": selection_line(selection)} if selection else None,
        "selection": selection_line(selection) if selection else "",
        "notes": _notes(items, selection),
        "card_notes": [
            *_notes(items, selection),
            *_needs_notes(measures),
            *canary_notes(holdback_facts(release.canary, release.holdback)),
        ],
        "held_hash": hash_of(item for item in release.items if item.get("released")) if release.withheld else "",
        "size": next((name for most, name in SIZES if items["n_released"] < most), "n>1M"),
        **items,
        **_of_votes(release.votes),
        **_of_scores(release.scores),
    }


def _of_citation(release: ReleaseContent) -> Facts:
    """Return how the release is cited, and on which terms it is given."""
    cited, known = release.papers.citation, release.papers.known
    year, licence = cited.year or release.created_at[:4], known_licence(cited.licence, cited.licence_url)
    return {
        "cited": asdict(cited),
        "date": release.created_at[:10],
        "title": line(cited.title or known.get("name", "")) or release.project,
        "doi": match.group(0) if (match := _DOI.search(cited.doi)) else "",
        "year": year,
        "authors": [_name_parts(author) for author in cited.authors],
        "citation_key": _citation_key(release.project, cited, year),
        "release_words": _release_words(line(release.release)),
        "licence": licence and asdict(licence),
        "own_licence": f"{link_safe(cited.licence)} {link_safe(cited.licence_url)}".strip(),
        "purpose": cited.abstract or known.get("description", ""),
    }


def _of_items(items: Iterable[Mapping[str, Any]]) -> Facts:
    subtests: dict[str, Counter[str]] = {}
    unreleased_counts, splits, captions, makers = Counter[Any](), Counter[str](), Counter[Any](), Counter[str]()
    filters = Counter[tuple[str, bool]]()
    screened, tools, videos, counts = Counter[str](), set[str](), set[Any](), Counter[str]()
    for item in items:
        counts["n_items"] += 1
        if not item.get("released"):
            unreleased_counts[item.get("found_valid", "unknown")] += 1
            continue
        video, provenances = item["video"], [provenance for provenance in item["provenance"] if provenance]
        subtests.setdefault(item["subtest"], Counter()).update(
            items=1, foils=len(item["foils"]), paired=item["proficiency"] is not None, pairs=bool(item.get("pair"))
        )
        counts.update(
            n_with_hash=bool(video.get("sha256")), n_as_published=n_as_published([item]), n_extra=bool(item["extra"])
        )
        videos.add((video["source_dataset"], video["source_id"] or video["key"]))
        splits[video["split"] or "none named"] += 1
        captions[video["key"], item["caption"]] += 1
        makers.update(map(_maker, item["provenance"]))
        by_people = sum(bool(provenance.get("author")) for provenance in provenances)
        counts.update(n_provenances=len(item["provenance"]), n_made=len(provenances))
        counts.update(n_by_people=by_people, n_by_software=len(provenances) - by_people)
        models = {model for provenance in provenances for model in provenance.get(SCREENED_BY, ())}
        screened.update(models)
        counts["n_screened"] += bool(models)
        tools.update(tool for provenance in provenances for tool in _tools(provenance))
        verdicts = [verdict for provenance in provenances for verdict in provenance.get("filters") or ()]
        filters.update((_filter(verdict), verdict["passed"]) for verdict in verdicts)
    return {
        **{name: counts[name] for name in COUNTS_OF_ITEMS},
        "subtests": {name: dict(n) for name, n in subtests.items()},
        "subtests_by_name": [[name, dict(n)] for name, n in sorted(subtests.items())],
        "n_released": sum(n["items"] for n in subtests.values()),
        "n_foils": sum(n["foils"] for n in subtests.values()),
        "n_paired": sum(n["paired"] for n in subtests.values()),
        "n_others": unreleased_counts.total(),
        "others": _unreleased_rows(unreleased_counts),
        "splits": sorted(splits.items()),
        "n_source_videos": len(videos),
        "n_repeated": sum(n > 1 for n in captions.values()),
        "makers": makers.most_common(),
        "filters": [
            [name, {"passed": filters[name, True], "failed": filters[name, False]}]
            for name in sorted({name for name, _passed in filters})
        ],
        "screened": sorted(screened),
        "tools": sorted(tools),
    }


def _unreleased_rows(counts: Mapping[Any, int]) -> list[list[Any]]:
    """Return [number of items, why they were not released]; none if a record is older than results of validation."""
    if counts.get("unknown"):
        return []
    return [[counts[key], text] for key, text in LEFT_OUT.items() if counts.get(key)]


def _maker(provenance: Mapping[str, Any] | None) -> str:
    if provenance is None:
        return "not recorded (imported)"
    if provenance.get("author"):
        parent = provenance.get("parent")
        if not parent:
            return "a person"
        return "a person, who edited a foil by " + ("a person" if parent["method"] == "person" else parent["method"])
    if "method" not in provenance:
        return "not recorded"
    return f"{provenance['method']} {provenance['method_version']}" + (
        f" with {provenance['model_id']}" if provenance.get("model_id") else ""
    )


def _filter(verdict: Mapping[str, Any]) -> str:
    return f"{verdict['filter']} {verdict['version']}"


def _tools(provenance: Mapping[str, Any]) -> list[str]:
    tools = [f"filter {_filter(verdict)}" for verdict in provenance.get("filters") or ()]
    if provenance.get("method") and provenance["method"] != "person":
        model = f" with {provenance['model_id']}" if provenance.get("model_id") else ""
        tools.append(f"{provenance['method']} {provenance.get('method_version', '')}{model}".strip())
    return tools


def _of_votes(votes: Iterable[ReleaseVote]) -> Facts:
    counts, pairs, annotators = Counter[str](), Counter[Any](), set[str]()
    for vote in votes:
        is_imported, is_counted = vote.source == SOURCE, vote.state == COUNTED
        is_validation, is_named = vote.stage == VALIDATION, not is_anonymous_vote(vote.source, vote.annotator)
        counts.update(n_votes=1, n_counted=is_counted, n_imported=is_counted and is_imported)
        counts.update(n_named=is_counted and is_named, n_unnamed=is_counted and not is_named)
        counts.update(n_judged_here=is_validation and not is_imported)
        counts.update(n_validation_imported=is_validation and is_imported)
        if is_counted and is_named:
            annotators.add(vote.annotator)
        if is_counted and is_validation and vote.kind == "main":
            pairs[vote.item, vote.foil] += 1
    n = sorted(pairs.values())
    return {
        **{name: counts[name] for name in COUNTS_OF_VOTES},
        "n_annotators": len(annotators),
        "per_pair": {"min": n[0], "max": n[-1], "median": median(n), "n": sum(n)} if n else None,
    }


def _of_scores(scores: Iterable[ReleaseScore]) -> Facts:
    models = Counter(score.model for score in scores)
    return {"models": list(models), "n_scores": models.total()}


def basis_of_alpha(row: Mapping[str, Any]) -> str:
    """Say which items alpha of a row of the validation report is of; "" if all pairs collect all votes."""
    n = row.get("n_judged_in_full")
    if n is None:
        return ""
    return ALPHA_IN_FULL.format(n=n, of=row["n_items"]) if n else ALPHA_BIASED


def selection_line(selection: Mapping[str, Any]) -> str:
    """Return how the evidence ladder selected the items, and whose scores are optimistic for it."""
    names = list(dict.fromkeys(model["label"] for model in selection["models"]))
    whose = "its score here is" if len(names) == 1 else "their scores here are"
    rows = selection["subtests"].values()
    n_kept, n_valid, n_unknown = (sum(row[name] for row in rows) for name in ("n_kept", "n", "n_unknown"))
    without_scores = f" {n_unknown} items without scores were left out." if n_unknown else ""
    return (
        f"Only items supported for a need of {NEEDS[selection['needs']]} were released, {n_kept} of {n_valid} valid "
        f"ones, by the evidence ladder. Items were selected with the scores of {cell(', '.join(names))}: {whose} "
        f"optimistic."
        f"{without_scores}"
    )


def _notes(items: Facts, selection: Mapping[str, Any] | None) -> list[str]:
    """Return what cards and datasheets say of items of published sets, of screening, and of selected items."""
    n, of = items["n_as_published"], items["n_released"]
    notes = [f"**As published:** {n} of {of} items. {PUBLISHERS_WORD}"] if n else []
    if items["screened"]:
        models = ", ".join(f"`{model}`" for model in items["screened"])
        notes.append(f"**Screened by models:** {items['n_screened']} of {of} items, by {models}. {SCREENED_WORDS}")
    return [*notes, *([f"**Selected items:** {selection_line(selection)}"] if selection else [])]


def canary_notes(manifest: Mapping[str, Any]) -> list[str]:
    """Return the paragraph of a card about the private items and the canary, if there are any."""
    holdback = manifest.get("holdback")
    words = []
    if holdback:
        words.append(f"{holdback['items']} further items are private: only installations with the project score them.")
    # An anonymised copy does not say which release it is from.
    if holdback and "whole_hash" in holdback:
        words.append(f"The release with them has the hash `{holdback['whole_hash']}`.")
    text = " ".join([*words, *filter(None, [manifest.get("canary")])])
    return [text] if text else []


def manifest_of(facts: Facts) -> Facts:
    """Return what the manifest of every format says of the release besides its size."""
    screened = {"models": facts["screened"], "items": facts["n_screened"], "note": SCREENED_WORDS}
    return {
        **{name: facts[name] for name in ("project", "release", "created_at", "content_hash", "simulated")},
        **as_published_facts(facts["n_as_published"]),
        **({SCREENED_BY: screened} if facts["screened"] else {}),
        **({"selected": facts["selected"]} if facts["selected"] else {}),
        # The content hash itself can no longer be computed from any file.
        **({"withheld": facts["withheld"], "held_hash": facts["held_hash"]} if facts["withheld"] else {}),
        **holdback_facts(facts["canary"], facts["holdback"]),
    }


def _measures(ladder: Mapping[str, Any] | None) -> Facts | None:
    """Return what the items need; None without a ladder, or in tables of versions that counted guesses."""
    if not ladder or not ladder["overall"].get("parts"):
        return None
    overall = ladder["overall"]
    groups = [*ladder["subtests"].items(), ("overall", overall)]
    return {
        "models": ", ".join(overall["leaders"]),
        "titles": [" / ".join(PARTS[name] for name in part["parts"]) for part in overall["parts"]],
        "at_most": overall["at_most"],
        "rows": [{**group, "name": name} for name, group in groups if group["parts"]],
    }


def _needs_notes(measures: Facts | None) -> list[str]:
    """Return the sentence of a card about the largest need, if it is more than luck; the datasheet has all of them."""
    if not measures:
        return []
    row = max(measures["rows"][-1]["parts"], key=lambda part: part["share"])
    if not row["shown"]:
        return []
    low, high = (f"{100 * bound:.0f}" for bound in row["ci"])
    most = "at most " if measures["at_most"] and "order" in row["parts"] else ""
    names = " / ".join(PARTS[name] for name in row["parts"])
    share = f"{most}{100 * row['share']:.0f} % [{low}, {high}]"
    return [f"**Needed to answer:** {names}, for {share} of the items. Supported for {cell(measures['models'])}."]


def _time_frame(spans: Mapping[str, Sequence[str]]) -> list[str]:
    ends = [span[0] for span in spans.values()], [span[1] for span in spans.values()]
    return [min(ends[0])[:10], max(ends[1])[:10]] if spans else []


def _span(spans: Mapping[str, Sequence[str]]) -> Facts | None:
    frame = _time_frame(spans)
    return {"what": " and ".join(spans).capitalize(), "first": frame[0], "last": frame[1]} if frame else None


def _gate_row(row: Mapping[str, Any]) -> Facts:
    probes = [probe for probe in row.get("probes", ()) if probe.get("value") is not None or probe.get("n_missing")]
    # Gates from before the third version stopped nothing else.
    is_solved = bool(row.get("solved", row["stopped"]))
    result = "too few pairs" if row["too_few"] else "passed on the scored pairs" if row.get("unread") else "passed"
    if row["stopped"] or row.get("reported"):
        result = "**solved without the video**" if is_solved else ""
    if row.get("n_unjudged"):
        result = "; ".join(filter(None, [result, f"**{row['n_unjudged']} pairs not judged**"]))
    if row.get("reported"):
        result += "; a published set, so it is reported and not stopped"
    return {
        **row,
        "is_solved": is_solved,
        "result": result,
        "measured": [probe for probe in row.get("probes", ()) if probe.get("value") is not None and probe.get("ci")],
        "probes": [
            {**probe, "words": PROBES.get(probe["probe"], probe["probe"]), "is_later": number > 0}
            for number, probe in enumerate(probes)
        ],
    }


def _audit(rows: Sequence[Mapping[str, Any]]) -> Facts:
    stopped, reported = ([row for row in rows if row.get(key)] for key in ("stopped", "reported"))
    groups = [
        ("Solved without the video, and released with a reason", [r for r in stopped if r.get("solved", True)]),
        ("Texts could not be evaluated, and released with a reason", [r for r in stopped if r.get("n_unjudged")]),
        ("Solved without the video or not evaluated, and released as published", reported),
    ]
    return {
        "stopped": [[words, [row["name"] for row in group]] for words, group in groups if group],
        "few": sum(row["too_few"] for row in rows),
        # Gates from before do not say it.
        "unread": sum(bool(row.get("unread")) for row in rows if not row["too_few"] and not row["stopped"]),
    }


def _name_parts(author: str) -> tuple[str, str]:
    """("Family", "Given"); a name without a comma is of an organisation and stays whole."""
    family_name, _, given_name = line(author).partition(",")
    return family_name.strip(), given_name.strip()


def _citation_key(project: str, cited: Citation, year: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "", project.lower())
    if not cited.authors:
        return f"{name or 'release'}{year}"
    family = unicodedata.normalize("NFKD", _name_parts(cited.authors[0])[0]).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^A-Za-z0-9]+", "", family.split()[0] if family.split() else "") or "release"
    return f"{stem.lower()}{year}{name}"


def _release_words(name: str) -> str:
    """Return "Release v1"; a release that is named "release 1" needs no second "Release"."""
    return name[:1].upper() + name[1:] if name.lower().startswith("release") else f"Release {name}"
