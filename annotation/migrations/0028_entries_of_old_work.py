"""Give submitted work its entry in the ledger of pay, at the rates of the update, as its page has shown it until now."""

from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db import migrations

BATCH = 2_000
# Where a table of work names its project, and the stage of all its rows.
WORK = {
    "Edit": ("group__run__project", "edit"),
    "Review": ("candidate__group__run__project", "review"),
    "ObjectAnswer": ("frame__check_of__project", "objects"),
    "Vote": ("item__subtest__project", None),
}


def fill(apps: Any, schema_editor: Any) -> None:
    """Add the entries in batches; can be run again."""
    alias = schema_editor.connection.alias

    def rows_of(model: str) -> Any:
        return apps.get_model("annotation", model)._base_manager.using(alias)

    rows_of("PayRate").update(since=datetime(1970, 1, 1, tzinfo=UTC))
    currencies = dict(rows_of("PayPolicy").values_list("project", "currency"))
    rates = {(rate.project_id, rate.stage): rate for rate in rows_of("PayRate").all()}
    entries = apps.get_model("annotation", "PayEntry")
    for model, (path, stage) in WORK.items():
        works = rows_of(model).filter(person__isnull=False)
        works = works.exclude(state="undone") if stage is None else works.filter(undone_at=None)
        columns = ("person", "idempotency_key", "seconds_spent", "created_at", path)
        also = ("gold__project", "stage") if stage is None else ()
        found = works.order_by("pk").values_list(*columns, *also).iterator(chunk_size=BATCH)
        while batch := list(islice(found, BATCH)):
            new = [_entry(entries, row, stage, rates, currencies) for row in batch]
            entries._base_manager.using(alias).bulk_create(new, ignore_conflicts=True)


def _entry(entries: Any, row: Any, stage: str | None, rates: Any, currencies: Any) -> Any:
    person, key, seconds, created_at, project, *vote = row
    if vote:
        project, stage = project or vote[0], "validation" if vote[1] == "gold" else vote[1]
    rate = rates.get((project, stage))
    units = Decimal(str(seconds or 0)) / 3600 if rate and rate.unit == "hour" else Decimal(1)
    return entries(
        project_id=project,
        person_id=person,
        stage=stage,
        key=key,
        unit=rate.unit if rate else "piece",
        rate=rate and rate.amount,
        seconds=seconds,
        amount=(rate.amount * units).quantize(Decimal("0.000001")) if rate else Decimal(0),
        currency=currencies.get(project, "EUR") if rate else "",
        created_at=created_at,
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0027_pay_ledger")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
