"""The files of the Space and the conda recipe: each is held to what reads it, and the Space is run."""

import json
import subprocess
import sys
import tomllib
from html import unescape
from pathlib import Path

import httpx
import pytest
import yaml

from foilworks import __version__
from tests.packages import installed_in
from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
SPACE, RECIPE = ROOT / "deploy" / "space", ROOT / "deploy" / "conda" / "recipe.yaml"
RATTLER = "py-rattler-build==0.73.0"
RENDER = """
import sys
from pathlib import Path
from rattler_build import Stage0Recipe, VariantConfig
recipe = Stage0Recipe.from_yaml(Path(sys.argv[1]).read_text())
print([variant.__repr__() for variant in recipe.render(VariantConfig())])
"""


def card() -> dict:
    """What the README says to the host of Spaces."""
    _before, head, _text = (SPACE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head)


def test_the_recipe_has_the_facts_of_the_package():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    python, *needed = recipe["requirements"]["run"]
    assert [line.replace(" ", "") for line in needed] == project["dependencies"]
    assert python == "python >=${{ python_min }}"
    context = recipe["context"]
    assert (context["version"], context["python_min"]) == (__version__, project["requires-python"].removeprefix(">="))
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"foilworks = {project['scripts']['foilworks']}"
    assert recipe["about"]["license"] == project["license"]


@pytest.mark.full
def test_rattler_build_reads_the_recipe(tmp_path):
    own = installed_in(tmp_path / "packages", RATTLER)
    done = subprocess.run([sys.executable, "-c", RENDER, RECIPE], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"package='foilworks', version='{__version__}'" in done.stdout


@pytest.mark.full
@pytest.mark.slow(seconds=120)
def test_the_space_audits_a_file_and_says_what_is_wrong_with_another(tmp_path):
    about = card()
    assert (SPACE / about["app_file"]).is_file()
    own = installed_in(tmp_path / "packages", f"{about['sdk']}=={about['sdk_version']}")
    port = free_port()
    own |= {"GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": str(tmp_path / "uploads"), "HF_HUB_OFFLINE": "1"}
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, SPACE / "app.py"], cwd=tmp_path, env=own, stdout=out, stderr=out)
    try:
        wait_until(lambda: "Running on local URL" in log.read_text(), processes=[process], log=log.read_text)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
            assert "Can your video benchmark be answered" in client.get("/").text
            rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(12)]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            page, files = audited(client, "set.jsonl", lines)
            assert page.startswith("<iframe sandbox")
            assert "of the pairs are answered without the video" in unescape(page)
            names = [Path(file["path"]).name for file in files]
            assert names == ["audit.html", "audit.json"]
            document = client.get(f"/gradio_api/file={files[1]['path']}").json()
            assert (document["verdict"], document["items"]) == ("fail", 12)
            problem = audited(client, "set.csv", "no header of ours\n1\n")
            assert "set.csv" in problem
            assert str(tmp_path) not in problem
    finally:
        process.terminate()
        process.wait(60)


def audited(client: httpx.Client, name: str, text: str):
    """The outputs of the button for a file, or the error that the visitor reads."""
    (path,) = client.post("/gradio_api/upload", files={"files": (name, text)}).json()
    data = {"data": [{"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}]}
    event = client.post("/gradio_api/call/audit", json=data).json()["event_id"]
    answer = client.get(f"/gradio_api/call/audit/{event}").text
    kind, _line, content = answer.strip().rpartition("\n\n")[2].partition("\ndata: ")
    value = json.loads(content)
    return value if kind == "event: complete" else str(value)
