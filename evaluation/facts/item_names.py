"""Find the items that reports name."""

from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import Project


def items_of(project: Project, units: list[str]) -> dict[str, int]:
    """Return {unit: id of its item} of units that are named `subtest:key` or `subtest:key/foil`. One query."""
    keys = {unit: unit.partition(":")[2] for unit in units}
    bare = {unit: key.rpartition("/")[0] or key for unit, key in keys.items()}
    rows = Item.objects.filter(subtest__project=project, key__in={*keys.values(), *bare.values()})
    ids_by_name = {f"{subtest}:{key}": pk for pk, subtest, key in rows.values_list("pk", "subtest__name", "key")}
    stem = {unit: unit.partition(":")[0] for unit in units}
    return {
        unit: ids_by_name[name]
        for unit in units
        for name in (f"{stem[unit]}:{bare[unit]}", unit)
        if name in ids_by_name
    }
