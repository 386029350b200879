"""Answers of the datasheet from the release's own numbers: slug -> lines of Markdown.

An empty list means that only people can answer.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foilworks.core.corpus.export_formats.parts import _composition_answers as composition
from foilworks.core.corpus.export_formats.parts.ladder import selection_line
from foilworks.core.corpus.export_formats.parts.markdown import cell, table
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.corpus.vote_records import SOURCE, is_anonymous_vote

Lines = list[str]


def _acquired(release: ReleaseContent) -> Lines:
    made: Counter[str] = Counter()
    made.update(map(_maker, _foils_made(release)))
    if not made:
        return []
    return ["Who or what made each released foil:", "", *table(["made by", "foils"], made.most_common())]


def _maker(made: Mapping[str, Any] | None) -> str:
    if made is None:
        return "not recorded (imported)"
    if made.get("author"):
        parent = made.get("parent")
        if not parent:
            return "a person"
        return "a person, who edited a foil by " + ("a person" if parent["method"] == "person" else parent["method"])
    return f"{made['method']} {made['method_version']}" + (f" with {made['model_id']}" if made.get("model_id") else "")


def _mechanisms(release: ReleaseContent) -> Lines:
    made = _foils_made(release)
    judged = any(vote.source != SOURCE and vote.stage == "validation" for vote in release.votes)
    if not any(made) and not judged:
        return []
    lines = []
    if any(made):
        lines.append(
            "The methods and people above made the foils. Foils pass filters and are reviewed. `items.jsonl` has the "
            "provenance of each foil."
        )
    if not all(made):
        lines.append("Imported foils are unchanged.")
    if judged:
        lines.append(
            "Foils are validated: people who did no other work on a video see it with the caption and the foil in "
            "random order, and say which is true (first, second, neither, both, cannot tell)."
        )
    return [" ".join(lines)]


def _foils_made(release: ReleaseContent) -> list[Mapping[str, Any] | None]:
    """What made each released foil; None of imported ones."""
    return [made for item in composition.released(release) for made in item["provenance"]]


def _sampling(release: ReleaseContent) -> Lines:
    balanced, chosen = ((release.gate or {}).get(name) or {} for name in ("balanced", "needs"))
    if chosen:
        lines = [selection_line(chosen)]
        return [*lines, "", *_balanced(balanced)] if balanced else lines
    return _balanced(balanced) if balanced else ["Every valid item was released."]


def _balanced(balanced: Mapping[str, Any]) -> Lines:
    said = "; ".join(f"{cell(name)}: {found['n_kept']} of {found['n']}" for name, found in sorted(balanced.items()))
    return [f"Every valid item was released, but for subtests balanced so that no word reveals the answer ({said})."]


def _who(release: ReleaseContent) -> Lines:
    counted = [vote for vote in release.votes if vote.state == "counted"]
    named = [vote for vote in counted if not is_anonymous_vote(vote.source, vote.annotator)]
    people = {vote.annotator for vote in named}
    lines = [f"{len(named)} judgements by {len(people)} annotators count. `votes.jsonl` lists them under pseudonyms."]
    if len(named) < len(counted):
        lines.append(
            f"{len(counted) - len(named)} more judgements were imported as counts without names. They count, too."
        )
    if release.simulated:
        lines.append("**These people and judgements are simulated.**")
    pay = release.tables.get("pay")
    if pay is None or not pay["rates"]:
        return [*lines, "", "No pay rates were recorded in this project."]
    rows = [
        [row["stage"], f"{row['amount']} {pay['currency']} / {row['unit']}", row["pieces"], row["hours"], row["pay"]]
        for row in pay["stages"]
    ]
    lines += ["", *table(["stage", "rate", "pieces", "hours", f"paid, {pay['currency']}"], rows)]
    if pay["median_hourly"] is not None:
        lines += ["", f"The median hourly pay was {pay['median_hourly']} {pay['currency']}" + _floor(pay) + "."]
    return lines


def _floor(pay: Mapping[str, Any]) -> str:
    return "" if pay["floor"] is None else f"; the minimum was {pay['floor']} {pay['currency']}"


def _timeframe(release: ReleaseContent) -> Lines:
    foils = _foils_made(release)
    spans = {
        what: span for what, span in release.papers.known.get("made_at", {}).items() if what != "texts" or any(foils)
    }
    if not spans:
        return []
    first, last = min(span[0] for span in spans.values()), max(span[1] for span in spans.values())
    said = f"{' and '.join(spans).capitalize()} were made between {first[:10]} and {last[:10]}; the videos are older."
    return [said if all(foils) else f"{said} When imported texts were made is not recorded."]


def _consent(release: ReleaseContent) -> Lines:
    version = release.papers.known.get("consent_version")
    if version is None:
        return []
    if not version:
        return ["No consent text for the annotators is stored in this installation."]
    agreed, people = (release.papers.known.get(name, 0) for name in ("n_agreed", "n_workers"))
    text = f"agreed to version {version} (or an earlier one) of the project's consent text"
    lines = []
    if people and agreed == people:
        lines.append(f"Annotators {text}.")
    elif people:
        said = f"{agreed} of the {people} people who wrote, reviewed or judged here {text}"
        lines.append(f"{said}. Its researchers write that text and are not asked to accept it.")
    of_files = sum(vote.state == "counted" and vote.source == SOURCE for vote in release.votes)
    if of_files:
        lines.append(f"{of_files} judgements were imported; consent for them is not recorded here.")
    return [" ".join(lines)] if lines else []


def _revoke(release: ReleaseContent) -> Lines:
    if not release.papers.known.get("consent_version"):
        return []
    return [
        (
            "Annotators can withdraw and have their account erased at any time; their work is then removed or kept "
            "under its pseudonym, as the consent says. A video can be taken down; later exports withhold its items."
        )
    ]


def _done(release: ReleaseContent) -> Lines:
    made = [one for item in composition.released(release) for one in item["provenance"]]
    filters: dict[str, Counter[bool]] = {}
    for one in made:
        for said in one["filters"] if one else ():
            filters.setdefault(f"{said['filter']} {said['version']}", Counter())[said["passed"]] += 1
    if not filters:
        return ["No automatic filter is recorded for the released foils."]
    named = [f"{cell(name)} ({_passed(filters[name], len(made))})" for name in sorted(filters)]
    return [
        "Filters with their versions, and how many of the released foils passed each one: " + ", ".join(named) + "."
    ]


def _passed(counts: Counter[bool], n: int) -> str:
    let_through = f"; {counts[False]} accepted after its threshold changed" if counts[False] else ""
    return f"{counts[True]} of {n}{let_through}"


def _raw(release: ReleaseContent) -> Lines:
    kept = ["rejected candidates in `rejected.jsonl`"] if release.papers.known.get("n_rejected") else []
    kept += ["single judgements in `votes.jsonl`"] if release.votes else []
    return [f"Yes: {', '.join(kept)}."] if kept else []


def _software(_release: ReleaseContent) -> Lines:
    return ["Yes: Foilworks. Methods, filters and their versions are named in the provenance of every foil."]


def _used(release: ReleaseContent) -> Lines:
    models = dict.fromkeys(score.model for score in release.scores)
    if not models:
        return ["No model has been scored on it in this installation."]
    named = ", ".join(cell(name) for name in models)
    return [f"Yes, to score {len(models)} models: {named}. Their raw scores are in `scores.jsonl`."]


def _impacts(release: ReleaseContent) -> Lines:
    if release.gate is None:
        return ["No blind audit was made when this release was frozen."]
    rows = release.gate["rows"]
    stopped, reported = ([row for row in rows if row.get(key)] for key in ("stopped", "reported"))
    said = [
        ([row for row in stopped if row.get("solved", True)], "Solved without the video, and released with a reason"),
        ([row for row in stopped if row.get("n_unjudged")], "Texts could not be evaluated, and released with a reason"),
        (reported, "Solved without the video or not evaluated, and released as published"),
    ]
    found = " ".join(f"{words}: {cell(', '.join(r['name'] for r in of))} (see below)." for of, words in said if of)
    return [(found or "The blind audit below found no subtest that is solved without the video.") + _untold(rows)]


def _untold(rows: Sequence[Mapping[str, Any]]) -> str:
    """Describe the subtests whose audit is missing or incomplete."""
    few = sum(row["too_few"] for row in rows)
    # Gates from before do not say it.
    unread = sum(bool(row.get("unread")) for row in rows if not row["too_few"] and not row["stopped"])
    said = [f"{few} had too few captions"] * bool(few)
    said += [f"{unread} had pairs that a language model did not score"] * bool(unread)
    return f" Of {len(rows)} subtests {' and '.join(said)}." if said else ""


def _how(release: ReleaseContent) -> Lines:
    cited = release.papers.citation
    said = [part for part in (cited.url, cited.doi and f"DOI {cited.doi}") if part]
    return [
        "As a folder of plain files. `manifest.json` lists their hashes, and `foilworks verify` recomputes the tables "
        "from the votes and scores." + (f" {cell('; '.join(said))}." if said else " No DOI was given.")
    ]


def _when(release: ReleaseContent) -> Lines:
    return [f"It was frozen on {release.created_at[:10]}."]


def _licence(release: ReleaseContent) -> Lines:
    cited = release.papers.citation
    if not cited.licence:
        return ["**No licence was stated** for the annotations."]
    return [f"Annotations: {cell(cited.licence)}" + (f" ({cell(cited.licence_url)})." if cited.licence_url else ".")]


def _restrictions(release: ReleaseContent) -> Lines:
    lines = []
    for source in release.papers.sources:
        said = cell(source.licence) or "**no licence was stated**"
        note = f" {cell(source.notes)}" if source.notes else ""
        lines.append(f"* {cell(source.dataset) or 'no data set named'}: {said}.{note}")
    return lines


def _contact(release: ReleaseContent) -> Lines:
    contact = release.papers.citation.contact
    return [cell(contact)] if contact else []


def _erratum(release: ReleaseContent) -> Lines:
    return [
        f"{len(release.withheld)} items were withdrawn since; see “Withheld”."
        if release.withheld
        else "Nothing had been withdrawn when this datasheet was written."
    ]


def _updates(release: ReleaseContent) -> Lines:
    found = release.papers.changes
    if found is None:
        return ["This is the first release of the project. A later release has its own changelog."]
    return [
        (
            f"Compared with the previous release ({cell(found['before']['name'])}): {len(found['added'])} items added, "
            f"{len(found['removed'])} removed, {len(found['changed'])} changed; `CHANGELOG.md` names them."
        )
    ]


def _versions(release: ReleaseContent) -> Lines:
    rows = [
        [one["name"], one["created_at"][:10], one["content_hash"]] for one in release.papers.known.get("releases", ())
    ]
    return ["Every release keeps its content hash forever.", "", *table(["release", "frozen", "content hash"], rows)]


def _extend(release: ReleaseContent) -> Lines:
    if not release.papers.known.get("takes_scores"):
        return []
    return ["Yes: scores of other models can be submitted on the public page of the release."]


ANSWERS: dict[str, Callable[[ReleaseContent], Lines]] = {
    "motivation.purpose": composition.purpose,
    "motivation.creators": composition.creators,
    "composition.instances": composition.instances,
    "composition.count": composition.count,
    "composition.sample": composition.sample,
    "composition.data": composition.data,
    "composition.label": composition.label,
    "composition.missing": composition.missing,
    "composition.relations": composition.relations,
    "composition.splits": composition.splits,
    "composition.errors": composition.errors,
    "composition.self_contained": composition.self_contained,
    "composition.offensive": composition.offensive,
    "collection.acquired": _acquired,
    "collection.mechanisms": _mechanisms,
    "collection.sampling": _sampling,
    "collection.who": _who,
    "collection.timeframe": _timeframe,
    "collection.notified": _consent,
    "collection.consent": _consent,
    "collection.revoke": _revoke,
    "preprocessing.done": _done,
    "preprocessing.raw": _raw,
    "preprocessing.software": _software,
    "uses.used": _used,
    "uses.impacts": _impacts,
    "distribution.how": _how,
    "distribution.when": _when,
    "distribution.licence": _licence,
    "distribution.restrictions": _restrictions,
    "maintenance.contact": _contact,
    "maintenance.erratum": _erratum,
    "maintenance.updates": _updates,
    "maintenance.versions": _versions,
    "maintenance.extend": _extend,
}
