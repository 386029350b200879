from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0015_no_index_twice"),
    ]

    operations = [
        migrations.AddField(
            model_name="task",
            name="foils_asked",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
