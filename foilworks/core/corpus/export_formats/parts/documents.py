"""Fill in the documents of an export: the templates of `templates/exports`, from the release's facts.

A line of a template that has only tags leaves no line in the document, and a backslash at its end joins it to the next.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.template import Context, Engine, Library, Origin, Template
from django.template.loaders.filesystem import Loader

from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS, SECTIONS, Question
from foilworks.core.corpus.export_formats.parts.facts import Facts
from foilworks.core.corpus.export_formats.parts.markdown import cell, latex, line, link_safe, prose, web

TEMPLATES = Path(__file__).parents[4] / "site" / "templates"
UNANSWERED = "*Nobody has answered this question.*"
NO_COMMENTS = "*None.*"
LEFT_OUT = "*Left out of the copy for review, or unanswered.*"
RAI_VERSION = "http://mlcommons.org/croissant/RAI/1.0"
# Starts a block of a template. Blanks of people's texts are unified, so that none has it.
_MARK = "\x1d"
_ONLY_TAGS = re.compile(r"^[ \t]*((?:\{%(?:(?!%\}).)*%\}[ \t]*)+)\n", re.MULTILINE)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SENTENCES = re.compile(r"(?<=\.)\s+")
_NAME = re.compile(r"[^A-Za-z0-9_.-]")
# Fields of responsible AI with one text; the others have lists.
RAI_TEXTS = frozenset(
    {
        "dataCollection",
        "dataCollectionMissingData",
        "dataCollectionRawData",
        "annotationsPerItem",
        "dataSocialImpact",
        "dataReleaseMaintenancePlan",
    }
)
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
CROISSANT = "Videos with captions that are true of them and foils, minimal edits that are false of them."
FIELDS = {
    "id": "name of the item, unique in the data set",
    "subtest": "subtest of the item",
    "test": "phenomenon that several subtests share",
    "caption": "sentence that is true of the video",
    "foils": "minimal edits of the caption that are false of the video",
    "video": "file name of the video, which is not part of the data set",
    "url": "address of the video",
    "source_dataset": "data set that the video is from",
    "source_id": "id of the uncut video there",
    "start_time": "start of the clip in the video",
    "end_time": "end of the clip in the video",
    "time_unit": "sec, pts or frames",
}

register = Library()
register.filter("cell", cell)
register.filter("plain", link_safe)
register.filter("line", line)
register.filter("latex", latex)
register.filter("web", web)
register.filter("braced", lambda text: f"{{{text}}}")
register.filter("latex_address", lambda text: text.replace("%", r"\%").replace("#", r"\#"))
register.filter("json", lambda value: json.dumps(value, ensure_ascii=False))
register.filter("quoted", lambda text: json.dumps(line(text), ensure_ascii=False))
register.filter("percent", lambda share: f"{100 * share:.1f} %" if isinstance(share, int | float) else "-")
register.filter("hundredfold", lambda share: f"{100 * share:.1f}")
register.filter(
    "of", lambda answers, slugs: "\n".join(text for slug in slugs.split() for text in answers.get(slug, ()))
)


class DocumentLoader(Loader):
    """Load a template of a document, without the line ends that leave no line in it."""

    def get_contents(self, origin: Origin) -> str:
        return _ONLY_TAGS.sub(r"\1", super().get_contents(origin)).replace("\\\n", "")


@cache
def _template(name: str) -> Template:
    loader = f"{__name__}.{DocumentLoader.__name__}"
    return Engine(autoescape=False, builtins=[__name__], loaders=[(loader, [TEMPLATES])]).get_template(name)


def render(name: str, facts: Mapping[str, Any], **more: Any) -> str:
    """Return the document of a template."""
    context = Context({**facts, **more, "mark": _MARK}, autoescape=False, use_l10n=False, use_tz=False)
    # Plain text: what the engine returns counts as safe HTML, and a page would not escape it.
    return _template(name).render(context) + ""


def _blocks(name: str, facts: Mapping[str, Any], **more: Any) -> dict[str, list[str]]:
    """Return the lines of each block of a template, without blank ones at its ends."""
    blocks = [block.partition("\n") for block in render(name, facts, **more).split(_MARK)[1:]]
    return {slug: [row.rstrip() for row in text.strip("\n").split("\n")] for slug, _, text in blocks if text.strip()}


def own_answers(facts: Facts) -> dict[str, list[str]]:
    """Return the answers to the datasheet from the release's own numbers: slug -> lines of Markdown."""
    return _blocks("exports/answers.md", facts)


def unanswered(facts: Facts) -> list[Question]:
    """Return the questions without an answer from the release or anybody; comments are optional."""
    own, people = own_answers(facts), facts["answers"]
    questions = [question for slug, question in QUESTIONS.items() if not slug.endswith(".comments")]
    return [
        question for question in questions if question.slug not in own and not people.get(question.slug, "").strip()
    ]


