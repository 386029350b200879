"""Citations in code and documentation: find each one, and say why it does not resolve.

A citation has one of these forms, and leads to something in this repository:

    docs/workflow.md#rule-5      a page, with an anchor where one section is meant; pages of docs/ link it instead
    decision 27                  a page of docs/decisions/
    ViLMA, Sec. 3.2              places of a paper: Sec., Table, Fig., Eq., Alg.; `Secs. 3.2 and C.2`, `Tables 4-6`
    Dawid & Skene 1979           a work as a whole

docs/papers/index.md has the short names of works, and the places that are cited of each.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.docs.pages import DOCS, ROOT, anchors

SUFFIXES = {".py", ".html", ".txt", ".js", ".css", ".md", ".toml", ".yaml", ".yml", ".sql", ".sh", ".service"}
# What is built, installed or stored beside the source.
LEFT_OUT = {"_build", "node_modules", "__pycache__", "var", "build", "dist"}

NUMBER = r"(?:[A-H]\.)?\d+(?:\.\d+)*[a-z]?\b|\b[A-H](?![\w.'])"
WORD = r"(?:Sec|Table|Fig|Eq|Alg)s?\.?"
PLACE = rf"{WORD} (?:{NUMBER})(?:(?:, | and |, and |-)(?:{NUMBER}))*"
PLACES = rf"{PLACE}(?:(?:,| and|, and) {PLACE})*"
# A place without its kind.
BARE = r"(?:(?:[A-H]\.)?\d(?!\d)(?:\.\d+)*|[A-H])(?=[).,;:|\"]|$| and )"
# What reads like the place of a paper, in whatever form.
LOOSE = re.compile(
    r"\b(?:[Ss]ec(?:tion)?s?|Tab(?:le)?s?|[Ff]ig(?:ure)?s?|Eqs?|[Ee]quations?|[Aa]ppendi(?:x|ces)|[Aa]lg(?:orithm)?s?)"
    rf"\.? (?:{NUMBER})"
)
# The author and the year of a work; "et al." without a year names none.
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
BY_AUTHOR = re.compile(
    rf"\b(?!{MONTHS})([A-Z][a-zà-ž]+(?: et al\.| (?:&|and) [A-Z][a-zà-ž]+)?),? \(?((?:19|20)\d\d)\b(?![-/.:])"
)
SOMEBODY = re.compile(r"\w+ et al\.(?!,? \(?(?:19|20)\d\d\b)[^.)\n]{0,20}")
FILE = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w.-]+\.md)(#[\w-]+)?")
DECISION = re.compile(r"\b[Dd]ecisions? \[?(\d+)(?:(?:, | and )(\d+))*")
RULE = re.compile(r"(?<!#)\b[Rr]ules? \d+\b")


@dataclass(frozen=True)
class Work:
    """A row of docs/papers/index.md; `page` is the paper's own, `places` are those that may be cited."""

    name: str
    page: str
    places: frozenset[str]


def files() -> Iterator[Path]:
    """Every file of the repository in which people write."""
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith(".") or top.name in LEFT_OUT or top.name.endswith(".egg-info"):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            inner = path.relative_to(ROOT).parts
            if path.is_file() and (path.suffix in SUFFIXES or path.name == "Makefile") and not LEFT_OUT & {*inner}:
                yield path


def flat(text: str) -> str:
    """Prose on one line: comments and literals that go on over several lines are joined, white space is one space."""
    joined = re.sub(r"[\"']\s*\n\s*[rf]?[\"'](?![\"'])", "", text)
    joined = re.sub(r"\n[ \t]*(?:#+|//|\*)(?=[ \t])", " ", joined)
    return " ".join(joined.split())


@cache
def works() -> dict[str, Work]:
    """Short name -> work."""
    found = {}
    for name, reference, places in _rows((DOCS / "papers" / "index.md").read_text(encoding="utf-8"), 3):
        page = re.match(r"\[[^\]]*\]\(([\w-]+\.md)#cited-places\)", places)
        text = (DOCS / "papers" / page[1]).read_text(encoding="utf-8") if page else ""
        listed = [row[0] for row in _rows(text.partition("## Cited places")[2], 2)] if page else [places]
        assert reference, name
        spelled = {spelled for cell in listed for spelled in spelled_out(cell)}
        found[name] = Work(name, page[1] if page else "", frozenset(spelled))
    return found


