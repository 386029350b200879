from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_shares_of_reviews"),
    ]

    operations = [
        migrations.AddField(
            model_name="lease",
            name="upcoming_slot",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
