"""Run the tasks of an Inspect export on its mock model; prints {log: accuracy}. Runs in an environment of its own:
`FOLDER LOGS`. No network: tokens of answers are not counted.
"""

import json
import os
import random
import sys

import tiktoken
from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, get_model

MODEL = "mockllm/model"
SAYINGS = ("ANSWER: A", "ANSWER: B", "I cannot tell")


class NoTokens:
    def encode(self, *_args, **_kwargs):
        return []


def main(folder, logs):
    os.chdir(folder)
    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_args, **_kwargs: NoTokens()
    draw = random.Random(1)
    outputs = [ModelOutput.from_content(MODEL, draw.choice(SAYINGS)) for _ in range(100_000)]
    done = run("task.py", model=get_model(MODEL, custom_outputs=outputs), log_dir=logs, display="none")
    print("RESULT " + json.dumps({log.location: log.results.scores[0].metrics["accuracy"].value for log in done}))


main(*sys.argv[1:])
