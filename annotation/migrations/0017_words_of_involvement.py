from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_squashed_0_2"),
    ]

    operations = [
        migrations.AlterField(
            model_name="involvement",
            name="kind",
            field=models.CharField(
                choices=[
                    ("made", "wrote, edited or fixed"),
                    ("reviewed", "reviewed"),
                    ("judged", "validated or took the human baseline"),
                    ("settled", "settled a disputed item or a caption in doubt"),
                ],
                max_length=8,
            ),
        ),
    ]
