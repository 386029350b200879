from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0003_blind_bar"),
    ]

    operations = [
        migrations.AddField(
            model_name="subtest",
            name="stop_early",
            field=models.BooleanField(default=False),
        ),
    ]
