"""Read the pages of the documentation: blocks of code, commands, links, anchors."""

import re
import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^(`{3,})(.*)$")


@dataclass(frozen=True)
class Block:
    """A block of code: the word behind its fence, its lines, and the line of the page on which it begins."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """The pages at the top of the repository and every page of docs/, but for what is built from them."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
    return [*sorted(ROOT.glob("*.md")), *found]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def split(text: str) -> tuple[str, list[Block]]:
    """The prose of a page, lines of code left blank, and its blocks, fenced or indented by four."""
    prose: list[str] = []
    blocks: list[Block] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        opening = FENCE.match(line)
        if opening:
            end = next(at for at in range(number + 1, len(lines)) if lines[at].startswith(opening[1]))
            blocks.append(Block(opening[2].strip(), "\n".join(lines[number + 1 : end]), number + 1))
            end += 1
        elif line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            blocks.append(Block("", "\n".join(row[4:] for row in lines[number:end]).rstrip(), number + 1))
        else:
            prose.append(line)
            number += 1
            continue
        prose += [""] * (end - number)
        number = end
    return "\n".join(prose), blocks


def anchors(text: str) -> set[str]:
    """The anchors of a page: explicit ones, `(name)=`, and its headings' as hosts of repositories make them."""
    prose = split(text)[0]
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *$", prose, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        kept = (ch for ch in plain if ch in " -_" or unicodedata.category(ch)[0] in "LN")
        slug = "".join(kept).replace(" ", "-")
        again = found.get(slug, -1) + 1
        found[slug] = again
        if again:
            found[f"{slug}-{again}"] = 0
    return {*found, *re.findall(r"^\(([\w-]+)\)=$", prose, re.MULTILINE)}


def links(text: str) -> Iterator[str]:
    """The targets of the links and pictures of a page's prose, code left out."""
    prose = re.sub(r"`[^`\n]*`", "", split(text)[0])
    yield from re.findall(r"\]\(([^)\s]+)\)", prose)


def command_lines(block: Block) -> Iterator[str]:
    """The `foilworks` commands of a block: prompts, comments, variables and paths before them taken off."""
    for line in re.sub(r" *\\\n *", " ", block.text).split("\n"):
        found = re.match(r"^(?:\$ )?(?:.*\s)?(?:\.venv/bin/)?foilworks ((?!\|).+)$", line)
        if found and not line.lstrip().startswith("#"):
            yield found[1]


def inline_commands(text: str) -> Iterator[str]:
    """The `foilworks …` mentions of a page's prose."""
    yield from re.findall(r"`(?:\.venv/bin/)?foilworks ([a-z][^`]*)`", split(text)[0].replace("\n", " "))


def words(command: str) -> list[str]:
    """A command line as a shell would cut it, without its comment; `…` stands for nothing."""
    return [word for word in shlex.split(command, comments=True) if word != "…"]
