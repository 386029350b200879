"""A tiny instruction model with random weights, a real tokenizer and a chat template of its own, saved as a folder."""

from pathlib import Path

import torch
from tokenizers import decoders
from transformers import GPT2Config, GPT2LMHeadModel

from tests.hub import folders

TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def chat_lm(folder: Path, *, template: str = TEMPLATE, longest: int = 3000) -> Path:
    torch.manual_seed(5)
    tokenizer = folders.byte_tokenizer(longest=longest)
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    tokenizer.chat_template = template or None
    # Wide weights, or every prompt would be answered alike.
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=longest,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.5,
    )
    return folders.saved(folder, GPT2LMHeadModel(config), tokenizer)
