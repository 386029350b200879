"""Responsible-AI fields of Croissant (MLCommons, RAI 1.0): filled from the datasheet's answers and the release's own
numbers. A field that nobody answered is left out, and `unanswered_fields` names it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

from foilworks.core.corpus.export_formats.parts.basis_of_alpha import basis_of_alpha
from foilworks.core.corpus.export_formats.parts.datasheet_answers import ANSWERS
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.corpus.vote_records import SOURCE

CONFORMS_TO = "http://mlcommons.org/croissant/RAI/1.0"
Value = str | list[str]
VALIDATION = "validation"
PROTOCOL = (
    "People see the clip with the caption and a foil in random order and say which is true: first, second, neither, "
    "both, or cannot tell. They did no other work on the video."
)
IMPORTED = "{n} judgements were imported as counts or files; how they were collected is described by their source."
PER_ITEM = "{low} to {high} judgements per judged pair (median {middle}); {n} judgements count."
ALPHA = "Krippendorff's alpha over all validated items is {alpha:.3f} (coding {coding})."
BLIND = "Subtest {name}, without the video: {probes}. Limit {limit:.2f}; {result}."
PROBE = "{probe} {value:.3f} [{low:.3f}, {high:.3f}]"
JS = "Jensen-Shannon divergence between the words of captions and foils: {js:.3f} (base 2, 0 to 1)."
TOOL = "{method} {version}"
TOOL_WITH_MODEL = "{method} {version} with {model}"
FILTER = "filter {name} {version}"
PLATFORM = "Foilworks"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_RULE = "| ---"
_SENTENCES = re.compile(r"(?<=\.)\s+")
_OF_FILE = ".jsonl`"


def rai_fields(release: ReleaseContent) -> dict[str, Value]:
    """Return {"rai:…": value} of the fields that have an answer. Lists are of the fields that allow several values."""
    found = {f"rai:{name}": make(release) for name, make in FIELDS.items()}
    return {name: value for name, value in found.items() if value}


def unanswered_fields(release: ReleaseContent) -> dict[str, tuple[str, ...]]:
    """Return {field without an answer: slugs of the datasheet's questions that would fill it}."""
    have = rai_fields(release)
    return {name: slugs for name, slugs in ASKED.items() if f"rai:{name}" not in have}


def spaced(name: str) -> str:
    """Return the name of a field as words: "dataBiases" is "Data biases"."""
    return _CAPITAL.sub(" ", name).lower().capitalize()


def _said(release: ReleaseContent, *slugs: str) -> list[str]:
    """Return what people answered."""
    answers = (release.papers.answers.get(slug, "") for slug in slugs)
    return [" ".join(answer.split()) for answer in answers if answer.strip()]


def _own(release: ReleaseContent, *slugs: str) -> list[str]:
    """Return what the release's own numbers answer: sentences, and the rows of tables without their headers."""
    found = []
    for slug in slugs:
        lines = ANSWERS[slug](release)
        headers = {n for n, line in enumerate(lines) for n in (n - 1, n) if line.startswith(_RULE)}
        found += [plain for n, line in enumerate(lines) if n not in headers and (plain := _plain(line))]
    return found


def _plain(line: str) -> str:
    """Return a line of Markdown as text, without sentences about files of the full export."""
    if line.startswith("|"):
        line = ": ".join(cell.strip() for cell in line.strip("|").split(" | ")) + "."
    text = " ".join(said for said in _SENTENCES.split(line) if _OF_FILE not in said)
    return text.replace("**", "").replace("\\|", "|").replace("&lt;", "<").removeprefix("* ").strip()


def _text(parts: list[str]) -> str:
    return " ".join(parts)


def _collection(release: ReleaseContent) -> Value:
    return _text(_own(release, "collection.acquired", "collection.mechanisms") + _said(release, "collection.direct"))


def _collection_type(release: ReleaseContent) -> Value:
    """Return the specification's words for the ways in which the data came about."""
    made = list(_made(release))
    by_people = any(one.get("author") for one in made) or bool(release.votes)
    by_software = any(not one.get("author") for one in made)
    of_others = any(source.dataset for source in release.papers.sources)
    words = {
        "Secondary Data Analysis": of_others,
        "Manual Human Curator": by_people,
        "Software Collection": by_software,
    }
    return [word for word, holds in words.items() if holds]


def _missing_data(release: ReleaseContent) -> Value:
    return _text(_own(release, "composition.missing") + _said(release, "composition.missing"))


def _raw_data(release: ReleaseContent) -> Value:
    return _text(_own(release, "composition.self_contained")[:1] + _said(release, "preprocessing.raw"))


def _time_frame(release: ReleaseContent) -> Value:
    spans = release.papers.known.get("made_at", {}).values()
    return [min(span[0] for span in spans)[:10], max(span[1] for span in spans)[:10]] if spans else []


def _preprocessing(release: ReleaseContent) -> Value:
    return _own(release, "preprocessing.done") + _said(release, "preprocessing.done")


def _annotation_protocol(release: ReleaseContent) -> Value:
    votes = [vote for vote in release.votes if vote.stage == VALIDATION]
    imported = sum(vote.source == SOURCE for vote in votes)
    own = [PROTOCOL] if imported < len(votes) else []
    return own + ([IMPORTED.format(n=imported)] if imported else []) + _said(release, "collection.mechanisms")


def _platform(release: ReleaseContent) -> Value:
    here = any(vote.stage == VALIDATION and vote.source != SOURCE for vote in release.votes)
    return [PLATFORM] if here else []


def _analysis(release: ReleaseContent) -> Value:
    whole = (release.tables.get("validation") or {}).get("overall") or {}
    alpha = whole.get("alpha_all")
    own = [] if alpha is None else [ALPHA.format(alpha=alpha, coding=whole["alpha_coding"]), basis_of_alpha(whole)]
    return list(filter(None, own)) + _said(release, "composition.errors")


def _per_item(release: ReleaseContent) -> Value:
    counts = Counter(
        (vote.item, vote.foil)
        for vote in release.votes
        if vote.stage == VALIDATION and vote.state == "counted" and vote.kind == "main"
    )
    if not counts:
        return ""
    n = sorted(counts.values())
    return PER_ITEM.format(low=n[0], high=n[-1], middle=f"{median(n):g}", n=sum(n))


def _demographics(release: ReleaseContent) -> Value:
    return _said(release, "collection.who", "composition.subpopulations")


def _tools(release: ReleaseContent) -> Value:
    tools: dict[str, None] = {}
    for one in _made(release):
        form = TOOL_WITH_MODEL if one.get("model_id") else TOOL
        if one.get("method") and one["method"] != "person":
            version, model = one.get("method_version", ""), one.get("model_id", "")
            tools[form.format(method=one["method"], version=version, model=model).strip()] = None
        for judged in one.get("filters") or ():
            tools[FILTER.format(name=judged["filter"], version=judged["version"])] = None
    return sorted(tools)


def _made(release: ReleaseContent) -> Iterator[Mapping[str, Any]]:
    """Yield the provenance of each released foil that has one."""
    return (one for item in release.items if item.get("released") for one in item["provenance"] if one)


def _biases(release: ReleaseContent) -> Value:
    rows = (release.gate or {}).get("rows", ())
    audited = [said for row in rows if (said := _audited(row))]
    overall = (release.tables.get("divergence") or {}).get("overall") or {}
    divergence = [JS.format(js=overall["js"])] if overall.get("js") is not None else []
    own = _own(release, "uses.impacts") if rows else []
    return [*own, *audited, *divergence, *_said(release, "uses.impacts")]


def _audited(row: Mapping[str, Any]) -> str:
    probes = [
        PROBE.format(probe=probe["probe"], value=probe["value"], low=probe["ci"][0], high=probe["ci"][1])
        for probe in row["probes"]
        if probe.get("value") is not None and probe.get("ci")
    ]
    if not probes:
        return ""
    result = "too few pairs" if row["too_few"] else "solved without the video" if _is_solved(row) else "passed"
    return BLIND.format(name=row["name"], probes="; ".join(probes), limit=row["bar"], result=result)


def _is_solved(row: Mapping[str, Any]) -> bool:
    return bool(row.get("solved", row["stopped"]))


def _limitations(release: ReleaseContent) -> Value:
    said = _said(release, "uses.not_for", "composition.sample", "uses.comments")
    return [*_own(release, "composition.errors"), *said]


def _use_cases(release: ReleaseContent) -> Value:
    return _own(release, "motivation.purpose") + _said(release, "motivation.purpose", "uses.others")


def _social_impact(release: ReleaseContent) -> Value:
    return _text(_said(release, "collection.impact", "uses.impacts", "collection.ethics"))


def _sensitive(release: ReleaseContent) -> Value:
    people = ("composition.individuals", "composition.sensitive", "composition.confidential")
    said = _said(release, *people)
    return said + _own(release, "composition.offensive") if said else []


def _maintenance(release: ReleaseContent) -> Value:
    said = _said(release, "maintenance.who", "maintenance.updates", "maintenance.retention")
    return _text([*said, *_own(release, "maintenance.erratum")]) if said else ""


# The names of the specification, except for the time frame, which is spelled as the official validator reads it.
FIELDS: dict[str, Callable[[ReleaseContent], Value]] = {
    "dataCollection": _collection,
    "dataCollectionType": _collection_type,
    "dataCollectionMissingData": _missing_data,
    "dataCollectionRawData": _raw_data,
    "dataCollectionTimeFrame": _time_frame,
    "dataPreprocessingProtocol": _preprocessing,
    "dataAnnotationProtocol": _annotation_protocol,
    "dataAnnotationPlatform": _platform,
    "dataAnnotationAnalysis": _analysis,
    "annotationsPerItem": _per_item,
    "annotatorDemographics": _demographics,
    "machineAnnotationTools": _tools,
    "dataBiases": _biases,
    "dataLimitations": _limitations,
    "dataUseCases": _use_cases,
    "dataSocialImpact": _social_impact,
    "personalSensitiveInformation": _sensitive,
    "dataReleaseMaintenancePlan": _maintenance,
}
# The questions that people answer for a field; the others follow from the release alone.
ASKED: dict[str, tuple[str, ...]] = {
    "annotatorDemographics": ("collection.who", "composition.subpopulations"),
    "dataBiases": ("uses.impacts",),
    "dataLimitations": ("uses.not_for",),
    "dataUseCases": ("motivation.purpose", "uses.others"),
    "dataSocialImpact": ("collection.impact", "uses.impacts"),
    "personalSensitiveInformation": ("composition.individuals", "composition.sensitive"),
    "dataReleaseMaintenancePlan": ("maintenance.who", "maintenance.updates"),
    "dataCollection": ("collection.direct",),
    "dataAnnotationProtocol": ("collection.mechanisms",),
}
