"""Measure the house: its rooms, the imports between them, and how large each one is.

    .venv/bin/python scripts/house.py              a summary in Markdown
    .venv/bin/python scripts/house.py --list       with every private import and every import inside a knot
    .venv/bin/python scripts/house.py --json       everything as JSON
    .venv/bin/python scripts/house.py --check      list what breaks a limit; exit 1 if there is anything
    .venv/bin/python scripts/house.py --root DIR   another checkout

Package: a folder at the root (`evaluation`), or one inside a floor of `foilworks` (`foilworks/core/corpus`).

Room: the first folder inside a package (`evaluation/scoring`), or one module at the package's door
(`evaluation.access`, from `evaluation/access.py`). A package of the upper floor is one room (`foilworks/site/api`).
The package's own `__init__` is not a room.

Arrow: an import from one room to another. All imports count, those inside functions and of types too. In
`from a.b import c`, c may be a module.

Knot: two or more rooms that reach each other by arrows (a strongly connected component).

Private import: an import of a module whose name starts with `_` from outside the folder that holds it.

Size: statements (nodes of `ast.stmt`, docstrings excluded). The product is every package of pyproject.toml, `scripts`
and `benchmarks`. Tests and migrations are counted apart and have no rooms.

Vague name: an assignment or a parameter called by one of VAGUE_NAMES, in the installed packages, as a share of all.
"""

