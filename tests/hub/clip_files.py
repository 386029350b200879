"""Files of CLIP weights with the keys that OpenAI, open_clip and CLIP4Clip publish, and their forward pass.

`OwnClip` is written from their papers' description, apart from hub and transformers: its keys are those of the files.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedTokenizerFast

from tests.hub.folders import CORPUS

FIRST, LAST, UNKNOWN = "<|startoftext|>", "<|endoftext|>", "<|unknown|>"
WIDTH, LAYERS, PATCH, SIDE, LONGEST, VECTOR = 64, 2, 8, 16, 16, 8


def byte_pairs(folder: Path) -> PreTrainedTokenizerFast:
    """Words with CLIP's marks around them, of which the last one ends a text."""
    known = {
        word: at for at, word in enumerate([UNKNOWN, *sorted({w for t in CORPUS for w in t.split()}), FIRST, LAST])
    }
    raw = Tokenizer(models.WordLevel(known, unk_token=UNKNOWN))
    raw.normalizer, raw.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    marks = [(mark, known[mark]) for mark in (FIRST, LAST)]
    raw.post_processor = processors.TemplateProcessing(single=f"{FIRST} $A {LAST}", special_tokens=marks)
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=FIRST,
        eos_token=LAST,
        pad_token=LAST,
        unk_token=UNKNOWN,
        model_max_length=LONGEST,
    )
    made.save_pretrained(folder)
    return made


class QuickGelu(nn.Module):
    def forward(self, rows):
        return rows * torch.sigmoid(1.702 * rows)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.randn(3 * WIDTH, WIDTH) / 8)
        self.in_proj_bias = nn.Parameter(torch.randn(3 * WIDTH) / 8)
        self.out_proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, rows, mask):
        query, key, value = F.linear(rows, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        # One head of 64, as their rule for a width of 64 gives.
        scores = query @ key.transpose(1, 2) / WIDTH**0.5 + mask
        return self.out_proj(scores.softmax(dim=-1) @ value)


class Block(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.attn, self.ln_1, self.ln_2 = Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential()
        for name, layer in (
            ("c_fc", nn.Linear(WIDTH, 4 * WIDTH)),
            ("gelu", activation),
            ("c_proj", nn.Linear(4 * WIDTH, WIDTH)),
        ):
            self.mlp.add_module(name, layer)

    def forward(self, rows, mask):
        rows = rows + self.attn(self.ln_1(rows), mask)
        return rows + self.mlp(self.ln_2(rows))


class Tower(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.resblocks = nn.ModuleList(Block(activation) for _ in range(LAYERS))

    def forward(self, rows, mask):
        for block in self.resblocks:
            rows = block(rows, mask)
        return rows


class Pictures(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.class_embedding = nn.Parameter(torch.randn(WIDTH))
        self.positional_embedding = nn.Parameter(torch.randn((SIDE // PATCH) ** 2 + 1, WIDTH))
        self.proj = nn.Parameter(torch.randn(WIDTH, VECTOR))
        self.conv1 = nn.Conv2d(3, WIDTH, PATCH, PATCH, bias=False)
        self.ln_pre, self.transformer, self.ln_post = nn.LayerNorm(WIDTH), Tower(activation), nn.LayerNorm(WIDTH)

    def forward(self, pixels):
        patches = self.conv1(pixels).flatten(2).transpose(1, 2)
        rows = (
            torch.cat([self.class_embedding.expand(pixels.shape[0], 1, -1), patches], dim=1) + self.positional_embedding
        )
        return self.ln_post(self.transformer(self.ln_pre(rows), torch.zeros(()))[:, 0]) @ self.proj


class OwnClip(nn.Module):
    def __init__(self, vocabulary, activation):
        super().__init__()
        torch.manual_seed(7)
        self.positional_embedding = nn.Parameter(torch.randn(LONGEST, WIDTH))
        self.text_projection = nn.Parameter(torch.randn(WIDTH, VECTOR))
        self.logit_scale = nn.Parameter(torch.tensor(3.0))
        self.visual, self.transformer = Pictures(activation), Tower(activation)
        self.token_embedding, self.ln_final = nn.Embedding(vocabulary, WIDTH), nn.LayerNorm(WIDTH)
        for name, each in self.named_parameters():
            if ".ln_" in name or name.startswith("ln_"):
                nn.init.normal_(each, 0.8, 0.2)

    def encode_image(self, pixels):
        return self.visual(pixels)

    def encode_text(self, ids):
        """Ids (n, 16) with zeros behind the end of a text, as their tokenizers write them."""
        mask = torch.full((LONGEST, LONGEST), float("-inf")).triu(1)
        rows = self.transformer(self.token_embedding(ids) + self.positional_embedding, mask)
        return self.ln_final(rows)[torch.arange(ids.shape[0]), ids.argmax(dim=1)] @ self.text_projection
