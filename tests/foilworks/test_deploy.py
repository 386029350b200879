"""The files of deploy/: Compose passes its schema, units pass systemd's own check, and all name what there is."""

import configparser
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
import yaml
from django.conf import settings

from foilworks.site import service_urls
from foilworks.site.server import web_server
from foilworks.site.supervisor.embedded_redis import redis_executable
from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
UNITS = sorted((DEPLOY / "systemd").iterdir())
PROGRAMS = Path(sys.executable).parent


def test_the_compose_file_passes_its_schema():
    command = [PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_rejects_a_wrong_file(tmp_path):
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((DEPLOY / "compose.yaml").read_text().replace("restart: unless-stopped", "restrat: yes", 1))
    command = [PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", wrong]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "restrat" in done.stdout


def test_compose_names_only_existing_services_volumes_stages_and_variables():
    services = COMPOSE["services"]
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", CONTAINERFILE, re.MULTILINE))
    asked = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text()))
    example = (DEPLOY / "environment.example").read_text()
    assert asked == set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert service.get("build", {"target": "web"})["target"] in stages
        for volume in service.get("volumes", []):
            name = volume.split(":")[0]
            assert name in COMPOSE["volumes"] or (DEPLOY / name).exists()
    # Two processes of pages, two workers of short jobs, one that scores: what tests/foilworks/test_topology.py runs.
    assert (web_server.workers, '"python:foilworks.site.server.web_server"' in CONTAINERFILE) == (2, True)
    assert services["worker"]["command"] == ["foilworks", "worker", "--cpu", "--slots", "2", "--queue", "default"]
    assert services["scoring"]["command"] == ["foilworks", "worker", "--cpu", "--queue", "gpu"]


# All that base64 and people use, and what shells, addresses and redis.conf read as more than a character.
PASSWORD = 'aB3/+=@:?#%41%zz &$"\\`ü;'


def test_passwords_of_compose_may_have_any_characters():
    """They are in no address: there, `/` ends the host, and `%41` is `A`."""
    variables = COMPOSE["x-environment"]
    assert "PASSWORD" not in variables["DATABASE_URL"] + variables["REDIS_URL"]
    database = service_urls.database(variables["DATABASE_URL"], Path("/home"), PASSWORD)
    assert (database["USER"], database["PASSWORD"], database["HOST"]) == ("foilworks", PASSWORD, "database")
    address = service_urls.queue(variables["REDIS_URL"], PASSWORD)
    arguments = redis.Redis.from_url(address).connection_pool.connection_kwargs
    assert (arguments["password"], arguments["host"], arguments["port"]) == (PASSWORD, "queue", 6379)
    assert service_urls.queue("redis://u:own@queue", PASSWORD) == "redis://u:own@queue"
    assert service_urls.queue("", PASSWORD) == ""


def test_the_queue_of_compose_takes_the_password_that_the_processes_send(tmp_path):
    program, port = redis_executable(), free_port()
    assert program is not None
    command = COMPOSE["services"]["queue"]["command"][-1].replace("$$", "$").replace("dir /data", f"dir {tmp_path}")
    command = command.replace("redis-server -", f"{program} - --port {port}")
    given = {"PATH": os.environ["PATH"], "REDISCLI_AUTH": PASSWORD}
    server = subprocess.Popen(["sh", "-c", command], env=given, stdout=subprocess.DEVNULL, process_group=0)
    try:
        client = redis.Redis.from_url(service_urls.queue(f"redis://127.0.0.1:{port}", PASSWORD))
        wait_until(lambda: _answers(client), processes=[server])
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).ping()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.AuthenticationError:
        raise
    except redis.ConnectionError:
        return False


def test_backups_are_scheduled_and_updates_back_up_first():
    """By commands of ours: what removes old ones by itself would do so although no new one was made."""
    nightly = "foilworks backup --no-media --keep-days 30"
    assert COMPOSE["services"]["backup"]["command"][-1] == f"while true; do {nightly}; sleep 86400; done"
    unit = (DEPLOY / "systemd" / "foilworks-backup.service").read_text()
    assert re.findall(r"^Exec\w+=(.*)$", unit, re.MULTILINE) == [f"/opt/foilworks/.venv/bin/{nightly}"]
    assert COMPOSE["services"]["migrate"]["command"] == ["foilworks", "migrate"]
    waits = {name for name, service in COMPOSE["services"].items() if "migrate" in service.get("depends_on", {})}
    assert waits == {"web", "worker", "scoring", "gpu", "backup"}


def test_no_secret_has_a_default():
    secret = re.compile(r"PASSWORD|SECRET|KEY")
    for line in (DEPLOY / "environment.example").read_text().splitlines():
        name, _, value = line.partition("=")
        assert not (secret.search(name) and value.strip("'")) or name == "STORE_KEY", line


