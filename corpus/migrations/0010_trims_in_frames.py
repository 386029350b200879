from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0009_item_facts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="video",
            name="start_time",
            field=models.FloatField(blank=True, help_text="seconds, pts or frames, as the time unit says", null=True),
        ),
        migrations.AlterField(
            model_name="video",
            name="time_unit",
            field=models.CharField(
                choices=[("sec", "sec"), ("pts", "pts"), ("frames", "frames")], default="sec", max_length=6
            ),
        ),
    ]