def datasheet(facts: Facts, *, for_review: bool = False) -> str:
    """Return `datasheet.md` (Gebru et al. 2021): every question with the answers by numbers and by people.

    `for_review`: the release has no answers of people, because they may name somebody.
    """
    own, people = own_answers(facts), facts["answers"]

    def answer(question: Question) -> str:
        text = people.get(question.slug, "").strip()
        paragraphs = ["\n".join(own.get(question.slug, ())), "\n".join(prose(text)) if text else ""]
        without = NO_COMMENTS if question.slug.endswith(".comments") else LEFT_OUT if for_review else UNANSWERED
        return "\n\n".join(filter(None, paragraphs)) or without

    return render(
        "exports/datasheet.md",
        facts,
        for_review=for_review,
        n_questions=len(QUESTIONS) - len(SECTIONS),
        n_unanswered=len(unanswered(facts)),
        sections=[(section, [(question, answer(question)) for question in section.questions]) for section in SECTIONS],
    )


def rai_fields(facts: Facts) -> dict[str, str | list[str]]:
    """Return {"rai:…": value} of the answered fields of Croissant about responsible AI (MLCommons, RAI 1.0)."""
    own = {slug: _plain_lines(lines) for slug, lines in own_answers(facts).items()}
    people = {slug: [" ".join(text.split())] for slug, text in facts["answers"].items() if text.strip()}
    fields = {
        name: list(filter(None, rows))
        for name, rows in _blocks("exports/rai.txt", facts, own=own, people=people).items()
    }
    return {f"rai:{name}": " ".join(rows) if name in RAI_TEXTS else rows for name, rows in fields.items() if rows}


def unanswered_fields(facts: Facts) -> dict[str, tuple[str, ...]]:
    """Return {field without an answer: slugs of the datasheet's questions that would fill it}."""
    answered_fields = rai_fields(facts)
    return {name: slugs for name, slugs in ASKED.items() if f"rai:{name}" not in answered_fields}


def spaced_rai(facts: Facts) -> list[tuple[str, str]]:
    """Return the fields with names as words ("Data biases") and texts of one line."""
    return [
        (
            _CAPITAL.sub(" ", name.removeprefix("rai:")).lower().capitalize(),
            value if isinstance(value, str) else " · ".join(value),
        )
        for name, value in rai_fields(facts).items()
    ]


def _plain_lines(lines: Sequence[str]) -> list[str]:
    """Return Markdown as text: rows of tables without their headers, no sentence about a file of the full export."""
    headers = {at for rule, text in enumerate(lines) if text.startswith("| ---") for at in (rule - 1, rule)}
    return [text for at, row in enumerate(lines) if at not in headers and (text := _plain(row))]


def _plain(row: str) -> str:
    if row.startswith("|"):
        row = ": ".join(cell_text.strip() for cell_text in row.strip("|").split(" | ")) + "."
    text = " ".join(sentence for sentence in _SENTENCES.split(row) if ".jsonl`" not in sentence)
    return text.replace("**", "").replace("\\|", "|").replace("&lt;", "<").removeprefix("* ").strip()


def bibtex(facts: Mapping[str, Any]) -> str:
    """Return one `@misc` entry, which every BibTeX knows."""
    return render("exports/citation.bib", facts)


def cff(facts: Mapping[str, Any]) -> str:
    """Return YAML whose every value is a JSON string, which YAML reads as it is."""
    return render("exports/CITATION.cff", facts)


def fenced_bibtex(facts: Facts) -> str:
    """Return the entry for a code block, which it cannot end."""
    return bibtex(facts).replace("```", "'''")


def croissant(
    facts: Facts, files: Sequence[Mapping[str, Any]], more: Mapping[str, Any], *, with_rai: bool = False
) -> dict[str, Any]:
    """Return Croissant metadata (MLCommons, version 1.0) of data files, with the fields of `more` that are not empty.

    A file has name, path, bytes, sha256, format, stem and fields (column -> its meaning).
    """
    version = "http://mlcommons.org/croissant/1.0"
    text = render(
        "exports/croissant.json",
        facts,
        described=[
            {**file, "records": croissant_name(file["stem"]), "fields": list(file["fields"].items())} for file in files
        ],
        conforms_to=[version, RAI_VERSION] if with_rai else version,
        croissant_name=croissant_name(f"{facts['project']}-{facts['release']}"),
        description=f"{CROISSANT} {facts['canary']}".rstrip(),
    )
    return json.loads(text) | {name: value for name, value in more.items() if value}


def described(path: Path, encoding: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Describe a file of data, whose address is relative to the folder above its own."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    file_facts = {
        "name": path.name,
        "path": f"{path.parent.name}/{path.name}",
        "stem": path.stem,
        "bytes": path.stat().st_size,
    }
    return {**file_facts, "sha256": digest, "format": encoding, "fields": fields}


def croissant_name(text: str) -> str:
    """Return a name of letters, digits, dash, underscore and dot."""
    return _NAME.sub("-", text) or "unnamed"
