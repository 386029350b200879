"""Doctor: one line for each part, and what to do wherever something is missing."""

import io
import json
import socket
import sys

import pytest
from django.core.management import call_command

from foilworks.core.jobs.models import Job
from foilworks.site import doctor
from foilworks.site.doctor import ABSENT, BROKEN, OK, examine


def state_of(name: str) -> doctor.Check:
    (check,) = [check for check in examine() if check.name == name]
    return check


@pytest.mark.django_db
def test_every_part_is_checked_and_each_missing_one_has_a_fix():
    checks = examine()
    assert [check.name for check in checks] == [
        "foilworks",
        "python",
        "settings",
        "home",
        "database",
        "queue",
        "workers",
        "ray",
        "storage",
        "mail",
        "video",
        "torch",
        "transformers",
        "sentence-transformers",
        "spacy",
        "wordnet",
        "word vectors",
        "endpoints",
        "devices",
        "chromium",
        "caches",
        "plug-ins",
    ]
    assert all(check.found for check in checks)
    assert all(bool(check.todo) == (check.state != OK) for check in checks)


@pytest.mark.django_db(transaction=True)
def test_the_database_check_writes_and_names_the_journal():
    check = state_of("database")
    assert check.state == OK
    assert check.found.startswith("SQLite 3.")
    assert check.found.endswith("journal wal")


@pytest.mark.django_db
def test_ray_is_named_where_it_runs_jobs(settings):
    assert (state_of("ray").state, state_of("ray").todo) == (ABSENT, "set it to use a Ray cluster")
    settings.RAY_ADDRESS = "127.0.0.1:9"
    assert (state_of("ray").state, state_of("ray").todo[:17]) == (ABSENT, "start the cluster")
    assert "on 127.0.0.1:9, which does not answer this host (Connection refused)" in state_of("ray").found
    with socket.create_server(("127.0.0.1", 0)) as head:
        settings.RAY_ADDRESS = f"127.0.0.1:{head.getsockname()[1]}"
        assert state_of("ray").state == OK
        assert state_of("ray").found.startswith(f"jobs of the gpu queue run on {settings.RAY_ADDRESS}, Ray 2.")


@pytest.mark.django_db
def test_a_stopped_queue_is_fine_but_waiting_jobs_without_a_worker_are_broken():
    assert state_of("queue").state == OK
    assert (state_of("workers").state, state_of("workers").found) == (ABSENT, "0 running; waiting jobs: 0")
    Job.objects.create(dotted="samples.count", target_id=1)
    check = state_of("workers")
    assert (check.state, check.found) == (BROKEN, "0 running; waiting jobs: 1")
    assert "foilworks up" in check.todo


@pytest.mark.django_db
def test_a_redis_that_does_not_answer_is_a_fault(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert state_of("queue").state == BROKEN


@pytest.mark.django_db
def test_a_server_without_model_libraries_says_how_to_install_them(monkeypatch):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    for name in ("torch", "transformers", "sentence-transformers", "spacy"):
        check = state_of(name)
        assert check.state == ABSENT
        assert "foilworks[models]" in check.todo


@pytest.mark.django_db
def test_wordnet_needs_its_files_and_nltk(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "find_wordnet_files", lambda: None)
    assert (state_of("wordnet").state, "wordnet-base" in state_of("wordnet").todo) == (ABSENT, True)
    monkeypatch.setattr(doctor, "find_wordnet_files", lambda: tmp_path)
    assert "read by nltk 3" in state_of("wordnet").found
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    assert (state_of("wordnet").state, "foilworks[models]" in state_of("wordnet").todo) == (ABSENT, True)


@pytest.mark.django_db
def test_a_requested_but_missing_gpu_is_broken(settings, monkeypatch):
    monkeypatch.setattr(doctor, "gpus", lambda: iter(()))
    settings.FOILWORKS_DEVICE = "cuda:1"
    assert state_of("devices").state == BROKEN
    settings.FOILWORKS_DEVICE = "auto"
    assert state_of("devices").state == OK


@pytest.mark.django_db
def test_a_folder_that_cannot_be_written_is_a_fault(settings, tmp_path):
    # A file stands where the folder should be: not even root writes into it.
    (tmp_path / "media").write_text("no folder")
    settings.MEDIA_ROOT = tmp_path / "media"
    assert state_of("storage").state == BROKEN


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_one_object_and_fails_if_a_required_part_is_broken():
    out = io.StringIO()
    call_command("doctor", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert answer["ok"] is True
    assert {check["name"] for check in answer["checks"]} >= {"python", "database", "queue"}
    assert set(answer["checks"][0]) == {"name", "state", "found", "todo"}
    people = io.StringIO()
    call_command("doctor", stdout=people)
    assert people.getvalue().rstrip().endswith("no problems found")
    Job.objects.create(dotted="samples.count", target_id=1)
    with pytest.raises(SystemExit) as leaving:
        call_command("doctor", stdout=io.StringIO())
    assert leaving.value.code == 1


@pytest.mark.django_db
def test_the_python_version_is_named():
    assert state_of("python").found.endswith(sys.executable)


@pytest.mark.django_db
def test_configured_endpoints_are_named_without_keys_or_requests(settings):
    assert state_of("endpoints").state == ABSENT
    lab = {"url": "http://127.0.0.1:9/v1", "models": ("tiny", "large"), "key": "secret"}
    settings.CHAT_ENDPOINTS = {"lab": lab}
    assert (state_of("endpoints").state, state_of("endpoints").found) == (
        OK,
        "lab (tiny, large), not tried, because a request can cost money",
    )


@pytest.mark.django_db
def test_missing_word_vectors_are_broken(settings, tmp_path):
    assert state_of("word vectors").state == ABSENT
    settings.WORD_VECTORS = str(tmp_path / "vectors.txt")
    assert state_of("word vectors").state == BROKEN
    (tmp_path / "vectors.txt").touch()
    assert state_of("word vectors").state == OK