def _rows(text: str, width: int) -> Iterator[list[str]]:
    """The rows of the tables of that width, without their heads."""
    for table in re.findall(
        rf"^\|(?:[^|\n]*\|){{{width}}}\n\|(?:---\|){{{width}}}\n((?:\|.*\n?)+)", text, re.MULTILINE
    ):
        for line in table.strip().split("\n"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def spelled_out(text: str) -> Iterator[str]:
    """Each place by itself: `Tables 4-6 and Sec. 3.2` -> Table 4, Table 5, Table 6, Sec. 3.2."""
    for part in re.findall(PLACE, text):
        word, _, numbers = part.partition(" ")
        kind = word.rstrip(".").removesuffix("s")
        for number in re.split(r", and |, | and ", numbers):
            first, _, last = number.partition("-")
            stem, _, low = first.rpartition(".")
            if last and (last.rpartition(".")[0] != stem or not last.rpartition(".")[2].isdecimal()):
                yield f"{kind} {number}"
                continue
            for each in range(int(low), int(last.rpartition(".")[2]) + 1) if last else [low]:
                yield f"{kind} {stem}.{each}" if stem else f"{kind} {each}"


def problems(path: Path, text: str) -> Iterator[str]:
    """Why citations of the file do not resolve, one sentence each."""
    plain = flat(text)
    yield from _places(path, plain)
    for author, year in BY_AUTHOR.findall(plain):
        if f"{author} {year}" not in works() and not _is_in_index(path):
            yield f"'{author} {year}': docs/papers/index.md has no such work"
    yield from _decisions(path, plain)
    if path.suffix != ".md":
        yield from _pages(path, text)
    unnamed = re.sub(r"\[[^\]]*\]\([^)]*#rule-\d+\)", "", re.sub(r"^#+ Rule \d+", "", text, flags=re.MULTILINE))
    for found in RULE.findall(flat(unnamed)):
        yield f"'{found}': cite docs/workflow.md#rule-N"


def _is_in_index(path: Path) -> bool:
    return path == DOCS / "papers" / "index.md"


def _places(path: Path, plain: str) -> Iterator[str]:
    """Places are those of a work, which are listed; on a paper's own page that paper's."""
    own = next((work for work in works().values() if work.page and path == DOCS / "papers" / work.page), None)
    names = "|".join(sorted(map(re.escape, works()), key=len, reverse=True))
    covered: set[int] = set()
    for found in re.finditer(rf"(?<!\w)({names}), ({PLACES})", plain, re.IGNORECASE):
        work = next(work for name, work in works().items() if name.lower() == found[1].lower())
        covered |= set(range(*found.span()))
        for place in spelled_out(found[2]):
            if place not in work.places:
                yield f"'{found[0]}': {place} is not among the cited places of {work.name}"
    for found in re.finditer(rf"(?<!\w)(?:{names})(?:'s)?,? {BARE}", plain):
        if found.start() not in covered:
            yield f"'{found[0]}': write Sec., Table, Fig. or Eq. before the number"
    if _is_in_index(path):
        return
    for found in LOOSE.finditer(plain):
        if found.start() in covered:
            continue
        if own is None:
            yield f"'{found[0]}': name the paper before it, as in (ViLMA, Table 4)"
        elif not set(spelled_out(found[0])) or set(spelled_out(found[0])) - own.places:
            yield f"'{found[0]}': it is not among the cited places of {own.name}"


def _decisions(path: Path, plain: str) -> Iterator[str]:
    """Numbers are those of pages of docs/decisions/; a link leads to the page of its number."""
    numbers = {int(page.name[:4]) for page in (DOCS / "decisions").glob("0*.md")}
    for found in DECISION.finditer(plain):
        for number in map(int, re.findall(r"\d+", found[0])):
            if number not in numbers:
                yield f"'{found[0]}': there is no decision {number}"
    for number, target in re.findall(r"\[[Dd]ecision (\d+)\]\([^)]*?(\d{4})-[^)]*\)", plain):
        if int(number) != int(target):
            yield f"decision {number} links the page of decision {int(target)}"


def _pages(path: Path, text: str) -> Iterator[str]:
    """Pages are named from the root of the repository, and their anchors exist."""
    prose = _prose_of_python(text) if path.suffix == ".py" else text
    named = FILE.findall(text if path.name != "Makefile" else "")
    loose = {file for file, _anchor in FILE.findall(prose)}
    for file, anchor in named:
        if not file.startswith("docs/") and (file not in loose or (ROOT / file).exists()):
            continue
        page = ROOT / file
        if not page.exists():
            yield f"'{file}': there is no such page; name it from the root, as in docs/workflow.md#rule-5"
        elif anchor and anchor[1:] not in anchors(page.read_text(encoding="utf-8")):
            yield f"'{file}{anchor}': the page has no such anchor"


def _prose_of_python(text: str) -> str:
    """Comments and docstrings."""
    reader = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [token.string for token in reader if token.type == tokenize.COMMENT]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found += [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return "\n".join(found)
