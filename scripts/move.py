"""Move a checkout of 0.3 to the layout of 0.4: files, imports, import strings, and paths in texts.

    python scripts/move.py          moves and rewrites the working tree; run `make format` afterwards

Run it on a branch that began before the move; it does nothing to what has moved already. It is deleted in 0.5
(docs/decisions/0130-floors.md). The list of old modules is that of commit cc592f35 and of the branch.

What is rewritten: the module of every import in Python code; in its texts and comments, and in every other text file,
dotted names and paths that name a module, file or folder of the old layout. Names of URLs, tables, salts, events and
templates are not modules, so they stay. Files of the upgrade record and of migrations keep their texts.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = "cc592f35"
CORE, SITE = "foilworks/core", "foilworks/site"
# Old folder or module -> new one; the longest match counts.
MOVES = {
    **{name: f"{CORE}/{name}" for name in ("text", "media", "hub", "jobs", "projects", "corpus")},
    "hub/adapters/registry": f"{CORE}/hub/catalogue/registry",
    "hub/number_formats": f"{CORE}/hub/catalogue/number_formats",
    "hub/loading/options": f"{CORE}/hub/catalogue/options",
    "corpus/importers": f"{CORE}/corpus/import_formats",
    "corpus/exporters": f"{CORE}/corpus/export_formats",
    "generation/asking": "generation/instruction_models",
    **{f"projects/{name}": f"{CORE}/projects/sign_in/{name}" for name in (
        "known_browsers", "password_words", "second_factor", "session_times", "sessions",
    )},
    "projects/sign_in": f"{CORE}/projects/sign_in_views",
    "projects/webhooks": f"{CORE}/projects/webhooks/events",
    "projects/webhook_messages": f"{CORE}/projects/webhooks/messages",
    "projects/webhook_views": f"{CORE}/projects/webhook_views",
    "projects/outbound_addresses": f"{CORE}/projects/webhooks/outbound_addresses",
    "projects/rate_limits": f"{CORE}/projects/limits/rate_limits",
    "projects/upload_limits": f"{CORE}/projects/limits/upload_limits",
    "projects/trail": f"{CORE}/projects/audit_trail",
    "projects/audit": f"{CORE}/projects/audit_trail/recording",
    "foilworks": SITE,
    **{f"evaluation/{name}": f"{SITE}/{name}" for name in (
        "dashboard", "documents", "exports", "imports", "publishing", "teacher",
    )},
    "reproduction": f"{SITE}/reproduction",
    **{f"foilworks/{name}": f"{SITE}/server/{name}" for name in (
        "lasting", "outages", "web_server", "web_worker", "whole_bodies",
    )},
    **{f"foilworks/{name}": f"{SITE}/databases/{name}" for name in (
        "database_version", "first_tables", "postgresql", "sqlite",
    )},
    "foilworks/notifications": f"{SITE}/notification_rules",
    "foilworks/templates": "templates",
    "foilworks/static": "static",
    "foilworks/__main__": "foilworks/__main__",
    # The client is imported by scripts of others, and imports nothing of Foilworks.
    "foilworks/client": "foilworks/client",
    "foilworks/core": CORE,
    "foilworks/site": SITE,
}  # fmt: skip
# Old module -> names that are in another module than the rest of it -> that module.
NAMES = {
    "hub.adapters.registry": {
        **dict.fromkeys(("open_adapter", "open_helper", "open_generator"), "foilworks.core.hub.opening"),
        **dict.fromkeys(("parse_spec", "trusted_name"), "foilworks.core.hub.catalogue.specs"),
    },
    "hub.number_formats": {"mark_dtype": "foilworks.core.hub.opening"},
    "text.language.tools": {
        **dict.fromkeys(
            ("LanguageError", "SPACY_MODELS", "check_tagger", "installed_spacy_model"),
            "foilworks.core.text.language.tagger_names",
        ),
        "TAGGERS": "foilworks.core.text.language.registry",
    },
    "evaluation.scoring.served.questions": {"Mode": "evaluation.scoring.served.specs"},
}
TOPS = ("annotation", "corpus", "evaluation", "foilworks", "generation", "hub", "jobs", "media", "projects",
        "reproduction", "text")  # fmt: skip
TEXTS = {".cfg", ".conf", ".css", ".html", ".js", ".json", ".md", ".po", ".rst", ".sbatch", ".service", ".sh", ".sql",
         ".toml", ".yaml", ".yml", ""}  # fmt: skip
# Written for other versions, or about them.
KEPT = re.compile(r"^(tests/foilworks/upgrade/(recorder|[0-9a-f]{7,})/|CHANGELOG\.md$|scripts/move\.py$|LICENSE$"
                  r"|docs/decisions/0130|foilworks/core/jobs/aliases\.py$|jobs/aliases\.py$)")  # fmt: skip
# Their strings are patterns of URLs.
ADDRESSES = re.compile(r"/urls\.py$")
# Salts and actions of the audit trail, which are stored.
STORED = {"foilworks.api.cursor", "foilworks.api.task", "foilworks.demo.begin", "foilworks.demo.enrol",
          "foilworks.demo.set_aside", "projects.sign_in"}  # fmt: skip
DOTTED = re.compile(rf"(?<![\w./{{@-])(?:{'|'.join(TOPS)})(?:\.[A-Za-z_]\w*)+(?![\w@])")
PATH = re.compile(rf"(?<![\w./@-])(?:{'|'.join(TOPS)})(?:/[\w.-]*)+")


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


@cache
def old_files() -> frozenset[str]:
    return frozenset({*git("ls-tree", "-r", "--name-only", BASE), *git("ls-files")})


@cache
def old_folders() -> frozenset[str]:
    return frozenset(parent.as_posix() for name in old_files() for parent in Path(name).parents)


def is_old(path: str) -> bool:
    """Return whether a path without its ending is a file, module or folder of the old layout."""
    return path in old_files() or path in old_folders() or f"{path}.py" in old_files()


def moved(path: str) -> str:
    """Return the new path of an old one: a folder, a file, or a module without its ending."""
    stem, ending = (path[:-3], ".py") if path.endswith(".py") else (path, "")
    if stem == "foilworks/__init__":
        return path
    parts = stem.split("/")
    for end in range(len(parts), 0, -1):
        start = "/".join(parts[:end])
        if start in MOVES:
            return "/".join([MOVES[start], *parts[end:]]) + ending
    return path


def moved_module(name: str) -> str:
    """Return the new dotted name of an old module; a name that is none stays."""
    path = name.replace(".", "/")
    if name == "foilworks" or not is_old(path) or path.startswith((CORE, SITE)):
        return name
    return moved(path).replace("/", ".")


def in_text(text: str, *, paths: bool = True) -> str:
    """Rewrite the dotted names and paths of a text."""
    text = DOTTED.sub(lambda match: _dotted(match.group()), text)
    return PATH.sub(lambda match: _path(match.group()), text) if paths else text


def _dotted(name: str) -> str:
    if name in STORED:
        return name
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        start = ".".join(parts[:end])
        # A file name such as text.css or jobs.py is none.
        if is_old(start.replace(".", "/")) and parts[end:] != ["py"]:
            if parts[end:] and (module := NAMES.get(start, {}).get(parts[end])):
                return ".".join([module, *parts[end:]])
            return ".".join([moved_module(start), *parts[end:]])
    return name


def _path(path: str) -> str:
    bare = path.rstrip("/.")
    if "/" not in bare or not is_old(bare) or bare.startswith((f"{CORE}", f"{SITE}")):
        return path
    return moved(bare) + path[len(bare) :]


def in_python(source: str, name: str) -> str:
    """Rewrite imports, texts and comments of a Python file."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    edits = [*_imports(tree, lines), *_texts(source, name)]
    for first, last, text in sorted(edits, reverse=True):
        before, after = lines[first[0] - 1][: first[1]], lines[last[0] - 1][last[1] :]
        lines[first[0] - 1 : last[0]] = [before + text + after]
    return "".join(lines)


