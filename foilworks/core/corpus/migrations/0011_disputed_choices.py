"""Make room for the word "disputed": a verdict had seven characters at most."""

from django.db import migrations, models

from foilworks.core.corpus.rules.states import FoilVerdict


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0001_squashed_0_2"),
    ]

    operations = [
        migrations.AlterField(
            model_name="item",
            name="state",
            field=models.CharField(
                choices=[
                    ("in_validation", "in_validation"),
                    ("valid", "valid"),
                    ("invalid", "invalid"),
                    ("disputed", "disputed"),
                    ("requeued", "requeued"),
                    ("retracted", "retracted"),
                ],
                max_length=13,
            ),
        ),
        migrations.AlterField(
            model_name="foil",
            name="verdict",
            field=models.CharField(
                choices=[
                    ("pending", "pending"),
                    ("valid", "valid"),
                    ("invalid", "invalid"),
                    ("disputed", "disputed"),
                ],
                default=FoilVerdict["PENDING"],
                max_length=8,
            ),
        ),
    ]