import argparse
import ast
import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Folders of programs: not installed, but part of the product.
PROGRAMS = ("benchmarks", "scripts")
# Floor of `foilworks` -> how many parts the name of a room there has.
FLOORS = {"foilworks.core": 4, "foilworks.site": 3}
MAX_ROOMS_SHOWN = 20
# Of the whole product: a larger room is split. Of all names: a larger share of vague ones is renamed.
MAX_ROOM_SHARE, MAX_VAGUE_SHARE = 0.15, 0.02
# Participles and pronouns that do not say what a value is.
VAGUE_NAMES = frozenset(
    """
    found given told said asked wanted named known kept made held chosen shown one each other others rest left both
    mine ours theirs there here whole parts part place places things thing way about beside again wish wishes
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Import:
    """One module imported by another: where, and what."""

    place: str
    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.place}: {self.importer} imports {self.imported}"


@dataclass(frozen=True)
class Modules:
    """Every module of a checkout by its dotted name, and every folder that holds one."""

    paths: Mapping[str, Path]
    folders: Set[str]

    @classmethod
    def under(cls, root: Path, packages: Sequence[str]) -> "Modules":
        files = [path for name in packages for path in sorted((root / name).rglob("*.py"))]
        paths = {_dotted(path.relative_to(root)): path for path in files}
        return cls(paths, {name for module, path in paths.items() for name in _above(module, path)})

    def __contains__(self, name: str) -> bool:
        return name in self.paths or name in self.folders

    def room_of(self, module: str) -> str:
        """Return the room of a module; "" for a package itself."""
        parts = module.split(".")
        depth = FLOORS.get(".".join(parts[:2]), 2)
        if len(parts) < min(depth, 3) or (len(parts) < depth and module in self.folders):
            return ""
        name = ".".join(parts[:depth])
        return name.replace(".", "/") if name in self.folders else name

    def package_of(self, module: str) -> str:
        """Return the package of a module, as a path: `evaluation`, `foilworks/core/corpus`."""
        parts = module.split(".")
        inside = ".".join(parts[:3])
        is_inside = ".".join(parts[:2]) in FLOORS and inside in self.folders
        return "/".join(parts[: 3 if is_inside else 2 if ".".join(parts[:2]) in FLOORS else 1])


@dataclass(frozen=True)
class House:
    """What was measured of one checkout."""

    # Statements by package and by room.
    by_package: Mapping[str, int]
    by_room: Mapping[str, int]
    tests: int
    migrations: int
    # (room, room) -> the imports behind the arrow.
    arrows: Mapping[tuple[str, str], Sequence[Import]]
    private: Sequence[Import]
    names: int = 0
    vague_names: int = 0

    @property
    def vague_share(self) -> float:
        return self.vague_names / self.names if self.names else 0.0

    @property
    def statements(self) -> int:
        return sum(self.by_package.values())

    @property
    def knots(self) -> list[list[str]]:
        return knots(self.arrows.keys())

    def share(self, statements: int) -> float:
        return statements / self.statements if self.statements else 0.0

    def inside(self, knot: Sequence[str]) -> list[Import]:
        """Return the imports that tie the rooms of a knot together."""
        ties = [each for (start, end), found in self.arrows.items() if start in knot and end in knot for each in found]
        return sorted(ties, key=lambda each: each.place)


def packages_of(root: Path) -> tuple[str, ...]:
    """Return the top-level packages that pyproject.toml installs, and the folders of programs."""
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    installed = [pattern.rstrip("*") for pattern in tool["setuptools"]["packages"]["find"]["include"]]
    return tuple(sorted({*installed, *PROGRAMS}))


def statements(tree: ast.Module) -> int:
    """Count the statements of a module without its docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    count = 0
    for node in ast.walk(tree):
        count += isinstance(node, ast.stmt)
        count -= isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None
    return count


def bound_names(tree: ast.Module) -> list[str]:
    """Return the name of every assignment and parameter, as often as it is bound."""
    nodes = list(ast.walk(tree))
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    functions = [node.args for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [*stored, *(parameter.arg for args in functions for parameter in (*args.args, *args.kwonlyargs))]


def measure(root: Path) -> House:
    packages = packages_of(root)
    by_package, by_room = Counter[str](), Counter[str]()
    migrations, names, vague_names = 0, 0, 0
    modules = Modules.under(root, packages)
    arrows: dict[tuple[str, str], list[Import]] = defaultdict(list)
    private = []
    for module, path in modules.paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        if "migrations" in path.relative_to(root).parts:
            migrations += statements(tree)
            continue
        package, room = modules.package_of(module), modules.room_of(module)
        by_package[package] += statements(tree)
        if room:
            by_room[room] += statements(tree)
        if package not in PROGRAMS:
            bound = bound_names(tree)
            names, vague_names = names + len(bound), vague_names + sum(name in VAGUE_NAMES for name in bound)
        for line, imported in imports(tree, module, modules):
            found = Import(f"{path.relative_to(root).as_posix()}:{line}", module, imported)
            if is_private(module, imported):
                private.append(found)
            entered = modules.room_of(imported)
            if room and entered and entered != room:
                arrows[room, entered].append(found)
    tests = sum(statements(ast.parse(path.read_text(encoding="utf-8"))) for path in (root / "tests").rglob("*.py"))
    return House(by_package, by_room, tests, migrations, arrows, private, names, vague_names)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _above(module: str, path: Path) -> Iterator[str]:
    """Yield the dotted names of the folders that hold a module."""
    parts = module.split(".")
    for end in range(1, len(parts) + (path.stem == "__init__")):
        yield ".".join(parts[:end])


def imports(tree: ast.Module, module: str, modules: Modules) -> Iterator[tuple[int, str]]:
    """Yield (line, module) for every import of a module of the house."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _known(node.lineno, alias.name, module, modules)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, module, modules)
            inner = [f"{base}.{alias.name}" for alias in node.names]
            for name in dict.fromkeys(name if name in modules else base for name in inner):
                yield from _known(node.lineno, name, module, modules)


def _base(node: ast.ImportFrom, module: str, modules: Modules) -> str:
    """Return the absolute name of the module named after `from`."""
    if not node.level:
        return _sibling(node.module or "", module, modules)
    up = node.level - (modules.paths[module].stem == "__init__")
    parts = module.split(".")
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def _sibling(name: str, module: str, modules: Modules) -> str:
    """Return the full name of a program's neighbour: Python puts the folder of a program first on its path."""
    package = module.partition(".")[0]
    return f"{package}.{name}" if package in PROGRAMS and f"{package}.{name}" in modules else name


def _known(line: int, name: str, module: str, modules: Modules) -> Iterator[tuple[int, str]]:
    name = _sibling(name, module, modules)
    if name in modules and name != module:
        yield line, name


def is_private(importer: str, imported: str) -> bool:
    """Return whether a module or folder that starts with `_` is imported from outside the folder that holds it."""
    parts = imported.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            holder = ".".join(parts[:place])
            if importer != holder and not importer.startswith(f"{holder}."):
                return True
    return False


def knots(arrows: Set[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of rooms that reach each other, the largest first."""
    after: dict[str, set[str]] = defaultdict(set)
    for start, end in arrows:
        after[start].add(end)
    reached = {room: _reached(room, after) for room in list(after)}
    groups = {
        frozenset(other for other in ends if room in reached.get(other, set()))
        for room, ends in reached.items()
        if room in ends
    }
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def _reached(start: str, after: Mapping[str, Set[str]]) -> set[str]:
    """Return every room that one or more arrows lead to from here."""
    seen: set[str] = set()
    left = [start]
    while left:
        new = after.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def in_words(house: House, *, everything: bool) -> Iterator[str]:
    """Yield the lines of the report in Markdown."""
    tied = house.knots
    yield from ("| measure | value |", "|---|--:|")
    yield f"| statements of the product | {house.statements:,} |"
    yield f"| statements of migrations | {house.migrations:,} |"
    yield f"| statements of tests | {house.tests:,} |"
    yield f"| rooms | {len(house.by_room)} |"
    yield f"| arrows between rooms | {len(house.arrows)} |"
    yield f"| knots | {len(tied)} |"
    yield f"| rooms in the largest knot | {max(map(len, tied), default=1)} |"
    yield f"| private imports | {len(house.private)} |"
    yield f"| vague names | {house.vague_names:,} of {house.names:,}, {house.vague_share:.1%} |"
    for title, sizes in (("package", house.by_package), ("room", house.by_room)):
        shown = sorted(sizes.items(), key=lambda size: (-size[1], size[0]))
        shown = shown if everything or title == "package" else shown[:MAX_ROOMS_SHOWN]
        yield from ("", f"| {title} | statements | share |", "|---|--:|--:|")
        yield from (f"| `{name}` | {count:,} | {house.share(count):.1%} |" for name, count in shown)
    for knot in tied:
        yield from ("", f"Knot of {len(knot)} rooms: " + ", ".join(f"`{room}`" for room in knot))
        yield from [f"- {each}" for each in house.inside(knot)] if everything else []
    if everything:
        yield from ("", "Private imports:")
        yield from (f"- {each}" for each in house.private)


def as_json(house: House) -> dict[str, Any]:
    return {
        "statements": house.statements,
        "migrations": house.migrations,
        "tests": house.tests,
        "packages": dict(sorted(house.by_package.items())),
        "rooms": dict(sorted(house.by_room.items())),
        "arrows": {f"{start} -> {end}": len(found) for (start, end), found in sorted(house.arrows.items())},
        "knots": [{"rooms": knot, "imports": [str(each) for each in house.inside(knot)]} for knot in house.knots],
        "private": [str(each) for each in house.private],
        "names": house.names,
        "vague_names": house.vague_names,
    }


def limits_broken(house: House) -> Iterator[str]:
    """Yield each import in a knot, each private import, each room that is too large, and too many vague names."""
    yield from (f"{each}, which ties rooms into a knot" for knot in house.knots for each in house.inside(knot))
    yield from (f"{each}, a private module of another folder" for each in house.private)
    large = {room: count for room, count in house.by_room.items() if house.share(count) > MAX_ROOM_SHARE}
    yield from (f"{room}: {count} statements; split it ({MAX_ROOM_SHARE:.0%} at most)" for room, count in large.items())
    if house.vague_share > MAX_VAGUE_SHARE:
        yield f"{house.vague_names} of {house.names} names are vague; rename some ({MAX_VAGUE_SHARE:.0%} at most)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--list", action="store_true", help="print every private import, and every import in a knot")
    parser.add_argument("--check", action="store_true", help="print what breaks a limit only; exit 1 if there is any")
    options = parser.parse_args()
    house = measure(options.root.resolve())
    if options.check:
        lines = list(limits_broken(house))
        print("\n".join(lines) or "the house keeps its limits")
        return 1 if lines else 0
    if options.json:
        print(json.dumps(as_json(house), indent=1))
    else:
        print("\n".join(in_words(house, everything=options.list)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
