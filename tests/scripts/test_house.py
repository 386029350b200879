"""What scripts/house.py measures, on small checkouts: rooms, arrows, knots, private imports and statements."""

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts import house

PYPROJECT = '[tool.setuptools.packages.find]\ninclude = ["shop*", "stock*"]\n'
# Two packages. `shop/till` and `shop.prices` import each other; `stock` is imported by a function.
FILES = {
    "shop/__init__.py": "VERSION = 1\n",
    "shop/prices.py": "from shop.till import receipt\n",
    "shop/till/__init__.py": "",
    "shop/till/receipt.py": "def printed():\n    from stock import shelves\n    return shelves.COUNT\n",
    "shop/till/_paper.py": "from .. import prices\n",
    "shop/till/drawer/__init__.py": "",
    "shop/till/drawer/coins.py": "import shop.till._paper\nfrom .._paper import prices\n",
    "stock/__init__.py": "",
    "stock/shelves.py": '"""Shelves."""\nCOUNT = 3\n',
    "stock/migrations/__init__.py": "",
    "stock/migrations/0001_first.py": "from shop.till import _paper\nA = 1\n",
    "scripts/count.py": "from _sums import total\nfrom stock import shelves\n",
    "scripts/_sums.py": "total = sum\n",
    "tests/test_till.py": "def test_it():\n    assert True\n",
}


def checkout(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in {"pyproject.toml": PYPROJECT, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def measured(tmp_path: Path) -> house.House:
    return house.measure(checkout(tmp_path, FILES))


def test_a_room_is_a_folder_or_a_module_at_the_door(measured):
    assert measured.by_room.keys() == {"shop.prices", "shop/till", "stock.shelves", "scripts.count", "scripts._sums"}


def test_arrows_follow_every_form_of_import(measured):
    assert measured.arrows.keys() == {
        ("shop.prices", "shop/till"),
        ("shop/till", "shop.prices"),
        ("shop/till", "stock.shelves"),
        ("scripts.count", "scripts._sums"),
        ("scripts.count", "stock.shelves"),
    }


def test_a_knot_is_found_with_the_imports_that_tie_it(measured):
    assert measured.knots == [["shop.prices", "shop/till"]]
    assert [str(each) for each in measured.inside(measured.knots[0])] == [
        "shop/prices.py:1: shop.prices imports shop.till.receipt",
        "shop/till/_paper.py:1: shop.till._paper imports shop.prices",
    ]


def test_vague_names_are_counted_among_what_installed_packages_bind(tmp_path):
    text = "def price(found, *, unit):\n    total = [each for each in found]\n    return total\n"
    files = {**FILES, "shop/costs.py": text, "scripts/more.py": "found = 1\n"}
    before, after = house.measure(checkout(tmp_path / "a", FILES)), house.measure(checkout(tmp_path / "b", files))
    assert (after.names - before.names, after.vague_names - before.vague_names) == (4, 2)


def test_a_long_circle_is_one_knot_and_a_tail_is_none():
    assert house.knots({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("y", "z"), ("z", "y")}) == [
        ["a", "b", "c"],
        ["y", "z"],
    ]
    assert house.knots({("a", "b"), ("a", "c"), ("b", "c")}) == []


def test_a_private_module_belongs_to_its_folder_and_what_is_below(tmp_path):
    inside = house.measure(checkout(tmp_path, FILES))
    assert inside.private == []
    outside = {"stock/orders.py": "from shop.till._paper import prices\nfrom shop.till import _paper, receipt\n"}
    assert [str(each) for each in house.measure(checkout(tmp_path, {**FILES, **outside})).private] == [
        "stock/orders.py:1: stock.orders imports shop.till._paper",
        "stock/orders.py:2: stock.orders imports shop.till._paper",
    ]


def test_a_private_folder_is_closed_to_outsiders():
    assert house.is_private("shop.prices", "stock._cold.fish")
    assert not house.is_private("stock.shelves", "stock._cold.fish")
    assert not house.is_private("shop.prices", "stock.__main__")


def test_statements_leave_docstrings_out():
    text = (
        '"""Module."""\n\n\nclass A:\n    """Class."""\n\n    def b(self):\n        """Function."""\n        return 1\n'
    )
    assert house.statements(ast.parse(text)) == 3
    assert house.statements(ast.parse('x = 1\n"""No docstring."""\n')) == 2


def test_sizes_add_up_and_leave_tests_and_migrations_apart(measured):
    assert measured.by_package == {"shop": 8, "stock": 1, "scripts": 3}
    assert measured.by_room["shop/till"] == 6
    assert (measured.statements, measured.tests, measured.migrations) == (12, 2, 2)
    assert measured.share(measured.by_room["shop/till"]) == 0.5


def test_the_command_prints_markdown_and_json(tmp_path):
    command = [sys.executable, str(house.ROOT / "scripts" / "house.py"), "--root", str(checkout(tmp_path, FILES))]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "| knots | 1 |" in table
    assert "| `shop/till` | 6 | 50.0% |" in table
    assert "shop.till._paper imports" not in table
    assert (
        "shop.till._paper imports shop.prices"
        in subprocess.run([*command, "--list"], capture_output=True, text=True, check=True).stdout
    )
    printed = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert printed["statements"] == 12
    assert printed["knots"][0]["rooms"] == ["shop.prices", "shop/till"]


def test_a_broken_limit_is_named(measured):
    lines = list(house.limits_broken(measured))
    assert "shop/prices.py:1: shop.prices imports shop.till.receipt, which ties rooms into a knot" in lines
    assert any(line.startswith("shop/till: ") and line.endswith("split it (15% at most)") for line in lines)
