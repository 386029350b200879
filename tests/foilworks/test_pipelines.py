"""The GitHub Action and the pre-commit hook fail on a benchmark that its texts answer."""

import json
import os
import subprocess
import sys
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


def test_the_action_has_the_form_of_its_schema():
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


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