Edit = tuple[tuple[int, int], tuple[int, int], str]


def _imports(tree: ast.Module, lines: Sequence[str]) -> Iterator[Edit]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            start = (node.lineno, _offset(lines, node.lineno, node.col_offset))
            end = (node.end_lineno or 0, _offset(lines, node.end_lineno or 0, node.end_col_offset or 0))
            yield from _from(node, lines, start, end)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if (new := moved_module(alias.name)) != alias.name and alias.asname:
                    start = (alias.lineno, _offset(lines, alias.lineno, alias.col_offset))
                    yield start, (start[0], start[1] + len(alias.name)), new
                elif new != alias.name:
                    sys.stderr.write(f"by hand: import {alias.name}\n")


def _offset(lines: Sequence[str], line: int, offset: int) -> int:
    """Return the column in characters; ast counts bytes."""
    return len(lines[line - 1].encode()[:offset].decode())


def _from(node: ast.ImportFrom, lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> Iterator[Edit]:
    module = node.module or ""
    groups: dict[str, list[str]] = {}
    for alias in node.names:
        parent, name = moved_module(module), alias.name
        full = f"{module}.{alias.name}"
        if is_old(full.replace(".", "/")):
            parent, _, name = moved_module(full).rpartition(".")
        parent = NAMES.get(module, {}).get(name, parent)
        bound = alias.asname or alias.name
        groups.setdefault(parent, []).append(name if name == bound else f"{name} as {bound}")
    same = groups.keys() == {moved_module(module)}
    unnamed = all(" as " not in name or alias.asname for names in groups.values() for name, alias in
                  zip(names, node.names, strict=False))  # fmt: skip
    if same and unnamed:
        if moved_module(module) != module:
            first = lines[start[0] - 1].index(module, start[1])
            yield (start[0], first), (start[0], first + len(module)), moved_module(module)
    else:
        indent = "\n" + " " * start[1]
        yield start, end, indent.join(f"from {parent} import {', '.join(names)}" for parent, names in groups.items())


def _texts(source: str, name: str) -> Iterator[Edit]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in {tokenize.STRING, tokenize.COMMENT} and not token.line.startswith("SALT ="):
            new = in_text(token.string, paths=not ADDRESSES.search(f"/{name}"))
            if new != token.string:
                changed(name, token.string, new)
                yield token.start, token.end, new


def changed(name: str, old: str, new: str) -> None:
    if "--verbose" in sys.argv:
        for before, after in zip(old.splitlines(), new.splitlines(), strict=False):
            if before != after:
                sys.stdout.write(f"{name}\t{before.strip()}\t{after.strip()}\n")


def rewrite(name: str) -> None:
    path = ROOT / name
    if KEPT.search(name) or path.is_symlink() or not path.is_file():
        return
    if path.suffix == ".py":
        source = path.read_text(encoding="utf-8")
        new = in_python(source, name)
    elif path.suffix in TEXTS:
        try:
            source = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return
        new = in_text(source)
        if new != source:
            changed(name, source, new)
    else:
        return
    if new != source:
        path.write_text(new, encoding="utf-8")


def main() -> int:
    before = git("ls-files")
    old_files(), old_folders()
    for name in before:
        rewrite(name)
    for name in before:
        target = moved(name)
        if target != name and not name.startswith((CORE, SITE)) and (ROOT / name).is_file():
            (ROOT / target).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", name, target], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
