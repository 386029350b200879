"""Audit what is spoken in the videos of a benchmark: does a transcript answer the items, beside their texts?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.analyses.questions import questions_of
from evaluation.audit.clip_files import file_of, files_by_name
from evaluation.audit.records import Finding, Verdict
from evaluation.metrics.intervals import mean_intervals
from foilworks.core.corpus.records import TextRecord
from foilworks.core.media import subtitles
from foilworks.core.solver.folds import largest_group_share
from foilworks.core.solver.inference import FAIL_MARGIN, block_interval, verdict_of
from foilworks.core.solver.transcripts import answer_with_speech

SIGNED = (-1.0, 1.0)
MAX_NAMES = 10


def of_transcripts(records: Sequence[TextRecord], folder: Path | None, seed: int) -> Finding:
    """Return how far texts and transcripts answer the items, beside texts alone on the same items and folds.

    `folder`: transcripts by the name of the clip; a record's own transcript comes first. Items without one do not
    count. It warns at most: what is said in a video belongs to the video.
    """
    files = files_by_name(folder, subtitles.TRANSCRIPTS) if folder else {}
    texts: dict[Path, str] = {}
    rows, missing = [], []
    for record in records:
        text, path = subtitles.spoken(record.transcript), file_of(record, files)
        if not text and path:
            text = texts[path] = texts[path] if path in texts else subtitles.spoken(subtitles.read(path))
        if text:
            rows.append((record, text))
        else:
            missing.append(record.clip or record.video or record.id or str(record.where))
    names = list(dict.fromkeys(missing))
    details: dict[str, Any] = {
        "unit": "items",
        "count": len(rows),
        "records": len(records),
        "without_transcript": names[:MAX_NAMES],
        "n_without": len(names),
    }
    questions, answers = questions_of([record for record, _ in rows])
    solved = answer_with_speech(questions, answers, [text for _, text in rows], seed) if rows else None
    if solved is None:
        reason = "items of fewer than five videos have a transcript"
        return Finding("transcripts", "nothing_found", n=len(rows), details={**details, "reason": reason})
    chance = sum(1 / len(question.options) for question in questions) / len(rows)
    value, interval = block_interval(solved.with_speech, solved.structure.blocks)
    of_texts, interval_of_texts = block_interval(solved.texts, solved.structure.blocks)
    (gain,) = mean_intervals((solved.with_speech - solved.texts)[:, None], solved.structure.blocks, bounds=SIGNED)
    share = largest_group_share(solved.structure)
    verdict: Verdict = verdict_of(value, interval, chance, len(rows), share, is_certified=False)[0]
    if verdict == "fail":
        verdict = "warn" if gain and gain[0] > 0 and value - of_texts > FAIL_MARGIN else "nothing_found_so_far"
    details |= {"texts": of_texts, "texts_interval": list(interval_of_texts), "gain": value - of_texts}
    details["gain_interval"] = gain
    return Finding("transcripts", verdict, value, list(interval), chance, len(rows), "", details)
