"""Check the citations in code and documentation: each one resolves, and all that is listed is cited.

    .venv/bin/python scripts/citations.py    list what is wrong; exit 1 if there is anything

A citation has one of these forms, and leads to something in this repository:

    docs/workflow.md#rule-5          the page, and an anchor for one section; pages of docs/ link it instead
    decision 27                      its page in docs/decisions/
    ViLMA, Sec. 3.2 and Table 4      places of a paper: Sec., Table, Fig., Eq., Alg.; also (ViLMA, Tables 4-6)
    Dawid & Skene 1979               a work as a whole

docs/papers/index.md lists the works by their short names, and the places that are cited of each.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from doc_pages import DOCS, ROOT, anchors, name_of

SUFFIXES = {".py", ".html", ".txt", ".js", ".css", ".md", ".toml", ".yaml", ".yml", ".sql", ".sh", ".service", ".cff"}
# What is built, installed or stored beside the source.
LEFT_OUT = {"_build", "node_modules", "__pycache__", "var", "build", "dist"}
PAPERS = DOCS / "papers"
INDEX = PAPERS / "index.md"
# Documents of a release that is exported.
EXPORTED = {"datasheet.md", "LICENCES.md"}

NUMBER = r"(?:(?:[A-H]\.)?\d+(?:\.\d+)*[a-z]?\b|\b[A-H](?![\w.'])|[A-H](?=\)))"
PLACE = rf"(?:Sec|Table|Fig|Eq|Alg)s?\.? {NUMBER}(?:(?:, | and |, and |-){NUMBER})*"
PLACES = re.compile(rf"{PLACE}(?:(?:,| and|, and) {PLACE})*")
# What reads like a place, in whatever form.
LOOSE = re.compile(
    r"\b(?:[Ss]ec(?:tion)?s?|Tab(?:le)?s?|[Ff]ig(?:ure)?s?|Eqs?|[Ee]quations?|[Aa]ppendi(?:x|ces)|[Aa]lg(?:orithm)?s?)"
    rf"\.? {NUMBER}"
)
# A place without its kind, behind the name of a paper.
BARE = r"(?:(?:[A-H]\.)?\d(?!\d)(?:\.\d+)*|[A-H])(?=[).,;:|\"]|$| and )"
NO_AUTHORS = "Jan|Feb|Mar|März|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
BY_AUTHOR = re.compile(
    rf"\b(?!{NO_AUTHORS})([A-Z][a-zà-ž]+(?: et al\.| (?:&|and) [A-Z][a-zà-ž]+)?),? \(?((?:19|20)\d\d)\b(?![-/.:])"
)
NO_YEAR = re.compile(r"\w+ et al\.(?!,? \(?(?:19|20)\d\d\b)")
FILE = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w.-]+\.md)(#[\w-]+)?")
DECISION = re.compile(r"\b[Dd]ecisions? \[?(\d+)(?:(?:, | and )(\d+))*")
# How a decision says that it was superseded.
STATUS = re.compile(
    r"^Status: superseded (?P<part>in part )?by (?:\[decision (?P<by>\d+)\]\(\d{4}-[\w-]+\.md\)|the code)"
    r"(?P<what>: .+)?\.$"
)
RULE = re.compile(r"(?<!#)\b[Rr]ules? \d+\b")


@dataclass(frozen=True)
class Work:
    """A row of docs/papers/index.md; `page` is the paper's own, `places` are those that may be cited."""

    name: str
    page: Path | None
    places: frozenset[str]


def files() -> Iterator[Path]:
    """Every file of the repository in which people write, but the CHANGELOG: it says what was."""
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith(".") or top.suffix == ".egg-info" or top.name in {*LEFT_OUT, "CHANGELOG.md"}:
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            written = path.suffix in SUFFIXES or path.name == "Makefile"
            if written and path.is_file() and not LEFT_OUT & set(path.relative_to(ROOT).parts):
                yield path


def flat(text: str) -> str:
    """The text on one line: comments and literals of several lines are joined."""
    joined = re.sub(r"[\"']\s*\n\s*[rf]?[\"'](?![\"'])", "", text)
    joined = re.sub(r"\n[ \t]*(?:#+|//|\*)(?=[ \t])", " ", joined)
    return " ".join(joined.split())


