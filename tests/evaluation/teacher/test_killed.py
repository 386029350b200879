"""A training whose process is killed by the system ends with the bytes of one that nobody stopped."""

import signal
import subprocess
import sys

import pytest

from foilworks.site.teacher.checkpoints import resumes_at, stored_points
from tests.evaluation.teacher.killed_training import PLAN, REACHED, STEPS, trained

COMMAND = (sys.executable, "-m", "tests.evaluation.teacher.killed_training")


@pytest.mark.machines
def test_a_training_killed_in_the_middle_of_a_step_ends_bit_for_bit_as_an_uninterrupted_one(tmp_path):
    folder = tmp_path / "killed"
    child = subprocess.Popen([*COMMAND, str(folder), "13"], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == REACHED
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    child.stdout.close()
    assert resumes_at(folder) == 10
    assert set(stored_points(folder)) == set(range(1, 11))
    killed, whole = trained(folder), trained(tmp_path / "whole")
    assert killed.read_bytes() == whole.read_bytes()
    assert stored_points(folder) == stored_points(tmp_path / "whole")
    # What was chosen is not what the last step left, and both are stored once.
    assert len(stored_points(folder)) == STEPS
    last = (folder / "checkpoint" / "model.safetensors").read_bytes()
    assert killed.read_bytes() != last
    assert len(list(folder.glob("best-*"))) == 1
    assert PLAN.save_every < STEPS
