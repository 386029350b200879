"""What an operator relies on, on a running `foilworks up`: counters, a receiver that never answers, and Ctrl-C."""

import json
import re
import signal
import socket
import subprocess
import sys

import httpx
import psutil
import pytest

from tests.foilworks.test_services import JOBS, PYTHON, ROOT, Up, environment, get, run, up  # noqa: F401
from tests.hub.chat_server import Said, chat_server, likely
from tests.waiting import wait_until

pytestmark = [pytest.mark.machines, pytest.mark.slow(seconds=60)]
REPLACED, DELIVERIES = 20, 100
COUNTER = re.compile(r"^(foilworks_requests_total|foilworks_request_seconds_(?:count|sum|bucket))(\{.*\}) (\S+)$", re.M)
# A project whose webhook never answers, with messages for it; it prints a token of the owner.
WAITING = """
import sys
import django
django.setup()
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.actions.webhooks import add_webhook, ping_webhook
from foilworks.core.projects.models import Membership, Project, Role, User
project, owner = Project.objects.create(slug="mine", name="mine"), User.objects.create(username="olga")
Membership.objects.create(project=project, person=owner, role=Role.RESEARCHER)
hook = add_webhook(owner, project, sys.argv[1], ["ping"])
for _ in range(int(sys.argv[2])):
    ping_webhook(owner, project, hook.pk)
print(make_token(owner, name="test", scope="manage", days=1).secret)
"""
DELIVERED = """
import json
import django
django.setup()
from django.db.models import Sum
from foilworks.core.projects.models import Delivery
from foilworks.core.jobs.models import Job
rows, job = Delivery.objects.all(), Job.objects.get(dotted="imports.store")
waited = (job.started_at - job.created_at).total_seconds()
print(json.dumps([rows.filter(state="waiting").count(), rows.aggregate(n=Sum("attempts"))["n"], waited]))
"""
RELEASE = """
import django
django.setup()
from django.core.management import call_command
from tests.evaluation.served.worlds import make_release
call_command("migrate", verbosity=0)
make_release(40)
"""
OPEN = """
import json
import django
django.setup()
from foilworks.core.jobs.models import Job
print(json.dumps(sorted(set(Job.objects.filter(dotted__startswith="scoring").values_list("state", flat=True)))))
"""


def counters(address: str) -> dict[str, float]:
    text = httpx.get(f"{address}metrics", headers={"Authorization": "Bearer figures"}, timeout=600).text
    return {name + labels: float(value) for name, labels, value in COUNTER.findall(text)}


def test_counters_never_fall_while_twenty_web_processes_are_replaced(monkeypatch, request):
    monkeypatch.setenv("METRICS_TOKEN", "figures")
    up: Up = request.getfixturevalue("up")  # noqa: F811
    address = up.address()
    (web,) = [psutil.Process(pid) for pid, line in up.children().items() if "gunicorn" in line]
    n_processes, before = len(web.children()), counters(address)
    for number in range(REPLACED):
        assert get(address, "/sign-in/") == 200
        ended = web.children()[0].pid
        psutil.Process(ended).send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
        wait_until(
            lambda ended=ended: len(web.children()) == n_processes and ended not in {p.pid for p in web.children()}
        )
        after = counters(address)
        assert {name: (value, after.get(name)) for name, value in before.items() if after.get(name, 0) < value} == {}
        before = after
    of_page = re.compile(r'requests_total\{.*route="[a-z:]*sign_in",')
    assert sum(value for name, value in before.items() if of_page.search(name)) == REPLACED


def test_an_import_is_stored_while_a_hundred_messages_wait_for_a_receiver_that_never_answers(
    monkeypatch, request, tmp_path
):
    monkeypatch.setenv("WEBHOOK_NETWORKS", "127.0.0.0/8")
    up: Up = request.getfixturevalue("up")  # noqa: F811
    address = up.address()
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        token = run(up.home, "-c", WAITING, f"http://127.0.0.1:{silent.getsockname()[1]}/", str(DELIVERIES))
        # The sender is in its first attempt.
        silent.settimeout(600)
        connection, _peer = silent.accept()
        record = json.dumps({"id": "r", "video": "v.mp4", "subtest": "s", "caption": "he opens it.", "foil": "no"})
        headers = {"Authorization": f"Bearer {token.stdout.strip()}"}
        with httpx.Client(base_url=f"{address}api/projects/mine/", headers=headers, timeout=600) as client:
            files = {"records": ("set.jsonl", record.encode())}
            sent = client.post("imports", data={"format": "jsonl", "at_once": "true"}, files=files)
            assert sent.status_code == 202, sent.text
            upload = wait_until(
                lambda: (row := client.get(f"imports/{sent.json()['id']}").json())["state"] == "done" and row
            )
        n_waiting, n_attempts, waited = json.loads(run(up.home, "-c", DELIVERED).stdout)
        connection.close()
    assert upload["result"]["created"]["items"] == 1
    # All messages wait: no worker has sent any, and the sender had one open attempt at a time.
    assert n_waiting == DELIVERIES
    assert n_attempts < DELIVERIES / 10
    # A figure for `pytest -rP`, since a busy machine must not make a test fail.
    sys.stdout.write(f"the import started after {waited:.2f} s\n")


def test_after_ctrl_c_an_endpoint_gets_no_further_request(monkeypatch, request, tmp_path):
    def slow(body: dict, _n: int) -> Said:
        reply = likely({"Yes": 0.6, "No": 0.4})
        reply.wait = 0.2
        return reply

    with chat_server(slow) as server:
        own = {"CHAT_ENDPOINTS": "lab", "CHAT_LAB_URL": server.url, "CHAT_LAB_MODELS": "tiny"}
        for name, value in own.items():
            monkeypatch.setenv(name, value)
        completed = run(tmp_path, "-c", RELEASE)
        assert completed.returncode == 0, completed.stderr
        command = [PYTHON, "manage.py", "evaluate", "endpoint", "lab/tiny", "--release", "release 1", "--sync"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        scoring = subprocess.Popen(command, env=environment(tmp_path), cwd=ROOT, **pipes)
        wait_until(lambda: len(server.bodies) >= 5, processes=[scoring], log=lambda: scoring.communicate())
        scoring.send_signal(signal.SIGINT)
        _out, message = scoring.communicate(timeout=600)
        assert scoring.returncode == 130, message
        assert "requeue" in message
        n_asked = len(server.bodies)
        assert n_asked < 80
        # A worker comes, finds lost jobs first, and has time for more.
        up: Up = request.getfixturevalue("up")
        up.address()
        for _ in range(2):
            completed = run(up.home, "-c", JOBS, "count", timeout=600)
            assert json.loads(completed.stdout) == [["done", 1, 5]], completed.stderr
        assert json.loads(run(up.home, "-c", OPEN).stdout) == ["cancelled"]
        assert len(server.bodies) == n_asked
