"""The foils that other runs of a subtest already have for a caption, so that nobody writes one of them again."""

from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate, CandidateGroup

STANDS = (CandidateState.IN_REVIEW, CandidateState.ACCEPTED)
_OF_OTHER_RUNS = Prepared(
    lambda group, caption, subtest: (
        Candidate.objects.filter(group__caption=caption, group__run__subtest=subtest, state__in=STANDS)
        .exclude(group=group)
        .order_by("pk")
        .values_list("text", flat=True)
    )
)


def foils_of_other_runs(group: CandidateGroup) -> list[str]:
    """Return the texts in review or accepted for the caption in other runs of the subtest. One query."""
    return _OF_OTHER_RUNS.all(group=group.pk, caption=group.caption_id, subtest=group.run.subtest_id)
