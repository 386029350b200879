"""The scripts for Slurm: bash reads them, sbatch gets what the how-to says, and their commands are commands of ours."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from foilworks.core.corpus.models import Caption
from foilworks.site.service_urls import database
from foilworks.site.setting_values import variables
from scripts.doc_pages import DOCS, ROOT, command_lines, split, words
from tests.docs.test_commands import problem_of

SLURM = ROOT / "deploy" / "slurm"
PAGE = (DOCS / "how-to" / "clusters.md").read_text(encoding="utf-8")
FILE = next(block.text for block in split(PAGE)[1] if block.text.startswith("DATABASE_URL="))
SIZES = ("cpu", "encoder", "8b", "32b")


@pytest.fixture
def bin_folder(tmp_path) -> Path:
    """Programs that print what they were given, instead of Slurm's, Ray's and ours."""
    for name in ("sbatch", "srun", "ray", "foilworks", "openssl"):
        program = tmp_path / name
        home = '[ -z "${FOILWORKS_HOME:-}" ] || mkdir -p "$FOILWORKS_HOME"'
        seen = f'echo "${{FOILWORKS_HOME:-}} ${{FOILWORKS_ENVIRONMENT:-}}" >> "{tmp_path}/homes"'
        program.write_text(f'#!/bin/bash\n{home}\n{seen}\necho "{name} $*" | tee -a "{tmp_path}/calls"\n')
        program.chmod(0o755)
    # The job stops its nodes when the worker ends: a node may not have said yet what it was given.
    nodes = '[ "${SLURM_NNODES:-0}" -gt 1 ] && nodes=2 || nodes="${SLURM_NNODES:-0}"'
    wait = f'until [ "$(grep -c "^srun .*ray start" "{tmp_path}/calls")" -ge "$nodes" ]; do sleep 0.05; done'
    with (tmp_path / "foilworks").open("a") as program:
        program.write(f'touch "{tmp_path}/calls"\n{nodes}\n{wait}\n')
    return tmp_path


def run(bin_folder: Path, script: str, *arguments: str, **variables: str) -> str:
    (bin_folder / "environment").write_text(FILE)
    given = {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "HOME": str(bin_folder),
        "FOILWORKS_ENVIRONMENT": str(bin_folder / "environment"),
        "SLURM_JOB_ID": "7",
        **variables,
    }
    command = ["bash", SLURM / script, *arguments]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


@pytest.mark.parametrize("size", SIZES)
def test_the_script_asks_for_the_resources_that_the_page_names(bin_folder, size):
    row = re.search(rf"^\| `{size}` \|[^|]*\| (\d+) \| (\d+) GB \| (\d)", PAGE, re.MULTILINE)
    said = run(bin_folder, "submit.sh", size, "--count", "3", "--partition=gpu")
    gpus = f"--gpus-per-node={row[3]} " if row[3] != "0" else ""
    asked = f"--cpus-per-task={row[1]} --mem={row[2]}G {gpus}--array=1-3 --partition=gpu"
    assert said == f"sbatch {asked} {SLURM}/worker.sbatch\n"
    said = run(bin_folder, "submit.sh", size, "--ray")
    assert f"--nodes=4 {SLURM}/ray.sbatch\n" in said


def test_an_unknown_size_lists_the_sizes(bin_folder):
    assert run(bin_folder, "submit.sh", "70b").startswith("usage: submit.sh cpu|encoder|8b|32b ")


def test_a_task_of_the_array_works_on_its_gpu_until_the_queue_is_empty(bin_folder):
    with_gpu = run(bin_folder, "worker.sbatch", SLURM_GPUS_ON_NODE="1", CUDA_VISIBLE_DEVICES="3")
    without = run(bin_folder, "worker.sbatch")
    assert (with_gpu, without) == (
        "foilworks worker --gpu 3 --until-empty\n",
        "foilworks worker --cpu --queue gpu --until-empty\n",
    )
    assert [problem_of(said.removeprefix("foilworks ").strip()) for said in (with_gpu, without)] == ["", ""]
    # The worker reads the file itself; its caches are gone with the task.
    (seen,) = set((bin_folder / "homes").read_text().splitlines())
    assert seen == f"/tmp/foilworks-7 {bin_folder}/environment"
    assert not Path("/tmp/foilworks-7").exists()


def test_the_file_of_the_page_is_read_as_printed(tmp_path):
    file = tmp_path / "environment"
    file.write_text(FILE.replace("foilworks_worker:…", 'foilworks_worker:a$b&c`d"e'))
    found = variables(file)
    assert found["STORAGE_URL"] == "s3://media?endpoint=https://store.example.org&region=us-east-1"
    assert database(found["DATABASE_URL"], tmp_path, "")["PASSWORD"] == 'a$b&c`d"e'


VALUES = (
    ("export A=b c", "b c"),
    ("A = 'x#y & $z'", "x#y & $z"),
    ("A=p#a's\"s`w`\\", "p#a's\"s`w`\\"),
    ("A=ü\u2028é\x85\u3000x", "ü\u2028é\x85\u3000x"),
    ("A='b'c'", "b'c"),
    ("A=a=b==", "a=b=="),
)


@pytest.mark.parametrize(("line", "value"), VALUES)
@pytest.mark.parametrize("form", ["{}", "\ufeff# a note\r\n\r\n{}\r\nB=1\r\n"])
def test_values_are_read_as_they_are_in_files_of_any_editor(tmp_path, line, value, form):
    file = tmp_path / "environment"
    file.write_bytes(form.format(line).encode())
    assert variables(file)["A"] == value


@pytest.mark.parametrize("line", ["A='secret' # of the main site", 'A="secret"\t#', "A=sec\0ret", "A", "1A=secret"])
def test_a_line_that_programs_read_differently_is_refused_without_its_value(tmp_path, line):
    file = tmp_path / "environment"
    file.write_text(f"B=1\n{line}\n")
    with pytest.raises(ImproperlyConfigured, match="environment, line 2: ") as refusal:
        variables(file)
    assert "sec" not in str(refusal.value)


def test_a_ray_job_starts_all_nodes_and_one_engine(bin_folder):
    run(bin_folder, "ray.sbatch", SLURM_NNODES="4", SLURM_CPUS_PER_TASK="8", SLURM_GPUS_ON_NODE="1")
    calls = (bin_folder / "calls").read_text().splitlines()
    (*nodes, clean) = [call for call in calls if call.startswith("srun ")]
    assert clean == "srun --ntasks=4 --overlap rm -rf -- /tmp/foilworks-7"
    assert {call.split()[1] for call in nodes} == {"--nodes=1", "--nodes=3"}
    assert all("ray start" in call and "--num-cpus=8 --num-gpus=1" in call and "--block" in call for call in nodes)
    (engine,) = [call for call in calls if call.startswith("foilworks ")]
    assert engine == "foilworks worker --ray --slots 16 --until-empty"
    assert problem_of(engine.removeprefix("foilworks ")) == ""


def test_two_ray_jobs_of_one_node_have_their_own_ports(bin_folder):
    for job in ("7", "12345"):
        run(bin_folder, "ray.sbatch", SLURM_NNODES="1", SLURM_JOB_ID=job, SLURM_TMPDIR=str(bin_folder))
    calls = (bin_folder / "calls").read_text()
    assert re.findall(r"--head --port=(\d+)", calls) == ["20007", "22345"]


def test_a_ray_job_whose_first_node_cannot_start_ends(bin_folder):
    (bin_folder / "ray").write_text("#!/bin/bash\nexit 1\n")
    said = run(bin_folder, "ray.sbatch", SLURM_NNODES="2")
    assert said.startswith("srun ")
    assert "ray start ended on " in said
    assert "foilworks worker" not in (bin_folder / "calls").read_text()


def test_the_page_shows_the_files_that_exist():
    named = set(re.findall(r"deploy/[a-z/.-]+[a-z]", PAGE))
    assert named == {"deploy/worker-role.sql", "deploy/slurm/submit.sh", "deploy/slurm/ray.sbatch"}
    assert all((ROOT / name).is_file() for name in named)


@pytest.mark.parametrize("name", ["worker.sbatch", "ray.sbatch"])
def test_no_batch_script_names_a_secret_or_a_partition(name):
    directives = re.findall(r"^#SBATCH --([a-z-]+)", (SLURM / name).read_text(), re.MULTILINE)
    assert {"job-name", "time", "output"} <= set(directives)
    assert not {"partition", "account", "gpus", "mem"} & set(directives), "submit.sh and its reader choose them"


@pytest.mark.django_db
def test_captions_of_cosmos_curator_are_imported_as_the_page_says(tmp_path, monkeypatch):
    """One line per clip, as `--upload-clip-info-in-chunks` writes it."""
    windows = [
        {
            "start_frame": at,
            "end_frame": at + 30,
            "caption_status": "success",
            "qwen_caption": f"A man opens door {at}.",
        }
        for at in (0, 30)
    ]
    location = {"clip_location": "s3://out/clips/u1.mp4", "source_video": "s3://in/a.mp4", "duration_span": [0.0, 10.0]}
    clip = {"span_uuid": "u1", **location, "windows": windows, "filtered_windows": []}
    (tmp_path / "clips.jsonl").write_text(json.dumps(clip) + "\n")
    (command,) = [line for block in split(PAGE)[1] for line in command_lines(block) if line.startswith("import table")]
    monkeypatch.chdir(tmp_path)
    call_command(*words(command))
    found = Caption.objects.order_by("text").values_list("text", "video__start_time", "video__end_time")
    assert list(found) == [
        ("A man opens door 0.", 0, 30),
        ("A man opens door 30.", 30, 60),
    ]
