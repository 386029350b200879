"""Rename the model of detections; its table keeps its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("generation", "0009_longer_versions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Sighting", "DetectionResult"),
                migrations.AlterModelTable("DetectionResult", "generation_sighting"),
            ]
        )
    ]
