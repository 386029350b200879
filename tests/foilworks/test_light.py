"""Without the extra `web`, the commands on files run, and the others say how to install it."""

import json
import shlex
import subprocess
import sys

import pytest

from foilworks.site.light import COMMANDS, INSTALL

# Packages of the extras web and parquet: to import one of them fails.
ABSENT = "allauth av csp django_htmx django_rq gunicorn matplotlib ninja PIL psycopg pyarrow redis rq whitenoise"
START = f"import sys; sys.modules.update(dict.fromkeys({ABSENT.split()})); from foilworks.site.cli import main; main()"


def foilworks(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-c", START, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )


def test_commands_of_a_site_say_how_to_install_it(tmp_path):
    done = foilworks("up", folder=tmp_path)
    assert done.returncode == 1
    assert INSTALL in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_home_stays_as_it_is_without_the_extra(tmp_path, monkeypatch):
    """`pip install -U foilworks` over 0.3.0 leaves the base: one line says what to install, and nothing is written."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "foilworks.sqlite3").write_bytes(b"the database of 0.3.0")
    monkeypatch.setenv("FOILWORKS_HOME", str(home))
    for command in ("up", "migrate", "check"):
        done = foilworks(command, folder=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines() == [line for line in done.stderr.splitlines() if f"run `{INSTALL}`" in line]
    assert [path.name for path in home.iterdir()] == ["foilworks.sqlite3"]
    assert (home / "foilworks.sqlite3").read_bytes() == b"the database of 0.3.0"


def test_help_names_the_commands_that_run(tmp_path):
    done = foilworks("--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_its_help(tmp_path, command):
    done = foilworks("help", command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"usage: foilworks {command}" in done.stdout


@pytest.mark.full
def test_a_file_is_audited_with_its_page(tmp_path):
    rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(12)]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = foilworks("audit", "set.jsonl", "--json", "--html", "page.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"] == len(rows)
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_foils_metrics_and_a_selection_need_no_more(tmp_path):
    rows = [{"id": f"i{n}", "caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}"} for n in range(12)]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "scores.csv").write_text("item,caption,foil\ni0,0.9,0.2\ni1,0.1,0.4\n", encoding="utf-8")
    for command, key in (
        ("foil --method number --caption 'A man claps exactly three times.'", "candidates"),
        ("metrics pairwise --file scores.csv", "overall"),
        ("prune set.jsonl", "n_kept"),
    ):
        done = foilworks(*shlex.split(command), "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert key in json.loads(done.stdout)
