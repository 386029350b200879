"""P(yes) through an endpoint is P(yes) of the local adapter: a server that gives the true log-probabilities of a tiny
model with random weights, loaded by the local adapter's code."""

import base64
import io
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Score
from evaluation.scoring.run_request import RunRequest
from foilworks.core.hub.adapters.generative import GenerativeModel
from foilworks.core.hub.batching.shared_prefix import Prefix
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from tests.evaluation.served.worlds import endpoint, make_release
from tests.hub import generative_folders
from tests.hub.chat_server import Said, chat_server, pictures_of, text_of

pytestmark = pytest.mark.django_db
TOP = 20


def of_yes_and_no(folder: Path) -> Path:
    """A tiny model whose likeliest words are yes and no, as those of a model that follows the prompt are."""
    generative_folders.llava_onevision(folder)
    model = open_adapter(f"vlm:{folder}?frames=8", device="cpu")
    words = ["Yes", "yes", "No", "no"]
    model.talk.tokenizer.add_tokens(words)
    ids = model.talk.tokenizer.convert_tokens_to_ids(words)
    model.model.resize_token_embeddings(len(model.talk.tokenizer), mean_resizing=False)
    states: list[torch.Tensor] = []
    head = model.model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, given: states.append(given[0][:, -1:].reshape(-1, 32)))
    next_logprobs(model, np.zeros((8, 32, 32, 3), np.uint8), "Does this video show this?")
    hook.remove()
    state = states[-1][0]
    torch.manual_seed(3)
    with torch.no_grad():
        head.weight[ids] = 6 * state / state.norm() ** 2 * state.norm() + 0.4 * torch.randn(len(ids), 32)
    model.model.save_pretrained(folder)
    model.talk.tokenizer.save_pretrained(folder)
    return folder


def next_logprobs(model: GenerativeModel, clip: np.ndarray, text: str) -> torch.Tensor:
    """(vocabulary,) of the token that comes after the whole prompt, from a prompt that is rendered in one piece."""
    prefix = model.prefix(model.talk.prompt(text, video=True), model.prepare(clip))
    shorter = Prefix(prefix.ids[:, :-1], prefix.tensors)
    return model.prefixes.next_logits(shorter, [prefix.ids[0, -1:].tolist()])[0].log_softmax(0)


def seen(body: dict) -> np.ndarray:
    raw = [base64.b64decode(url.partition(",")[2]) for url in pictures_of(body)]
    return np.stack([np.asarray(Image.open(io.BytesIO(one)).convert("RGB")) for one in raw])


# JPEG changes the frames a little, and weights as wide as these double that.
@pytest.mark.parametrize(("form", "apart"), [("png", 1e-3), ("jpeg", 2e-2)])
def test_p_yes_equals_that_of_the_local_adapter(settings, form, apart):
    folder = of_yes_and_no(Path(settings.MODEL_ROOT) / "tiny-vlm")
    model = open_adapter(f"vlm:{folder}?frames=8", device="cpu")
    lock = threading.Lock()

    def answer(body, n):
        with lock:
            values, ids = next_logprobs(model, seen(body), text_of(body)).topk(min(TOP, body["top_logprobs"]))
        rows = [
            {"token": model.talk.tokenizer.decode([token]), "logprob": value}
            for token, value in zip(ids.tolist(), values.tolist(), strict=True)
        ]
        choice = {
            "message": {"role": "assistant", "content": rows[0]["token"]},
            "finish_reason": "length",
            "logprobs": {"content": [{**rows[0], "top_logprobs": rows}]},
        }
        return Said({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})

    release = make_release(6)
    with chat_server(answer) as server:
        settings.CHAT_ENDPOINTS = endpoint(server.url)
        runs = [
            start_run(None, release, RunRequest(f"vlm:{folder}?mode=p_yes&frames=8", device="cpu")),
            start_run(None, release, RunRequest(f"endpoint:lab/tiny?frames=8&form={form}")),
        ]
        for run in runs:
            assert run_now(run.job).state == JobState.DONE
            run.refresh_from_db()
    local, served = (
        {
            (clip, text): value
            for clip, text, value in Score.objects.filter(model_key=run.model_key).values_list(
                "clip_key", "text_sha256", "value"
            )
        }
        for run in runs
    )
    assert len(local) == 12
    assert max(local.values()) - min(local.values()) > 0.1, "the texts and clips differ in what they get"
    assert served == pytest.approx(local, abs=apart)
