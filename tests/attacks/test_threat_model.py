"""docs/explanation/threat-model.md lags behind no attack, and no class of holes is without one."""

from tests.attacks import table


def test_the_page_has_every_guard_with_its_attacks():
    page = table.PAGE.read_text(encoding="utf-8")
    assert page == table.written(page), "run: .venv/bin/python -m tests.attacks.table"


def test_every_class_has_an_attack_with_a_guard_and_every_file_a_class():
    attacked = {name for name, _place, _keeps, _attack in table.rows()}
    assert attacked == set(table.CLASSES.values())
    files = {path.stem for path in (table.ROOT / "tests" / "attacks").glob("test_*.py")}
    assert files - {"test_threat_model"} == set(table.CLASSES)
