"""Check the words that people read against docs/vocabulary.toml, and the length of sentences and commit subjects.

    .venv/bin/python scripts/vocabulary.py               list what is wrong; exit 1 if there is anything
    .venv/bin/python scripts/vocabulary.py --sentences   print the sentences of each page of docs: number, mean, longest
    .venv/bin/python scripts/vocabulary.py --root DIR    check another checkout

A reader yields the texts of a file with their lines: a string, a paragraph, a table cell or the text of an element.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/vocabulary.toml"
_GETTEXT = re.compile(r"_$|n?p?n?gettext(_lazy)?$")
_INLINE = re.compile(r"</?(?:a|abbr|b|bdi|code|em|i|kbd|span|strong)\b[^>]*>")
_ATTRIBUTE = re.compile(r'\b(?:title|alt|placeholder|aria-label|data-confirm)="([^"]*)"')
_TRANSLATED = re.compile(r"\{%-?\s*translate\s+(?:\"([^\"]*)\"|'([^']*)')|\b_\(\"([^\"]*)\"\)")
_UNREAD = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{% comment %\}.*?\{% endcomment %\}|<(script|style)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"(\{%(?:.|\n)*?%\}|<[^>]*>)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) +")
_ALONE = re.compile(r"\s*(?:#|<!--|!\[|\([\w-]+\)=$|:::|\|)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”)]*\s+(?=[A-Z0-9“\"(`.])")
_ABBREVIATED = re.compile(r"\b(Secs?|Tables?|Figs?|Eqs?|al|e\.g|i\.e|vs)\.")

Text = tuple[int, str]


def page(source: str) -> Iterator[Text]:
    """Yield the texts of a template: of elements, attributes and translated strings."""
    source = _UNREAD.sub(_only_lines, source)
    for pattern in (_ATTRIBUTE, _TRANSLATED):
        yield from (
            (source.count("\n", 0, found.start()) + 1, found[found.lastindex or 0])
            for found in pattern.finditer(source)
        )
    line = 1
    for part in _TAG.split(_INLINE.sub(_only_lines, source)):
        if not _TAG.match(part) and part.strip():
            yield line + part[: len(part) - len(part.lstrip())].count("\n"), part.strip()
        line += part.count("\n")


def messages(source: str) -> Iterator[Text]:
    """Yield the strings that Python code passes to gettext."""
    for node in _nodes(source) if "gettext" in source else ():
        if isinstance(node, ast.Call) and _GETTEXT.match(getattr(node.func, "id", getattr(node.func, "attr", ""))):
            yield from _strings(node.args)


def helps(source: str) -> Iterator[Text]:
    """Yield the help of a command and of its options."""
    for node in _nodes(source):
        named = node.arg if isinstance(node, ast.keyword) else ""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named = node.targets[0].id
        if named in {"help", "description"} and not isinstance(node, ast.Call):
            yield from _strings(ast.walk(node.value))


def comments(source: str) -> Iterator[Text]:
    """Yield the comments of a Python file that have lines of their own, one text for each block."""
    for block in re.finditer(r"^([ \t]*#.*\n)+", source, re.MULTILINE):
        yield source.count("\n", 0, block.start()) + 1, re.sub(r"^[ \t]*# ?", "", block[0], flags=re.MULTILINE).strip()


def docstrings(source: str) -> Iterator[Text]:
    """Yield the docstrings of a module and of its public classes and functions, without code."""
    inside: list[Any] = [_tree(source)]
    for node in inside:
        public = not getattr(node, "name", "").startswith("_")
        if public and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node, clean=False):
                yield node.body[0].lineno, re.sub(r"`[^`\n]*`", "`code`", text)
            inside += node.body


def names(source: str) -> Iterator[Text]:
    """Yield the names of the tests of a file, as words."""
    for found in re.finditer(r"^ *(?:async )?def test_(\w+)", source, re.MULTILINE):
        yield source.count("\n", 0, found.start(1)) + 1, found[1].replace("_", " ")


def prose(source: str) -> Iterator[Text]:
    """Yield the headings, table cells and paragraphs of a Markdown page, without code and addresses."""
    for line, text in _blocks(source):
        yield from ((line, cell.strip("# ")) for cell in (text.split("|") if text.startswith("|") else [text]))


READERS = {each.__name__: each for each in (page, messages, helps, comments, docstrings, names, prose)}


def sentences(source: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the number of words and the text of each sentence of a page, without headings and tables."""
    for line, text in _blocks(source):
        if not _ALONE.match(text):
            for sentence in _SENTENCE_END.split(_ABBREVIATED.sub(r"\1", re.sub(r"[*\[\]]", "", text))):
                if words := re.findall(r"\S*\w\S*", sentence):
                    yield line, len(words), " ".join(sentence.split())