def test_every_container_of_ours_gets_the_file_and_keeps_models_in_the_home():
    ours = {name: each for name, each in COMPOSE["services"].items() if each["image"].startswith("foilworks-")}
    assert {name for name, each in ours.items() if each["env_file"] != ["environment"]} == set()
    assert all("home:/var/lib/foilworks" in each["volumes"] for each in ours.values())
    assert "HF_HOME=/var/lib/foilworks/cache/huggingface" in CONTAINERFILE
    without_a_way_out = {name for name, each in ours.items() if each.get("environment", {}).get("HF_HUB_OFFLINE")}
    assert without_a_way_out == {"scoring", "gpu"}


def test_pages_are_built_without_torch():
    stage = re.search(r"AS web-packages\n(.*?)\n\n", CONTAINERFILE, re.DOTALL)[1]
    assert stage == 'RUN pip install --constraint constraints.txt "$(ls /wheel/*.whl)[web]"'
    copied = re.findall(r"^COPY (\S+)/ \1/$", CONTAINERFILE, re.MULTILINE)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    linked = {path.resolve().name for path in (ROOT / "foilworks" / "site").iterdir() if path.is_symlink()}
    # The example of a plug-in is inside the documentation.
    assert linked == {"docs", "static", "templates", "plugin"}
    assert set(copied) == packages | (linked - {"plugin"})


def test_services_have_only_the_rights_they_need():
    for name, service in COMPOSE["services"].items():
        image = service["image"]
        assert image.startswith("foilworks-") or re.search(r":v?\d+\.\d+(\.\d+)?$", image), image
        if name == "bucket":
            continue
        confined = (service["read_only"], service["cap_drop"], service["security_opt"])
        assert confined == (True, ["ALL"], ["no-new-privileges:true"]), name
        assert "mem_limit" in service or name == "gpu", name
    internal = {name for name, network in COMPOSE["networks"].items() if network}
    reaches_out = {name for name, each in COMPOSE["services"].items() if set(each["networks"]) - internal}
    assert reaches_out == {"front", "web", "worker", "models"}


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda path: path.name)
def test_units_have_only_the_rights_they_need(unit):
    lines = set(unit.read_text().splitlines())
    assert lines >= {
        "UMask=0077",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateTmp=yes",
        "SystemCallFilter=@system-service",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        "Environment=FOILWORKS_ENVIRONMENT=/etc/foilworks/environment",
    }
    assert any(line.startswith("MemoryMax=") for line in lines) or "gpu" in unit.name


def test_no_command_puts_secrets_on_a_command_line():
    """Everybody on the machine reads the list of processes, and `sudo` logs its commands."""
    commands = [str(service.get("command", "")) for service in COMPOSE["services"].values()]
    assert not [command for command in commands if re.search(r"(PASSWORD|SECRET|_KEY)\}", command)]
    documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *UNITS]
    on_a_line = re.compile(r"(\$\(|`)\s*(cat|<)[^)`]*environment|(env|sudo)\s.*(PASSWORD|SECRET\w*|_KEY)=\S")
    assert [(path.name, found[0]) for path in documents if (found := on_a_line.search(path.read_text()))] == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_pass_systemds_check(unit, tmp_path):
    text = unit.read_text(encoding="utf-8")
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str
    parsed.read_string(text)
    assert "Unit" in parsed
    assert unit.suffix == ".timer" or parsed["Service"]["User"] == "foilworks"
    if not (program := shutil.which("systemd-analyze")):
        return
    for other in UNITS:
        # The programs are those of this environment; /opt/foilworks is where an installation has them.
        there = other.read_text().replace("/opt/foilworks/.venv/bin", str(PROGRAMS))
        (tmp_path / other.name).write_text(there.replace("/opt/foilworks", str(ROOT)))
    named = tmp_path / unit.name.replace("@.", "@0.")
    if named.name != unit.name:
        shutil.copy(tmp_path / unit.name, named)
    done = subprocess.run([program, "verify", named], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_proxy_allows_requests_as_large_as_an_import():
    """Caddy's GB are powers of ten, its GiB and the settings' MB powers of two."""
    (said,) = re.findall(r"max_size (\d+)GiB", (DEPLOY / "Caddyfile").read_text())
    assert int(said) * 1024**3 >= settings.UPLOAD_MAX_BYTES


def test_units_run_existing_commands():
    for unit in UNITS:
        for line in re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE):
            program, command = line.split()[0].rpartition("/")[2], line.split()[1]
            assert (PROGRAMS / program).exists(), line
            assert program == "gunicorn" or (ROOT / f"foilworks/site/management/commands/{command}.py").exists(), line
