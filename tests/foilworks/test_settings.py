"""Settings that name endpoints of instruction models: read in a process of their own, as at a start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LAB = {"CHAT_ENDPOINTS": "lab", "CHAT_LAB_URL": "http://10.0.0.7:8000/v1", "CHAT_LAB_MODELS": "tiny, large"}


def read(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "import json; from foilworks import settings; print(json.dumps(settings.CHAT_ENDPOINTS))"
    own = {**os.environ, "FOILWORKS_HOME": str(home), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=False)


def test_an_endpoint_has_an_address_models_a_key_and_a_price(tmp_path):
    done = read(tmp_path, **LAB, CHAT_LAB_KEY="secret", CHAT_LAB_PRICE="0.15 0.60 USD")
    assert json.loads(done.stdout) == {
        "lab": {
            "url": "http://10.0.0.7:8000/v1", "models": ["tiny", "large"], "key": "secret", "price": [0.15, 0.6],
            "currency": "USD",
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"CHAT_LAB_URL": ""}, "CHAT_LAB_URL is no address"),
        ({"CHAT_LAB_URL": "file:///etc/passwd"}, "CHAT_LAB_URL is no address"),
        ({"CHAT_LAB_URL": "http://user:pw@host/v1"}, "CHAT_LAB_URL is no address"),
        ({"CHAT_LAB_MODELS": " "}, "CHAT_LAB_MODELS names no model"),
        ({"CHAT_ENDPOINTS": "Lab-1"}, "name it in small letters"),
        ({"CHAT_LAB_PRICE": "cheap"}, "CHAT_LAB_PRICE is no price"),
    ],
)
def test_what_is_wrong_is_named_at_the_start(tmp_path, change, message):
    done = read(tmp_path, **{**LAB, **change})
    assert done.returncode == 1
    assert message in done.stderr
