"""Contamination by the order of a file: a model that learned it is caught, another one is not accused."""

import json
import math
import random
from collections import Counter
from itertools import pairwise

import pytest
import torch
from django.core.management import call_command
from transformers import GPT2Config, GPT2LMHeadModel

from evaluation.audit.file_order import MAX_SHARDS, MIN_RECORDS, SHARD_CHARACTERS, compare_orders, shards_of
from foilworks.core.corpus.records import TextRecord
from tests.hub import folders

WORDS = ("man", "woman", "dog", "red", "blue", "small", "opens", "lifts", "turns", "left", "right", "up", "box", "door")


def records(draw, n=240):
    def text():
        return " ".join(draw.choices(WORDS, k=9))

    return [TextRecord(text(), (text(),), at) for at in range(n)]


def bigrams_of(rows):
    """A language model of pairs of words, which also counts the pairs across records."""
    text = "\n".join(" ".join(sorted([row.right, *row.wrongs])) for row in rows).replace("\n", " \n ").split(" ")
    counts, firsts = Counter(pairwise(text)), Counter(text)

    def score(texts):
        sums = []
        for row in texts:
            pairs = list(pairwise(row.replace("\n", " \n ").split(" ")))
            sums.append(sum(math.log((1 + counts[pair]) / (30 + firsts[pair[0]])) for pair in pairs) / len(pairs))
        return sums

    return score


def across(rows):
    """A model that learned which record follows which."""
    texts = [" ".join(sorted([row.right, *row.wrongs])) for row in rows]
    known = set(pairwise(texts))
    return lambda shards: [sum(pair in known for pair in pairwise(shard.split("\n"))) for shard in shards]


def test_a_model_that_learned_the_order_is_caught():
    rows = records(random.Random(1))
    result = compare_orders(rows, "lm", across(rows))
    assert (result.answer, result.n_shards >= 10) == ("seen", True)
    assert result.gap > 0


def test_a_model_that_learned_the_records_in_another_order_is_not_accused():
    answers = Counter()
    for seed in range(20):
        draw = random.Random(seed)
        rows = records(draw)
        answers[compare_orders(rows, "lm", bigrams_of(draw.sample(rows, len(rows))), 9, seed).answer] += 1
    # One in a hundred each for "seen" and "sorted".
    assert answers["not shown"] >= 19


def test_a_sorted_file_accuses_nobody():
    rows = sorted(records(random.Random(2)), key=lambda row: row.right)
    assert compare_orders(rows, "lm", across(rows)).answer == "sorted"


def test_a_small_file_cannot_be_tested():
    assert compare_orders(records(random.Random(3), 20), "lm", len).answer == "too few"


def test_shards_are_consecutive_and_short():
    texts = [f"text {at} " + "x" * (at % 400) for at in range(3000)]
    shards = shards_of([*texts, "y" * 5000])
    assert len(shards) == MAX_SHARDS
    for shard in shards:
        first = texts.index(shard[0])
        assert shard == texts[first : first + len(shard)]
        assert len(shard) >= MIN_RECORDS
        assert sum(map(len, shard)) <= SHARD_CHARACTERS


def trained(folder, rows, steps):
    """A GPT-2 of one layer that has read the file in its order."""
    torch.manual_seed(0)
    tokenizer = folders.byte_tokenizer()
    tokenizer.model_max_length = 2048
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_positions=2048, n_embd=64, n_layer=2, n_head=4, bos_token_id=0)
    )
    shards = shards_of([" ".join(sorted([row.right, *row.wrongs])) for row in rows])
    batches = [tokenizer("\n".join(shard), return_tensors="pt")["input_ids"] for shard in shards]
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(steps):
        ids = batches[step % len(batches)]
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return folders.saved(folder, model, tokenizer)


@pytest.mark.full
def test_the_command_tells_a_trained_model_from_a_fresh_one(tmp_path, capsys):
    rows = records(random.Random(4), 180)
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps({"caption": row.right, "foil": row.wrongs[0]}) + "\n" for row in rows))
    answers = {}
    for name, steps in (("fresh", 0), ("trained", 300)):
        folder = trained(tmp_path / name, rows, steps)
        call_command("contamination", str(path), "--model", f"lm:{folder}", "--json")
        answers[name] = json.loads(capsys.readouterr().out)["answer"]
    assert answers == {"fresh": "not shown", "trained": "seen"}


def test_a_model_whose_context_is_too_short_is_refused(tmp_path, capsys):
    path = tmp_path / "test.jsonl"
    rows = records(random.Random(5))
    path.write_text("".join(json.dumps({"caption": row.right, "foil": row.wrongs[0]}) + "\n" for row in rows))
    with pytest.raises(SystemExit):
        call_command("contamination", str(path), "--model", f"lm:{folders.causal_lm(tmp_path / 'lm')}")
    assert "its context is too short" in capsys.readouterr().err


def test_a_file_without_a_record_is_refused_in_one_line(tmp_path, capsys):
    path = tmp_path / "test.jsonl"
    path.write_bytes(b"\x00\x01\x02")
    with pytest.raises(SystemExit):
        call_command("contamination", str(path), "--model", "lm:nowhere")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("foilworks: ")
    assert str(path) in line
