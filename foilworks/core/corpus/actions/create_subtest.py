"""Create a subtest: a phenomenon, and the rules of its items."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

# Feint6K writes five counterfactuals per video: six candidates with the caption.
COUNTERFACTUALS = 5


def default_foils(changes: str) -> int:
    """Return the number of foils per item if nobody sets it."""
    return COUNTERFACTUALS if changes == Subtest.Changes.ACTION else 1


@transaction.atomic
def create_subtest(person: User | None, project: Project, **rules: Any) -> Subtest:
    """Store a subtest of the project; `rules` are fields of Subtest. CorpusError names the field that is wrong.

    `person` None is the operator.
    """
    if person is not None:
        require_role(person, project, Role.RESEARCHER)
    rules.setdefault("foils_per_item", default_foils(rules.get("changes", "")))
    subtest = Subtest(project=project, **rules)
    try:
        subtest.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise CorpusError(f"{field}: {messages[0]}") from error
    subtest.save()
    audit.record(audit.event(project, person, "corpus.create_subtest", subtest))
    return subtest
