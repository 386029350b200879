"""Compute the losses (Feint6K, Sec. 4.2).

Similarities are cosines, temperatures above 0. Every loss is a mean over the batch and is computed in float32, whatever
the number format of the model.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from evaluation.teacher.plan import FORWARD


def contrastive(similar: Tensor, same: Tensor, temperature: float) -> Tensor:
    """Compute the plain loss, clip to caption and caption to clip, over the batch.

    `similar` (b, m) of each video with each of the batch's distinct captions; `same` (b,) which caption is each video's
    own. Videos that share a caption are its right answers in equal parts.
    """
    scaled = similar.float() / temperature
    by_video = F.cross_entropy(scaled, same)
    right = F.one_hot(same, similar.shape[1]).T.float()
    asked = right.sum(dim=1) > 0
    targets = right[asked] / right[asked].sum(dim=1, keepdim=True)
    by_text = -(targets * scaled.T[asked].log_softmax(dim=1)).sum(dim=1).mean()
    return (by_video + by_text) / 2


def labels(student: Tensor, there: Tensor, temperature: float) -> Tensor:
    """Compute `- log softmax` of the positive (Feint6K, Eq. 1).

    `student` (b, 1 + k): sim(f_v, f_t), the positive first; `there` (b, 1 + k): False if a video has fewer than k
    negatives.
    """
    return -_log_softmax(student, there, temperature)[:, 0].mean()


def logits(student: Tensor, teacher: Tensor, there: Tensor, temperature: float, direction: str = FORWARD) -> Tensor:
    """Compute the divergence between the student's softmax and the teacher's (Feint6K, Eq. 2).

    `teacher` (b, 1 + k): sim(e_p, e_t), the positive first (so 1), over the positive and its own negatives only, at one
    temperature.
    """
    ours, theirs = (_log_softmax(each, there, temperature) for each in (student, teacher))
    left, right = (theirs, ours) if direction == FORWARD else (ours, theirs)
    # For missing negatives, both logs are -inf; their difference and its gradient would be nan, so they are set before.
    gap = torch.where(there, left, 0.0) - torch.where(there, right, 0.0)
    return (torch.where(there, left.exp(), 0.0) * gap).sum(dim=1).mean()


def _log_softmax(similarities: Tensor, there: Tensor, temperature: float) -> Tensor:
    scaled = (similarities.float() / temperature).masked_fill(~there, float("-inf"))
    return scaled.log_softmax(dim=1)
