"""The datasheet of a release (Gebru et al. 2021): every question, answered by the release's own numbers and by people.

What nobody answered is said plainly, under its question and as a number at the top. Markdown that any reader shows.
"""

from collections.abc import Mapping
from typing import Any

from foilworks.core.corpus.export_formats.parts.datasheet_answers import ANSWERS
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS, SECTIONS, Question, Section
from foilworks.core.corpus.export_formats.parts.ladder import measures, selection_line
from foilworks.core.corpus.export_formats.parts.markdown import cell as _cell
from foilworks.core.corpus.export_formats.parts.markdown import prose
from foilworks.core.corpus.export_formats.parts.markdown import table as _table
from foilworks.core.corpus.export_formats.parts.released_items import as_published_line, screened_line
from foilworks.core.corpus.records import ReleaseContent

UNANSWERED = "*Nobody has answered this question.*"
NO_COMMENTS = "*None.*"
LEFT_OUT = "*Left out of the copy for review, or unanswered.*"
ONLY_NUMBERS = "This copy for review contains the answers by numbers. Those that people wrote are left out."

PROBES = {
    "classifier": "a bag-of-words classifier, held out by caption",
    "longer": "the rule \u201cthe longer text is true\u201d",
    "shorter": "the rule \u201cthe shorter text is true\u201d",
}

RULE = (
    "A subtest is stopped if a blind probe is right more often than the limit and above chance with 95 % confidence "
    "(the classifier and language models one-sided). Pairs that no probe can judge stop it too: a text without words, "
    "or equal words in caption and foil."
)

WITHHELD = (
    "The videos of these items were taken down after the release was frozen. Later exports contain neither their "
    "texts nor their files; results that were computed with them name the frozen content hash."
)


def datasheet(release: ReleaseContent, *, for_review: bool = False) -> str:
    """The text of `datasheet.md`: the seven sections, then what models solve without the video or with less of it.

    `for_review`: the release has no answers of people, because they may name somebody.
    """
    parts = [
        [f"# Datasheet of {_cell(release.project)}, {_cell(release.release)}", ""],
        _facts(release, for_review),
        _withheld(release),
        *(_section(section, release, LEFT_OUT if for_review else UNANSWERED) for section in SECTIONS),
        _blind(release.gate),
        measures(release.tables.get("ladder")),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def unanswered(release: ReleaseContent) -> list[Question]:
    """Return the questions without an answer from the release or anybody; comments are optional."""
    asked = [question for slug, question in QUESTIONS.items() if not slug.endswith(".comments")]
    return [question for question in asked if not _answer(question, release)]


def _answer(question: Question, release: ReleaseContent) -> list[str]:
    """Return the answer by numbers, then the one by people."""
    own = ANSWERS[question.slug](release) if question.slug in ANSWERS else []
    said = release.papers.answers.get(question.slug, "").strip()
    return [*own, *([""] if own and said else []), *(prose(said) if said else [])]


def _section(section: Section, release: ReleaseContent, without: str) -> list[str]:
    lines = [f"## {section.title}", ""]
    for question in section.questions:
        nothing = NO_COMMENTS if question.slug.endswith(".comments") else without
        lines += [f"**{question.text}**", "", *(_answer(question, release) or [nothing]), ""]
    return lines


def _facts(release: ReleaseContent, for_review: bool) -> list[str]:
    lines = [f"- Content hash: `{release.content_hash}`", f"- Frozen: {release.created_at}"]
    if release.simulated:
        lines.append("- **Its people and judgements are simulated.**")
    if release.holdback:
        lines.append(f"- Private items, which no export contains: {release.holdback['items']}")
    if release.canary:
        lines.append(f"- {release.canary}")
    if said := as_published_line(release):
        lines.append(f"- {said}")
    if said := screened_line(release):
        lines.append(f"- {said}")
    if chosen := (release.gate or {}).get("needs"):
        lines.append(f"- **Selected items:** {selection_line(chosen)}")
    if for_review:
        return [*lines, f"- {ONLY_NUMBERS}", ""]
    open_ones = len(unanswered(release))
    lines.append(f"- Of {len(QUESTIONS) - len(SECTIONS)} questions {open_ones} are unanswered; each says so.")
    return [*lines, ""]


def _withheld(release: ReleaseContent) -> list[str]:
    if not release.withheld:
        return []
    rows = [[one["id"], one["taken_down_at"][:10], one["reason"]] for one in release.withheld]
    return [
        "## Withheld",
        "",
        WITHHELD,
        "",
        *_table(["item", "taken down", "reason"], rows),
        "",
    ]


def _blind(gate: Mapping[str, Any] | None) -> list[str]:
    lines = ["## What can be solved without the video", ""]
    if gate is None:
        return [*lines, "No blind audit was made when this release was frozen.", ""]
    lines += [
        RULE,
        "",
        *_table(["subtest", "captions", "bar", "probes", "result"], [_blind_row(row) for row in gate["rows"]]),
        "",
    ]
    for row in gate["rows"]:
        if _solved(row):
            words = ", ".join(
                f"{word['word']} ({'captions' if word['weight'] > 0 else 'foils'})" for word in row["words"]
            )
            lines += [f"Words that give **{_cell(row['name'])}** away: {_cell(words)}.", ""]
    for name, found in sorted(gate.get("balanced", {}).items()):
        lines += [f"Balanced: {found['n_kept']} of {found['n']} valid items of **{_cell(name)}** are released.", ""]
    override = gate.get("override")
    if override:
        lines += [
            "### Released although the gate was closed",
            "",
            f"> {_cell(override['reason'])}",
            "",
            f"By {override['by']}, {override['at']}. Subtests released anyway: {_cell(', '.join(gate['stopped']))}.",
            "",
        ]
    return lines


def _blind_row(row: Mapping[str, Any]) -> list[Any]:
    probes = "; ".join(_probe(probe) for probe in row["probes"] if probe["value"] is not None or probe.get("n_missing"))
    passed = "passed on the scored pairs" if row.get("unread") else "passed"
    result = "too few pairs" if row["too_few"] else passed
    if row["stopped"] or row.get("reported"):
        result = "**solved without the video**" if _solved(row) else ""
    if row.get("n_unjudged"):
        result = "; ".join(filter(None, [result, f"**{row['n_unjudged']} pairs not judged**"]))
    if row.get("reported"):
        result += "; a published set, so it is reported and not stopped"
    return [row["name"], row["n_captions"], f"{row['bar']:.2f}", probes, result]


def _solved(row: Mapping[str, Any]) -> bool:
    """Gates from before the third version stopped nothing else."""
    return bool(row.get("solved", row["stopped"]))


def _probe(probe: Mapping[str, Any]) -> str:
    value = f" {probe['value']:.3f}" if probe["value"] is not None else ""
    interval = f" [{probe['ci'][0]:.3f}, {probe['ci'][1]:.3f}]" if probe["ci"] else ""
    # Gates from before do not say it.
    missing = f" (not asked about {probe['n_missing']} pairs)" if probe.get("n_missing") else ""
    equal = f", {probe['n_equal_after_cut']} equal after the cut" if probe.get("n_equal_after_cut") else ""
    cut = f" (texts cut in {probe['n_truncated']} pairs{equal})" if probe.get("n_truncated") else ""
    return f"{PROBES.get(probe['probe'], probe['probe'])}{value}{interval}{missing}{cut}"
