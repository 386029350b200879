"""The order in which validators see caption and foil (docs/workflow.md#rule-5)."""

from collections.abc import Iterator

from django.db.models import Count, F, Q

from annotation.models import Stage, Vote
from foilworks.site.invariants.violation import InvariantViolation

# With more standard errors from one half the orders are not balanced; with fewer votes the check says nothing.
FAR, MIN_CHOICES = 4.0, 100


def the_caption_stands_first_half_of_the_time() -> Iterator[InvariantViolation]:
    """Check over each project's own votes, late ones too, that the caption is first in about half."""
    # The order of an imported vote is its file's.
    votes = Vote.objects.filter(stage=Stage.VALIDATION, source=Vote.Source.PERSON, caption_first__isnull=False)
    columns = votes.values(project=F("item__subtest__project")).order_by("project")
    for row in columns.annotate(n=Count("pk"), first=Count("pk", filter=Q(caption_first=True))):
        far = FAR * (0.25 * row["n"]) ** 0.5
        if row["n"] >= MIN_CHOICES and abs(row["first"] - row["n"] / 2) > far:
            problem = f"showed the caption first in {row['first']} of {row['n']} judgements"
            yield InvariantViolation(f"projects.project {row['project']}", problem)