def _blocks(source: str) -> Iterator[Text]:
    source = re.sub(r"^(`{3,}).*?^\1$|<!--.*?-->", _only_lines, source, flags=re.MULTILINE | re.DOTALL)
    source = re.sub(r"(`+)[^`]+\1", lambda code: f"`code`{_only_lines(code)}", re.sub(r"\]\([^)\s]*\)", "]", source))
    start, block = 1, list[str]()
    for number, line in enumerate([*source.split("\n"), ""], 1):
        alone = _ALONE.match(line)
        if block and (alone or not line.strip() or _ITEM.match(line.strip())):
            yield start, "\n".join(block)
            block = []
        if alone:
            yield number, line.strip()
        elif line.strip() and (block or not line.startswith("    ") or _ITEM.match(line.strip())):
            start = start if block else number
            block.append(line.strip() if block else _ITEM.sub("", line.strip()))


def _only_lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


@cache
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _nodes(source: str) -> Sequence[ast.Call | ast.keyword | ast.Assign]:
    return [node for node in ast.walk(_tree(source)) if isinstance(node, ast.Call | ast.keyword | ast.Assign)]


def _strings(nodes: Iterator[ast.AST] | Sequence[ast.AST]) -> Iterator[Text]:
    yield from (
        (one.lineno, one.value) for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the table: a space is any white space, and case counts if it has a capital letter."""
    return re.compile(pattern.replace(" ", r"\s+"), 0 if re.search(r"[A-Z]", pattern) else re.IGNORECASE)


def check(root: Path) -> Iterator[str]:
    """Yield `PATH:LINE: what is wrong` for the files of the scopes, and for the subjects of new commits."""
    table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
    for scope, chosen in table["scopes"].items():
        for path, source in _files(root, chosen):
            rows = [row for row in table["words"] if scope in row.get("scopes", [scope])]
            rows = [row for row in rows if not _matches(path, row.get("not_in", ()))]
            yield from (f"{path}:{says}" for says in _old_words(READERS[chosen["read"]](source), rows))
            for line, count, text in sentences(source) if "max_words" in chosen else ():
                if count > chosen["max_words"]:
                    yield f"{path}:{line}: a sentence of {count} words: {text}"
    yield from (f"commits: {len(one)} characters: {one}" for one in _subjects(root) if len(one) > table["max_subject"])


def _files(root: Path, chosen: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for path in sorted({path for pattern in chosen["files"] for path in root.glob(pattern)}):
        if not _matches(path.relative_to(root).as_posix(), chosen.get("not_in", ())):
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _old_words(texts: Iterator[Text], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    patterns: list[tuple[Callable[[str], Iterator[re.Match[str]]], Mapping[str, Any]]]
    patterns = [(_pattern(row["pattern"]).finditer, row) for row in rows]
    for line, text in texts:
        for finditer, row in patterns:
            for old in finditer(text):
                right = [one.span() for each in row.get("unless", ()) for one in _pattern(each).finditer(text)]
                if not any(start <= old.start() and old.end() <= end for start, end in right):
                    place = line + text.count("\n", 0, old.start())
                    yield f'{place}: "{" ".join(old[0].split())}": use {row["use"]}'


def _subjects(root: Path) -> list[str]:
    """Return the subjects of the commits since the one that brought the table; none without a history."""
    git = [shutil.which("git") or "", "-C", str(root), "log", "--no-merges"]
    if not (root / ".git").exists() or not git[0]:
        return []
    first = subprocess.run([*git, "--format=%H", "--diff-filter=A", "--", TABLE], capture_output=True, text=True).stdout
    if not first:
        return []
    since = [*git, "--format=%s", f"{first.split()[-1]}..HEAD"]
    return subprocess.run(since, capture_output=True, text=True, check=True).stdout.splitlines()


def lengths(root: Path) -> Iterator[str]:
    """Yield a table of the sentences of each page of the docs."""
    total = list[int]()
    yield from ("| page | sentences | mean words | longest |", "|---|--:|--:|--:|")
    for path, source in _files(root, tomllib.loads((root / TABLE).read_text(encoding="utf-8"))["scopes"]["docs"]):
        if counts := [count for _line, count, _text in sentences(source)]:
            total += counts
            yield f"| {path} | {len(counts)} | {sum(counts) / len(counts):.1f} | {max(counts)} |"
    yield f"| all | {len(total)} | {sum(total) / max(1, len(total)):.1f} | {max(total, default=0)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to check")
    parser.add_argument("--sentences", action="store_true")
    options = parser.parse_args()
    if options.sentences:
        print("\n".join(lengths(options.root)))
        return 0
    problems = list(check(options.root))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