@cache
def works() -> dict[str, Work]:
    """Short name -> work."""
    found = {}
    for name, _reference, places in _rows(INDEX.read_text(encoding="utf-8"), 3):
        linked = re.match(r"\[[^\]]*\]\(([\w-]+\.md)#cited-places\)", places)
        page = PAPERS / linked[1] if linked else None
        listed = page.read_text(encoding="utf-8").partition("## Cited places")[2] if page else ""
        cells = [row[0] for row in _rows(listed, 2)] if page else [places]
        found[name] = Work(name, page, frozenset(place for cell in cells for place in spelled_out(cell)))
    return found


def _rows(text: str, width: int) -> Iterator[list[str]]:
    """The rows of the tables of that width, without their heads."""
    head = rf"^\|(?:[^|\n]*\|){{{width}}}\n\|(?:---\|){{{width}}}\n"
    for table in re.findall(rf"{head}((?:\|.*\n?)+)", text, re.MULTILINE):
        for line in table.strip().split("\n"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def spelled_out(text: str) -> Iterator[str]:
    """Each place by itself, in the singular; a range is all of its numbers."""
    for part in re.findall(PLACE, text):
        word, _, numbers = part.partition(" ")
        kind = word.rstrip(".").removesuffix("s")
        kind = kind if kind == "Table" else f"{kind}."
        for number in re.split(r", and |, | and ", numbers):
            yield from (f"{kind} {each}" for each in _range(number))


def _range(number: str) -> list[str]:
    """`F.2-F.4` -> F.2, F.3, F.4; anything else is itself."""
    ends = re.fullmatch(r"((?:[A-H]\.)?)(\d+)-\1(\d+)", number)
    return [f"{ends[1]}{each}" for each in range(int(ends[2]), int(ends[3]) + 1)] if ends else [number]


def cited_places(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """(short name, match) of every citation of places; the match's second group holds them."""
    spelled = {name.lower(): name for name in works()}
    for found in _names(rf", ({PLACES.pattern})").finditer(text):
        yield spelled[found[1].lower()], found


@cache
def _names(behind: str) -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, works()), key=len, reverse=True))
    return re.compile(rf"(?<!\w)((?i:{names})){behind}")


def problems(path: Path, text: str) -> Iterator[str]:
    """Why citations of the file do not resolve, one sentence each."""
    plain = flat(text)
    if path != INDEX:
        yield from _places(path, plain)
        yield from _authors(path, plain)
    yield from _decisions(plain)
    yield from _pages(path, text)
    linked = re.sub(r"\[[^\]]*\]\([^)]*#rule-\d+\)", "", re.sub(r"^#+ Rule \d+", "", text, flags=re.MULTILINE))
    for found in RULE.findall(flat(linked)):
        yield f"'{found}': cite the rule by its anchor in docs/workflow.md"


def _places(path: Path, plain: str) -> Iterator[str]:
    """Places are those of a work, which are listed; on a paper's own page that paper's."""
    own = next((work for work in works().values() if work.page == path), None)
    covered: set[int] = set()
    for name, found in cited_places(plain):
        covered.update(range(*found.span()))
        for place in spelled_out(found[2]):
            if place not in works()[name].places:
                yield f"'{found[0]}': {place} is not among the cited places of {name}"
    for found in _names(rf"(?:'s)?,? {BARE}").finditer(plain):
        if found.start() not in covered:
            yield f"'{found[0]}': write Sec., Table, Fig. or Eq. before the number"
    for found in LOOSE.finditer(plain):
        if found.start() in covered:
            continue
        if own is None:
            yield f"'{found[0]}': name its paper, as in docs/papers/index.md"
        elif not own.places.issuperset(spelled_out(found[0]) or [found[0]]) or not PLACES.match(found[0]):
            yield f"'{found[0]}': it is not among the cited places of {own.name}"


def _authors(path: Path, plain: str) -> Iterator[str]:
    for author, year in BY_AUTHOR.findall(plain):
        if f"{author} {year}" not in works():
            yield f"'{author} {year}': docs/papers/index.md has no such work"
    if path.parent != PAPERS:
        for found in NO_YEAR.findall(plain):
            yield f"'{found}': cite the work by its short name, as in docs/papers/index.md"


@cache
def decisions() -> dict[int, Path]:
    """Number -> page."""
    return {int(page.name[:4]): page for page in sorted((DOCS / "decisions").glob("0*.md"))}


