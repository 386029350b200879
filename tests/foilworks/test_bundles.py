"""Bundles: the modules in the order of their imports, the same bytes from the same sources, other forms refused."""

import gzip
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from foilworks.bundles import BUNDLES, BundleError, bundled, compressed, hashed_name
from foilworks.static_bundles import built, bundle_path

STATIC = Path(__file__).resolve().parent.parent.parent / "foilworks" / "static"


def reader(**files: str):
    named = {f"{name}.js": text for name, text in files.items()}
    return lambda path: named[path.removeprefix("a/")]


def scripts(monkeypatch, entry: str, **files: str) -> str:
    monkeypatch.setitem(BUNDLES, "test.js", (f"a/{entry}.js",))
    return bundled("test.js", reader(**files)).decode()


def test_what_is_imported_stands_first_and_once(monkeypatch):
    text = scripts(
        monkeypatch,
        "top",
        top='import { one } from "./left.js";\nimport { two as deux } from "./right.js";\none(deux);\n',
        left='import { two } from "./right.js";\nexport function one() { return two; }\n',
        right="export const two = 2;\n",
    )
    assert [line for line in text.splitlines() if line.startswith("const m")] == [
        "const m0 = (() => {",
        "const m1 = (() => {",
        "const m2 = (() => {",
    ]
    assert "const { two: deux } = m0;" in text
    assert "return { one };" in text
    assert "import" not in text
    assert "export" not in text


@pytest.mark.parametrize(
    "module",
    [
        "export let x = 1;",
        "export default 1;",
        'import x from "./y.js";',
        "export { x };",
        'const y = import("./y.js");',
    ],
)
def test_other_forms_are_refused_with_their_line(monkeypatch, module):
    with pytest.raises(BundleError, match=r"a/top\.js:2: write"):
        scripts(monkeypatch, "top", top=f"const x = 1;\n{module}\n", y="")


def test_a_circle_is_refused(monkeypatch):
    with pytest.raises(BundleError, match="imports itself"):
        scripts(monkeypatch, "top", top='import { a } from "./y.js";', y='import { b } from "./top.js";')


@pytest.mark.parametrize("name", BUNDLES)
def test_ours_are_built_the_same_twice_and_are_found_by_their_hash(name):
    def read(path: str) -> str:
        return (STATIC / path).read_text(encoding="utf-8")

    content = bundled(name, read)
    assert content == bundled(name, read)
    assert hashed_name(name, content) != hashed_name(name, content + b" ")
    assert re.fullmatch(rf"bundles/{name.split('.')[0]}\.[0-9a-f]{{12}}\.(js|css)", bundle_path(name))
    found = Path(finders.find(bundle_path(name)))
    assert found == built()[name]
    assert gzip.decompress(found.with_name(f"{found.name}.gz").read_bytes()) == found.read_bytes()
    assert compressed(content) == compressed(content)
    assert not finders.find("bundles/other.js")
