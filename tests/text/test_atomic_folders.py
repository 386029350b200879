"""Folders that appear complete or not at all, with SIGKILL between their steps."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from foilworks.core.text import atomic_folders
from foilworks.core.text.atomic_folders import PARTIAL, remove_abandoned, remove_folder, work_folder
from tests.kill_points import killed_at


def write(out: Path, text: str = "new") -> None:
    with work_folder(out) as work:
        (work / "a").write_text(text)
        (work / "b").write_text(text)
        work.rename(out)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("call", [1, 2])
def test_a_killed_writer_leaves_nothing_and_the_next_one_cleans_up(tmp_path, call):
    out = tmp_path / "copy"
    killed_at(Path, "write_text", lambda: write(out), call=call)
    (left,) = names(tmp_path)
    assert left.startswith(".copy.")
    assert left.endswith(PARTIAL)
    write(tmp_path / "another")
    assert names(tmp_path) == ["another"]


def test_the_folder_of_a_running_writer_stays(tmp_path):
    with work_folder(tmp_path / "first") as work:
        (work / "a").touch()
        child = os.fork()
        if child == 0:
            try:
                remove_abandoned(tmp_path)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        write(tmp_path / "second")
        assert (work / "a").exists()
        work.rename(tmp_path / "first")
    assert names(tmp_path) == ["first", "second"]


def test_unrelated_folders_stay(tmp_path):
    for name in (".cache", f".x{PARTIAL}-not", "plain"):
        (tmp_path / name).mkdir()
    (tmp_path / f".file{PARTIAL}").touch()
    write(tmp_path / "out")
    assert {".cache", f".x{PARTIAL}-not", "plain", f".file{PARTIAL}"} < set(names(tmp_path))


def test_a_killed_removal_leaves_no_partial_folder(tmp_path):
    write(tmp_path / "old")
    killed_at(atomic_folders.shutil, "rmtree", lambda: remove_folder(tmp_path / "old"))
    (left,) = names(tmp_path)
    assert left.endswith(PARTIAL)
    remove_abandoned(tmp_path)
    assert names(tmp_path) == []


def test_a_new_folder_removed_as_remains_is_created_again(tmp_path, monkeypatch):
    """Another process removes it between its creation and its lock."""
    real, removed = atomic_folders._lock, []

    def lock(folder, wait=True):
        if wait and not removed:
            removed.append(folder)
            shutil.rmtree(folder)
        return real(folder, wait)

    monkeypatch.setattr(atomic_folders, "_lock", lock)
    write(tmp_path / "out")
    assert removed
    assert names(tmp_path) == ["out"]


def test_concurrent_writers_do_not_remove_each_others_work(tmp_path):
    threads = [threading.Thread(target=write, args=(tmp_path / f"n{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(tmp_path) == [f"n{number}" for number in range(8)]
    assert all(names(tmp_path / f"n{number}") == ["a", "b"] for number in range(8))
