"""Rename the model of student evaluations; its table keeps its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0016_cached_results")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("TeacherReading", "StudentEvaluation"),
                migrations.AlterModelTable("StudentEvaluation", "evaluation_teacherreading"),
            ]
        )
    ]
