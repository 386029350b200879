"""Write a new plug-in from the example of its group (docs/examples/plugin)."""

import ast
import re
from pathlib import Path

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.plugins import SLUG
from foilworks.core.text.quoting import quoted
from foilworks.version import __version__

# A link to docs/examples/plugin; in a wheel, its files.
EXAMPLE = Path(__file__).parent / "plugin_example"
PACKAGE, DISTRIBUTION = "foilworks_example", "foilworks-example"
# Group -> the module of its example, which is also the name of its row, and the slug of the row.
GROUPS = {
    "methods": ("method", "mirror"),
    "filters": ("filter", "short"),
    "captioners": ("captioner", "activity"),
    "importers": ("importer", "pairs"),
    "exporters": ("exporter", "tsv"),
    "models": ("model", "length"),
    "metrics": ("metric", "margin"),
    "reports": ("report", "lengths"),
    "judges": ("judge", "light"),
}
LABEL = re.compile(r'label="[^"]*"')


class SkeletonError(ActionableError):
    """A plug-in that cannot be written."""


def write_skeleton(group: str, name: str, out: Path) -> list[str]:
    """Write the package of a plug-in into the new folder `out`, and return the names of its files.

    SkeletonError: the name is not a slug, or the folder is not empty or cannot be written.
    """
    if not SLUG.fullmatch(name):
        raise SkeletonError(
            f"the name {quoted(name)} is not a slug; use at most 40 lowercase letters, digits, - and _, and begin with "
            "a letter"
        )
    module, slug = GROUPS[group]
    package = f"foilworks_{name.replace('-', '_')}"
    files = {
        "pyproject.toml": _settings(group, name),
        f"{package}/__init__.py": f'"""The plug-in {name} of Foilworks."""\n',
        f"{package}/rows.py": _row(module.upper(), name),
        f"{package}/{module}.py": _read(f"{PACKAGE}/{module}.py"),
        f"tests/test_{module}.py": _read(f"tests/test_{module}.py"),
    }
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SkeletonError(f"{out} exists and is not empty; choose another --out")
    try:
        for path, text in files.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(_renamed(text, package, slug, name), encoding="utf-8")
    except OSError as error:
        raise SkeletonError(f"{out}: cannot be written ({error.strerror}); choose another --out") from error
    return list(files)


def _read(path: str) -> str:
    return (EXAMPLE / path).read_text(encoding="utf-8")


def _renamed(text: str, package: str, slug: str, name: str) -> str:
    """Return the text with the names of the new package; the slug is also part of code, such as `method="mirror"`."""
    text = text.replace(PACKAGE, package).replace(DISTRIBUTION, f"foilworks-{name}")
    return text.replace(f'"{slug}"', f'"{name}"').replace(f"`{slug}:", f"`{name}:")


def _settings(group: str, name: str) -> str:
    """Return the example's settings with the entry point of one group."""
    head, *sections = _read("pyproject.toml").split("\n[project.entry-points.")
    (own,) = (section for section in sections if section.startswith(f'"foilworks.{group}"'))
    header, line = own.splitlines()[:2]
    target = line.partition(" = ")[2]
    head = head.replace("One plug-in per group for Foilworks", f"The plug-in {name} of Foilworks")
    major, minor = map(int, __version__.split(".")[:2])
    head = re.sub(r'"foilworks>=[^"]*"', f'"foilworks>={major}.{minor},<{major}.{minor + 1}"', head)
    head = re.sub(r'version = "[^"]*"', 'version = "0.1"', head)
    return f"{head}\n[project.entry-points.{header}\n{name} = {target}\n"


def _row(row: str, name: str) -> str:
    """Return the module of rows with one row."""
    source = _read(f"{PACKAGE}/rows.py")
    assignments = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    (own,) = (node for node in assignments if isinstance(node.targets[0], ast.Name) and node.targets[0].id == row)
    code = LABEL.sub(f'label="{name}"', ast.get_source_segment(source, own) or "", count=1)
    docstring = (
        '"""The row of this package. Every process of Foilworks imports this module, so it imports no library."""'
    )
    names = "Entry, Param" if "Param(" in code else "Entry"
    return f"{docstring}\n\nfrom foilworks.plugins import {names}\n\n{code}\n"
