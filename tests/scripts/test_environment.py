"""docs/reference/environment.md says what settings.py reads, no more and no less."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
_spec = importlib.util.spec_from_file_location("environment", ROOT / "scripts" / "environment.py")
environment = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(environment)

SOURCE = environment.SETTINGS.read_text(encoding="utf-8")


def test_the_page_matches_the_settings():
    advice = "run .venv/bin/python scripts/environment.py update"
    assert environment.PAGE.read_text(encoding="utf-8") == environment.page(SOURCE), advice


def test_an_undescribed_variable_is_named():
    with pytest.raises(ValueError, match="no description of \\['NEW_ONE'\\]"):
        environment.page(SOURCE + '\nx = _env("NEW_ONE", "7")\n')
    with pytest.raises(ValueError, match="no variable for"):
        environment.page('x = _env("FOILWORKS_HOME")')


def test_defaults_are_read_literally():
    assert environment.variables('a = int(_env("A", "5") or 0); b = _flag("B", True); c = _env("C")') == {
        "A": "5",
        "B": "1",
        "C": "",
    }


def test_the_deployment_files_name_only_known_settings():
    """What Compose and the units pass on is read by the settings."""
    yaml = pytest.importorskip("yaml")
    given = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))["x-environment"]
    assert set(given) <= set(environment.variables(SOURCE))
