"""Updates without a pause (docs/how-to/migrations.md): while tables change, the version before still serves.

What a migration may not do to a table that was there before is found here; an exception stands in ALLOWED, with the
reason why nobody notices.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.test import override_settings

ROOT = Path(__file__).resolve().parent.parent
APPS = ("projects", "jobs", "corpus", "generation", "annotation", "evaluation")
# The squashed migration of each app makes all tables of 0.1: it changes none that was there before.
SQUASHED = 1
# "app.migration: what it does" -> why nobody notices.
STOPPED = "part of 0.3.0, whose changelog says to stop all processes first"
STOPPED_FOR_0_4 = "part of 0.4, whose changelog says to stop all processes first"
GONE_TOO_SOON = "the version before still asks for it; take it out of the code first, of the tables a release later"
LOCKED = "a large table is locked meanwhile; say in ALLOWED why it is small, or do it by hand beforehand"
ALLOWED: dict[str, str] = {
    f"projects.0016_without_old_webhook_headers: Remove field legacy_salt from Webhook: {GONE_TOO_SOON}": (
        STOPPED_FOR_0_4
    ),
    "projects.0017_daily_mail: Raw Python operation: rows are locked meanwhile; say in ALLOWED why they are few": (
        STOPPED_FOR_0_4
    ),
    "generation.0014_without_hints: Raw Python operation: rows are locked meanwhile; say in ALLOWED why they are few": (
        STOPPED_FOR_0_4
    ),
    **{
        f"generation.0014_without_hints: Delete model {name}: {GONE_TOO_SOON}": STOPPED_FOR_0_4
        for name in ("Hint", "HintModel", "HintShown")
    },
    "annotation.0021_clips_of_leases: Create index lease_by_person_and_clip on field(s) person, caption_video of model "
    "lease: a large table is locked meanwhile; say in ALLOWED why it is small, or do it by hand beforehand": STOPPED,
    "annotation.0021_clips_of_leases: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": STOPPED,
    "evaluation.0018_targets_of_renamed_models: Raw Python operation: rows are locked meanwhile; say in ALLOWED why "
    "they are few": "audit rows of requested reports and evaluations of students: nobody waits for them",
    **{
        f"corpus.0017_project_of_items: Create index {index} of model item: {LOCKED}": STOPPED
        for index in (
            "item_by_project on field(s) project, id",
            "item_by_project_and_state on field(s) project, state, id",
            "item_by_project_and_key on field(s) project, key, id",
        )
    },
    f"corpus.0018_pairs_of_items: Create index item_pair on field(s) subtest, pair of model item: {LOCKED}": STOPPED,
    "corpus.0017_project_of_items: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": STOPPED,
    "corpus.0017_project_of_items: Alter field project on item: "
    "the version before may leave it empty; let it be filled for a release first": STOPPED,
    "projects.0015_rotation_of_webhook_secrets: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": "a project has at most twenty webhooks",
    "corpus.0012_split_becomes_disputed: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": STOPPED,
    "annotation.0027_pay_ledger: Create index pay_rate_of_a_stage on field(s) project, stage, since of model payrate: "
    f"{LOCKED}": "five rows per project at most",
    "evaluation.0027_model_folders: Raw Python operation: rows are locked meanwhile; say in ALLOWED why they are few": (
        "it reads rows and moves folders; it writes no row"
    ),
    "annotation.0028_entries_of_old_work: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": STOPPED_FOR_0_4,
    **{
        f"annotation.0030_choices_without_the_clip: Create constraint {name} on model task: {LOCKED}": STOPPED_FOR_0_4
        for name in ("task_has_its_target", "one_unseen_choice_an_item")
    },
    f"corpus.0022_versions: Create index video_version on field(s) project, version_of of model video: {LOCKED}": (
        STOPPED_FOR_0_4
    ),
    "evaluation.0030_public_item_lists: Raw Python operation: "
    "rows are locked meanwhile; say in ALLOWED why they are few": "a release has one public page at most",
}

GONE = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.AlterUniqueTogether,
)
HARMLESS = (
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.CreateModel,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    migrations.RemoveConstraint,
)


def number(name: str) -> int:
    return int(name.partition("_")[0])


def complaints(operations: list[Operation], app: str, state: ProjectState) -> Iterator[str]:
    """What the operations do to tables that were there before; `state` is as it was, and moves on with them."""
    new = {operation.name_lower for operation in operations if isinstance(operation, migrations.CreateModel)}
    for operation in operations:
        before = state.clone()
        operation.state_forwards(app, state)
        table = str(getattr(operation, "model_name", "") or getattr(operation, "name", "")).lower()
        if table not in new and (why := complaint(operation, app, table, before, state)):
            yield f"{operation.describe()}: {why}"


def complaint(operation: Operation, app: str, table: str, before: ProjectState, after: ProjectState) -> str:
    match operation:
        case _ if isinstance(operation, GONE):
            return GONE_TOO_SOON
        case migrations.AddField(field=field):
            fills = field.null or field.many_to_many or field.has_db_default()
            return "" if fills else "the version before does not fill it; give it null=True or a db_default"
        case migrations.AlterField(name=name):
            return altered(*(state.models[app, table].get_field(name) for state in (before, after)))
        case migrations.AddIndex() | migrations.AddConstraint():
            return LOCKED
        case migrations.RunPython() | migrations.RunSQL():
            back = getattr(operation, "reverse_code", None) or getattr(operation, "reverse_sql", None)
            return "rows are locked meanwhile; say in ALLOWED why they are few" if back else "it has no way back"
        case migrations.SeparateDatabaseAndState(database_operations=[], state_operations=changes):
            # The model has a new name in Python alone: its table stays as it is.
            renames = all(isinstance(each, migrations.RenameModel | migrations.AlterModelTable) for each in changes)
            return "" if renames else "say in ALLOWED why the tables need not change"
        case _ if isinstance(operation, HARMLESS):
            return ""
    return "an operation that nobody thought about; add it to tests/test_migrations.py"


def altered(old: models.Field, new: models.Field) -> str:
    if new.null < old.null and not new.has_db_default():
        return "the version before may leave it empty; let it be filled for a release first"
    shorter = (new.max_length or 0) < (old.max_length or 0)
    if old.get_internal_type() != new.get_internal_type() or shorter:
        return "the column is written anew, under a lock; add another one and fill it"
    return "the table is locked for its new index" if (new.unique, new.db_index) > (old.unique, old.db_index) else ""


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    # Tables of tests are made from the models: until then the settings name no migrations.
    with override_settings(MIGRATION_MODULES={}):
        return MigrationLoader(None, replace_migrations=False)


@pytest.mark.parametrize("app", APPS)
def test_what_changes_tables_that_are_served_is_harmless_or_has_its_reason(app, loader):
    found = set()
    for key in sorted(key for key in loader.disk_migrations if key[0] == app and number(key[1]) > SQUASHED):
        needed = [loader.check_key(one, app) for one in loader.disk_migrations[key].dependencies]
        state = loader.project_state([one for one in needed if one is not None])
        said = complaints(list(loader.disk_migrations[key].operations), app, state)
        found |= {f"{app}.{key[1]}: {one}" for one in said}
    allowed = {row for row in ALLOWED if row.startswith(f"{app}.")}
    assert found - allowed == set()
    assert allowed - found == set(), "rows of ALLOWED that allow nothing"
    assert all(ALLOWED[row] for row in allowed)


def test_the_apps_are_all_of_ours(loader):
    paths = {label: Path(apps.get_app_config(label).path) for label, _ in loader.disk_migrations}
    ours = {label for label, path in paths.items() if path.parent in {ROOT, ROOT / "foilworks" / "core"}}
    assert ours == set(APPS)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (migrations.RemoveField("video", "width"), "still asks for it"),
        (migrations.RenameField("video", "width", "wide"), "still asks for it"),
        (migrations.DeleteModel("takedown"), "still asks for it"),
        (migrations.AddField("video", "x", models.IntegerField(default=0)), "does not fill it"),
        (migrations.AlterField("video", "width", models.PositiveIntegerField()), "may leave it empty"),
        (migrations.AlterField("video", "key", models.CharField(max_length=20)), "written anew"),
        (migrations.AlterField("video", "key", models.TextField()), "written anew"),
        (migrations.AlterField("video", "key", models.CharField(max_length=200, unique=True)), "new index"),
        (migrations.AddIndex("video", models.Index(fields=["movie"], name="i")), "locked meanwhile"),
        (migrations.RunPython(lambda *_: None), "no way back"),
        (migrations.RunPython(lambda *_: None, migrations.RunPython.noop), "rows are locked"),
        (migrations.AddField("video", "x", models.IntegerField(null=True)), None),
        (migrations.AddField("video", "x", models.IntegerField(db_default=0)), None),
        (migrations.AlterField("video", "key", models.CharField(max_length=300)), None),
        (migrations.CreateModel("new", [("id", models.BigAutoField(primary_key=True))]), None),
    ],
    # Without what changes from process to process: the address of a function.
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_rule_finds_what_it_is_for(operation, words, loader):
    state = loader.project_state([("corpus", "0001_squashed_0_2")])
    said = list(complaints([operation], "corpus", state))
    assert len(said) == (0 if words is None else 1), said
    assert all((words or "") in one for one in said)


def test_a_new_table_may_have_anything(loader):
    state = loader.project_state([("corpus", "0001_squashed_0_2")])
    made = migrations.CreateModel("new", [("id", models.BigAutoField(primary_key=True))])
    index = migrations.AddIndex("new", models.Index(fields=["id"], name="i"))
    assert list(complaints([made, index], "corpus", state)) == []


def test_no_key_has_an_index_that_another_one_begins_with():
    """A fifth of what an import wrote were such indexes (decision 58)."""
    twice = []
    for app in APPS:
        for model in apps.get_app_config(app).get_models():
            whole = [one for one in [*model._meta.indexes, *model._meta.constraints] if getattr(one, "fields", None)]
            leads = {one.fields[0].lstrip("-") for one in whole if one.condition is None}
            keys = [field for field in model._meta.local_fields if isinstance(field, models.ForeignKey)]
            twice += [str(field) for field in keys if field.db_index and not field.unique and field.name in leads]
    assert twice == []
