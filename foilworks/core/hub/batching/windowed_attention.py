"""Attention of a vision tower over all windows of a clip in one call, on a GPU.

Without the package flash-attn, transformers attends window after window: a clip of 8 frames of 640 x 360 has about
a hundred windows in each layer of Qwen2.5-VL, and a GPU waits for the calls. torch has a kernel for all of them
(`torch.nn.attention.varlen`), for bfloat16 and float16.
"""

from typing import Any

import torch
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface, PreTrainedModel

from foilworks.core.hub.device import has_bf16

# transformers tells the ends of windows to implementations with "flash" in their name.
NAME = "foilworks_flash"
KERNEL_FORMATS = frozenset({torch.bfloat16, torch.float16})


def attend_in_one_call(model: PreTrainedModel, device: torch.device) -> None:
    """Let a vision tower with windows attend to all of them at once if the device can; else change nothing.

    `model`: of a family that is `windowed` (foilworks/core/hub/batching/video_families.py). The kernel needs a GPU with
    bfloat16 units, for float16 too.
    """
    if model.dtype in KERNEL_FORMATS and device.type == "cuda" and has_bf16(device):
        model.set_attn_implementation({"vision_config": NAME})


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    cu_seq_lens_q: torch.Tensor,
    max_length_q: int,
    scaling: float,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Return (1, tokens, heads, d) of (1, heads, tokens, d); window n is the tokens from end n to end n + 1."""
    ends = cu_seq_lens_q.to(torch.int32)
    rows = (tensor.squeeze(0).transpose(0, 1) for tensor in (query, key, value))
    attention = varlen_attn(*rows, ends, ends, max_length_q, max_length_q, scale=scaling)
    return attention.unsqueeze(0), None


AttentionInterface.register(NAME, _attention)
