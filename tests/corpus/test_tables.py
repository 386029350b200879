import inspect
from pathlib import Path

import pytest

from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.text.registry import load

ROOT = Path(__file__).parents[2] / "foilworks" / "core" / "corpus"


@pytest.mark.parametrize(("table", "folder"), [(IMPORTERS, "import_formats"), (EXPORTERS, "export_formats")])
def test_every_format_has_a_row_and_every_file_a_format(table, folder):
    files = {path.stem for path in (ROOT / folder).glob("*.py")} - {"registry"}
    assert {row.path.partition(":")[0] for row in table.values()} == {
        f"foilworks.core.corpus.{folder}.{name}" for name in files if not name.startswith("_")
    }


@pytest.mark.parametrize("row", IMPORTERS.values(), ids=IMPORTERS)
def test_every_importer_reads_a_path_into_outcomes(row):
    assert list(inspect.signature(load(row).read).parameters) == ["path", "params"]


@pytest.mark.parametrize("row", EXPORTERS.values(), ids=EXPORTERS)
def test_every_exporter_writes_a_release_into_a_folder(row):
    assert list(inspect.signature(load(row).write).parameters) == ["release", "out", "params"]
