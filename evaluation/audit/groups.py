"""Group the records that a classifier must not learn from when it answers one of them."""

from collections.abc import Sequence

import numpy as np
import scipy

from evaluation.audit.records import AuditRecord, label_is_true
from generation.balance.balanced_pairs import caption_groups

# Share of labelled texts in one group; a larger group leaves too little for the other folds.
MAX_JOINED = 0.2


def groups_of(records: Sequence[AuditRecord]) -> list[str]:
    """Return (n,) the clusters of records: by their group, of questions by video or question, of pairs by caption."""
    captions = caption_groups([(record.right, "") for record in records])
    labelled = [record for record in records if record.is_label]
    of_labels = dict(zip(map(id, labelled), _label_groups(labelled), strict=True))
    return [
        of_labels.get(id(record)) or record.group or ((record.video or record.question) if record.question else caption)
        for record, caption in zip(records, captions, strict=True)
    ]


def _label_groups(records: Sequence[AuditRecord]) -> list[str]:
    """Return (n,) the groups of labelled texts: those of one video; also those of the same words, if they contrast.

    Some benchmarks give a statement to two videos, once as true and once as false. A classifier trained on one of them
    would be wrong about the other, below chance. If the same words mostly have the same label, that is a cue to find.
    """
    texts = caption_groups([(record.question, "") for record in records])
    videos = [record.video or text for record, text in zip(records, texts, strict=True)]
    if not _contrast(texts, [label_is_true(record) for record in records]):
        return videos
    rows, columns = (np.unique(names, return_inverse=True)[1] for names in (videos, texts))
    n = int(max(rows.max(), columns.max())) + 1
    edges = scipy.sparse.coo_array((np.ones(len(rows)), (rows, n + columns)), shape=(2 * n, 2 * n))
    _, component_ids = scipy.sparse.csgraph.connected_components(edges, directed=False)
    group_ids = component_ids[rows]
    is_one = np.bincount(group_ids).max() > MAX_JOINED * len(records)
    return videos if is_one else [f"group {component}" for component in group_ids]


def _contrast(texts: Sequence[str], labels: Sequence[bool]) -> bool:
    """Report whether two records of the same words have the same label less often than any two records."""
    counts: dict[str, list[int]] = {}
    for text, label in zip(texts, labels, strict=True):
        counts.setdefault(text, [0, 0])[label] += 1
    same_label = sum(n * (n - 1) for label_counts in counts.values() for n in label_counts)
    pairs = sum(sum(label_counts) * (sum(label_counts) - 1) for label_counts in counts.values())
    share = sum(labels) / len(labels) if labels else 0.0
    return same_label < (share**2 + (1 - share) ** 2) * pairs
