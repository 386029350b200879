"""Remove hints (decision 131). A foil still names the models whose hints its writer saw, in its facts."""

from collections import defaultdict

from django.db import migrations


def name_models_in_foils(apps, schema_editor):
    """Write the models of the hints to the facts of the foils that these people wrote for these captions."""
    models = defaultdict(set)
    shown = apps.get_model("generation", "HintShown").objects.exclude(hint__model_key="")
    for person, caption, model in shown.values_list("person", "hint__caption", "hint__model_key"):
        models[person, caption].add(model)
    candidates = apps.get_model("generation", "Candidate").objects
    for (person, caption), names in sorted(models.items()):
        for candidate in candidates.filter(author=person, group__caption=caption):
            candidate.facts = {**candidate.facts, "hints": sorted(names)}
            candidate.save(update_fields=["facts"])


class Migration(migrations.Migration):
    dependencies = [("generation", "0013_sampled_scores")]

    operations = [
        # The other way, the names stay where they are: 0.3 shows facts as they are.
        migrations.RunPython(name_models_in_foils, migrations.RunPython.noop),
        migrations.DeleteModel("HintShown"),
        migrations.DeleteModel("Hint"),
        migrations.DeleteModel("HintModel"),
    ]
