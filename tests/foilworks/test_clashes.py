"""Scripts whose folder has files named like packages of Foilworks, and plug-ins written for 0.3."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foilworks.core.text.registry import Entry, RegistryError, load

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from foilworks.plugins import BadRecord, CaptionInput, Edit, Entry, HubError, ModelInfo, Param, draft_from_edits
caption = CaptionInput("1", "A dog runs to the left.")
print(draft_from_edits(caption, [Edit(18, 22, "right")], method="own", mode="corrected", facts={}).foil)
"""
# What a person may have beside a script -> the package of ours that it hides.
HARMLESS = ("annotation.py", "corpus.py", "evaluation.py", "hub/__init__.py", "jobs/__init__.py", "media.py",
            "projects.py", "text.py", "generation/notes.txt")  # fmt: skip
HIDING = ("generation.py", "generation/__init__.py")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """As a wheel is installed: the packages are in a folder of the path, behind the folder of the script."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def beside(folder: Path, name: str) -> Path:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("", encoding="utf-8")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", HARMLESS)
def test_a_script_imports_the_parts_of_a_plug_in_beside_its_own_files(tmp_path, name):
    done = run(beside(tmp_path, name), "script.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "A dog runs to the right.\n", "")


@pytest.mark.parametrize("name", HIDING)
def test_a_file_that_hides_a_package_of_ours_is_named(tmp_path, name):
    done = run(beside(tmp_path, name), "script.py")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / name} hides the package 'generation' of Foilworks; rename it")


@pytest.mark.parametrize(
    ("name", "hidden"), [("evaluation.py", "evaluation"), ("annotation/__init__.py", "annotation")]
)
def test_the_program_names_the_clash_in_one_line(tmp_path, name, hidden):
    done = run(beside(tmp_path, name), "-m", "foilworks", "--version")
    assert done.returncode == 1
    assert done.stderr == (
        f"foilworks: {tmp_path / name} hides the package '{hidden}' of Foilworks; rename it, or start Python in "
        "another folder\n"
    )


def test_the_program_starts_beside_files_named_like_parts_of_the_core(tmp_path):
    for name in ("text.py", "jobs/__init__.py", "media.py", "hub/__init__.py"):
        beside(tmp_path, name)
    assert run(tmp_path, "-m", "foilworks", "--version").returncode == 0


def test_a_plug_in_of_0_3_gets_a_line_with_the_new_name(tmp_path, monkeypatch):
    (tmp_path / "written_for_0_3.py").write_text("from text.registry import Entry\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RegistryError) as caught:
        load(Entry("Old", "written_for_0_3", origin="old 1.0"))
    assert "text is foilworks.core.text since 0.4; import the names of plug-ins from foilworks.plugins" in str(
        caught.value
    )
