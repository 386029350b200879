"""Move models that projects trained into a folder per project. A link at the old place keeps stored names valid."""

import os
import shutil
from pathlib import Path

from django.conf import settings
from django.db import migrations


def move_models(apps, _schema):
    root = Path(settings.MODEL_ROOT)
    trainings, tunings = apps.get_model("evaluation", "TeacherTraining"), apps.get_model("generation", "Tuning")
    for pk, project_id, spec in trainings.objects.values_list("pk", "project_id", "model_spec"):
        move(root, f"teaching/{pk}", project_id, f"teaching/{pk}")
        name = Path(spec.partition(":")[2].partition("?")[0]).name
        if name:
            move(root, f"taught/{name}", project_id, f"taught/{name}")
    for pk, project_id, folder in tunings.objects.values_list("pk", "project_id", "folder"):
        move(root, f"tuning/{pk}", project_id, f"tuning/{pk}")
        if folder:
            move(root, folder, project_id, folder)
    for path in root.glob("demo-*/*"):
        number = path.parent.name.removeprefix("demo-")
        if number.isdecimal():
            move(root, f"demo-{number}/{path.name}", int(number), path.name)


def move(root, old_name, project_id, name):
    """A second project with the same model gets a copy, whose files are links to the first one's."""
    old, new = root / old_name, root / "projects" / str(project_id) / name
    if new.exists() or not old.is_dir():
        return
    new.parent.mkdir(parents=True, exist_ok=True)
    if old.is_symlink():
        shutil.copytree(old.resolve(), new, copy_function=os.link)
        return
    old.rename(new)
    old.symlink_to(os.path.relpath(new, old.parent))


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0026_score_parts"), ("generation", "0014_without_hints")]

    operations = [migrations.RunPython(move_models, migrations.RunPython.noop)]