def _decisions(plain: str) -> Iterator[str]:
    """Numbers are those of pages of docs/decisions/; a link leads to the page of its number."""
    for found in DECISION.finditer(plain):
        for number in map(int, re.findall(r"\d+", found[0])):
            if number not in decisions():
                yield f"'{found[0]}': there is no decision {number}"
    for number, target in re.findall(r"\[[Dd]ecision (\d+)\]\([^)]*?(\d{4})-[^)]*\)", plain):
        if int(number) != int(target):
            yield f"decision {number} links the page of decision {int(target)}"


def _pages(path: Path, text: str) -> Iterator[str]:
    """Pages are named from the root of the repository, and their anchors exist."""
    named = FILE.findall(text) if path.name != "Makefile" else []
    # Names without a folder: literals and links may have them, comments and docstrings may not.
    loose = {file for file, _anchor in named if not file.startswith("docs/") and file not in EXPORTED}
    if loose:
        prose = {".py": _prose_of_python, ".md": lambda _text: ""}.get(path.suffix, str)(text)
        loose &= {file for file, _anchor in FILE.findall(prose)}
    for file, anchor in dict.fromkeys(named):
        if not file.startswith("docs/") and file not in loose:
            continue
        page = ROOT / file
        if not page.exists():
            yield f"'{file}': there is no such page; name it from the root of the repository"
        elif anchor and anchor[1:] not in _anchors(page):
            yield f"'{file}{anchor}': the page has no such anchor"


@cache
def _anchors(page: Path) -> set[str]:
    return anchors(page.read_text(encoding="utf-8"))


def _prose_of_python(text: str) -> str:
    """Comments and docstrings."""
    reader = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [token.string for token in reader if token.type == tokenize.COMMENT]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found += [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return "\n".join(found)


def uncited(texts: Mapping[Path, str]) -> Iterator[str]:
    """Yield each listed work, and each listed place of one, that no text cites."""
    plain = {path: flat(text.partition("## Cited places")[0]) for path, text in texts.items() if path != INDEX}
    everything = "\n".join(plain.values())
    listed = {name: set(work.places) for name, work in works().items()}
    for name, match in cited_places(everything):
        listed[name] -= set(spelled_out(match[2]))
    for name, work in works().items():
        for places in PLACES.findall(plain.get(work.page or Path(), "")):
            listed[name] -= set(spelled_out(places))
        if name not in everything and name.replace("et al.", "et al.,") not in everything:
            yield f"{name_of(INDEX)}: no text cites {name}"
        yield from (f"{name_of(work.page or INDEX)}: no text cites {place} of {name}" for place in sorted(listed[name]))


def status_problems() -> Iterator[str]:
    """Yield decisions whose status has another form, and rows of their index that say something else."""
    rows = []
    for number, page in decisions().items():
        title, *paragraphs = page.read_text(encoding="utf-8").split("\n\n")
        if not title.startswith(f"# {number}. "):
            yield f"{name_of(page)}: start with '# {number}. '"
        lines = [paragraph for paragraph in paragraphs if paragraph.startswith("Status:")]
        if not lines:
            continue
        line = " ".join(lines[0].split())
        status = STATUS.match(line)
        if line.startswith("Status: withdrawn (0."):
            rows.append(f"| [{number}]({page.name}) | withdrawn |")
        elif paragraphs[0] != lines[0] or not status or bool(status["part"]) != bool(status["what"]):
            yield f"{name_of(page)}: write the status below the title; in part: also what is superseded"
        else:
            by = status["by"]
            newer = f"[decision {by}]({decisions()[int(by)].name})" if by else "the code"
            rows.append(f"| [{number}]({page.name}) | {'in part, ' if status['part'] else ''}by {newer} |")
    index = DOCS / "decisions" / "index.md"
    if [line for line in index.read_text(encoding="utf-8").split("\n") if line.startswith("| [")] != rows:
        yield f"{name_of(index)}: its table of superseded decisions differs from their pages; write\n" + "\n".join(rows)


def main() -> int:
    texts = {path: path.read_text(encoding="utf-8", errors="ignore") for path in files()}
    lines = [f"{name_of(path)}: {why}" for path, text in texts.items() for why in problems(path, text)]
    lines += [*uncited(texts), *status_problems()]
    print("\n".join(lines) or f"{len(texts)} files: all citations resolve")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
