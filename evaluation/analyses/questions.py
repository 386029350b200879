"""Turn records of files and of releases into the solver's questions: audits, gate and selections share this way."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.corpus.records import ItemRecord, TextRecord
from foilworks.core.corpus.release_records import item_record
from foilworks.core.corpus.rules.hard_foils import Candidates, hard_foils
from foilworks.core.corpus.rules.two_clips import NEEDS_TIME, PLAYED
from foilworks.core.solver.questions import Answers, Question, Row, separate_answers


def questions_of(records: Sequence[TextRecord]) -> tuple[list[Question], Answers]:
    """Return the records as questions without answers, and (n,) the indices of the right options."""
    return separate_answers(
        Row(
            right=record.right,
            wrongs=record.wrongs,
            position=record.position,
            question=record.question,
            video=record.video,
            clip=record.clip,
            id=record.id or str(record.where),
            kind=record.subtest,
            is_label=record.is_label,
            group=record.group,
        )
        for record in records
    )


def text_record(item: ItemRecord, number: int, subtest: str = "", split: str = "", file: str = "") -> TextRecord:
    """Return the texts of an item with foils. `number`: its place, if it has no line; `subtest`, `split`: its own
    otherwise; `file`: its path."""
    facts = {**item.facts, **item.extra}
    position, question = facts.get("label"), facts.get("question")
    is_position = isinstance(position, int) and not isinstance(position, bool) and 0 <= position <= len(item.foils)
    return TextRecord(
        item.caption,
        tuple(item.foils),
        item.line or number,
        id=item.id,
        subtest=item.subtest or subtest,
        split=item.video.split or split,
        video=item.video.source_id or item.video.file or item.video.key,
        clip=item.video.key,
        group=item.pair,
        file=item.video.file,
        played=str(facts.get(PLAYED) or ""),
        needs_time=bool(facts.get(NEEDS_TIME)),
        question=question if isinstance(question, str) else "",
        position=int(position) if is_position and position is not None else None,
        licence=str(facts.get("license") or facts.get("licence") or ""),
        address=(file, -1, 0) if item.line and file else None,
    )


def candidates(record: TextRecord, item: ItemRecord) -> Candidates:
    """Return what the rule of hard foils reads of an item."""
    return Candidates(record.subtest, record.right, record.wrongs, item.extra, item.facts)


def released_texts(records: Collection[Mapping[str, Any]]) -> Iterator[TextRecord]:
    """Yield frozen records as an audit of their export reads them: hard foils alone, where there are some.

    The records are read twice, because a hard foil may follow from those of all items.
    """

    def read() -> Iterator[tuple[TextRecord, ItemRecord]]:
        for number, item in enumerate(map(item_record, records), 1):
            if item.foils:
                yield text_record(item, number), item

    item_hard_foils = hard_foils(candidates(*row) for row in read())
    for (text, _item), hard in zip(read(), item_hard_foils, strict=True):
        marked = text if hard is None else replace(text, hard=hard.index, hard_source=hard.source)
        if marked.counted(marked.wrongs):
            yield marked.probed()
