"""`foilworks requeue`, for installations that run without `foilworks up`."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from foilworks.core.jobs.models import Job


@pytest.mark.django_db(transaction=True)
def test_lost_jobs_are_queued_again_once(redis_server):
    Job.objects.create(dotted="samples.count", target_id=1)
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    for expected in (1, 0):
        out, err = io.StringIO(), io.StringIO()
        call_command("requeue", "--json", stdout=out, stderr=err)
        assert json.loads(out.getvalue()) == {"requeued": expected}
        assert "no worker is running" in err.getvalue()


@pytest.mark.django_db
def test_without_redis_the_command_says_what_to_start(redis_server, capsys):
    redis_server.stop()
    err = io.StringIO()
    with pytest.raises(SystemExit) as leaving:
        call_command("requeue", stderr=err)
    assert leaving.value.code == 1
    assert err.getvalue().startswith("foilworks: cannot reach the queue; start `foilworks up`")
