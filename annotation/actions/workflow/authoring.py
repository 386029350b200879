"""Candidates by people: a reworded suggestion, a new foil, a reviewer's fix."""

import hashlib
from typing import Any

from foilworks.core.corpus.models import Foil
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.fast_inserts import insert
from foilworks.core.text.diff import Edit, diff_edits
from generation.models import PERSON_METHOD, Candidate, CandidateGroup
from generation.records import MODES

VERSION = "1"
# Of methods that make foils outside a run.
SEED = 0
# The provenance that a reopened or carried-over foil keeps.
MADE_BY = (
    "method",
    "method_version",
    "mode",
    "model_id",
    "model_revision",
    "prompt_template",
    "prompt_hash",
    "seed",
    "author",
    "facts",
)
PROVENANCE = (
    *MADE_BY,
    "rank",
    "text",
    "text_sha256",
    "edits",
    "span_start",
    "span_end",
    "source",
    "target",
)


def write_candidate(
    group: CandidateGroup, author: User, text: str, parent: Candidate | None, state: CandidateState, rank: int
) -> Candidate:
    """Store the text that `author` wrote for the group's caption, with its changes; one audit row."""
    candidate = Candidate(
        group=group,
        rank=parent.rank if parent else rank,
        text=text,
        text_sha256=_sha256(text),
        state=state,
        claimed_from=CandidateState.QUEUED,
        method=PERSON_METHOD,
        method_version=VERSION,
        author=author,
        parent=parent,
        **changes(group.caption.text, text),
    )
    insert(candidate)
    audit.record(
        audit.event(group.run.project, author, "write", candidate, to_state=state, parent=parent and parent.pk)
    )
    return candidate


def store_draft(
    group: CandidateGroup, actor: User, method: str, version: str, text: str, state: CandidateState, rank: int
) -> Candidate:
    """Store a foil that a method made for the group's caption outside a run; one audit row."""
    candidate = Candidate.objects.create(
        group=group,
        rank=rank,
        text=text,
        text_sha256=_sha256(text),
        state=state,
        method=method,
        method_version=version,
        mode=MODES[0],
        seed=SEED,
        **changes(group.caption.text, text),
    )
    audit.record(audit.event(group.run.project, actor, "propose", candidate, to_state=state))
    return candidate


def copy_candidate(source: Candidate, state: CandidateState, project: Project, actor: User, reason: str) -> Candidate:
    """Create a child with its parent's text and provenance, when a foil of an item comes back."""
    provenance = {name: getattr(source, name) for name in PROVENANCE}
    child = Candidate.objects.create(group_id=source.group_id, parent=source, state=state, **provenance)
    audit.record(audit.event(project, actor, "reopen", child, to_state=state, reason=reason, parent=source.pk))
    return child


def carry_over(
    group: CandidateGroup, source: Candidate | Foil, rank: int, state: CandidateState, actor: User, reason: str
) -> Candidate:
    """Create a child under another caption, with the source's text and provenance and its changes of that caption.

    An imported foil has no candidate to descend from; its child has the provenance "import".
    """
    if isinstance(source, Candidate):
        provenance = {name: getattr(source, name) for name in MADE_BY} | {"parent": source}
    else:
        provenance = {"method": "import", "method_version": "1"}
    child = Candidate.objects.create(
        group=group,
        rank=rank,
        state=state,
        text=source.text,
        text_sha256=source.text_sha256,
        **provenance,
        **changes(group.caption.text, source.text),
    )
    audit.record(audit.event(group.run.project, actor, "reopen", child, to_state=state, reason=reason))
    return child


def changes(caption: str, text: str) -> dict[str, Any]:
    """Return the columns edits, span, source and target of a candidate; offsets in characters of the caption."""
    edits = diff_edits(caption, text) or (Edit(0, 0, ""),)
    start, end = edits[0].start, max(edit.end for edit in edits)
    grown = sum(len(edit.target) - (edit.end - edit.start) for edit in edits)
    return {
        "edits": [[edit.start, edit.end, edit.target] for edit in edits],
        "span_start": start,
        "span_end": end,
        "source": caption[start:end],
        "target": text[start : end + grown],
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
