"""Replace the names of people in reports."""

from typing import Any

from foilworks.core.projects.models import Project, User
from foilworks.core.projects.pseudonyms import pseudonym


def under_pseudonyms(project: Project, data: dict[str, Any]) -> dict[str, Any]:
    """Return `data` with every user name in `annotators`, `pairs` and `people` replaced; one query."""
    names = _names(data)
    if not names:
        return data
    ids = dict(User.objects.filter(username__in=names).values_list("username", "pk"))
    pseudonyms = {name: pseudonym(project, ids[name]) if name in ids else name for name in names}
    public_data = dict(data)
    if "annotators" in data:
        public_data["annotators"] = [{**row, "annotator": pseudonyms[row["annotator"]]} for row in data["annotators"]]
    if "pairs" in data:
        public_data["pairs"] = [
            {**row, "annotators": [pseudonyms[name] for name in row["annotators"]]} for row in data["pairs"]
        ]
    if "people" in data:
        public_data["people"] = [{**row, "person": pseudonyms[row["person"]]} for row in data["people"]]
    return public_data


def _names(data: dict[str, Any]) -> set[str]:
    names = {row["annotator"] for row in data.get("annotators", [])}
    names |= {name for row in data.get("pairs", []) for name in row["annotators"]}
    return names | {row["person"] for row in data.get("people", [])}
