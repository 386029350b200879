"""The tables of 0.1.0 (4fafc4b), in place of the migrations that led to them."""

import annotation.models.quality
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("annotation", "0001_initial"),
        ("annotation", "0002_initial"),
        ("annotation", "0003_initial"),
        ("annotation", "0004_leases"),
        ("annotation", "0005_hand_in_a_video"),
        ("annotation", "0006_drafts"),
        ("annotation", "0007_stages_of_people"),
        ("annotation", "0008_baseline_and_object_check"),
        ("annotation", "0009_shares_of_reviews"),
        ("annotation", "0010_upcoming_slot"),
        ("annotation", "0011_hard_to_fool"),
        ("annotation", "0012_pay_and_declined_videos"),
        ("annotation", "0013_counts_of_a_stage"),
        ("annotation", "0014_pseudonyms_of_files"),
        ("annotation", "0015_no_index_twice"),
        ("annotation", "0016_foils_of_a_baseline"),
    ]

    dependencies = [
        ("corpus", "0001_squashed_0_2"),
        ("generation", "0001_squashed_0_2"),
        ("projects", "0001_squashed_0_2"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "of_stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("pass_share", models.FloatField(default=0.0)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("passed", models.BooleanField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="projects.project",
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="corpus.subtest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DeclinedVideo",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="declined_videos",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FrameObjects",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("time", models.FloatField(blank=True, null=True)),
                ("objects_named", models.JSONField()),
                ("source", models.CharField(max_length=100)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frame_objects",
                        to="projects.project",
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="frame_objects", to="corpus.video"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GoldPair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "use",
                    models.CharField(
                        choices=[
                            ("mixed", "mixed in among real work"),
                            ("qualification", "qualification"),
                            ("practice", "practice"),
                        ],
                        max_length=13,
                    ),
                ),
                ("caption_text", models.TextField()),
                ("foil_text", models.TextField()),
                (
                    "answer",
                    models.CharField(
                        choices=[
                            ("caption", "only the caption"),
                            ("foil", "only the foil"),
                            ("neither", "neither"),
                            ("both", "both"),
                            ("cannot_tell", "cannot tell"),
                        ],
                        max_length=11,
                    ),
                ),
                ("explanation", models.TextField(blank=True, help_text="Shown after the answer in practice.")),
                ("mismatched", models.BooleanField(default=False)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "foil",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.foil",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_pairs",
                        to="corpus.item",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_pairs",
                        to="projects.project",
                    ),
                ),
                (
                    "said_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="gold_pairs", to="corpus.subtest"
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ExpertLabel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("caption_first", models.BooleanField()),
                (
                    "choice",
                    models.CharField(
                        choices=[
                            ("caption", "only the caption"),
                            ("foil", "only the foil"),
                            ("neither", "neither"),
                            ("both", "both"),
                            ("cannot_tell", "cannot tell"),
                        ],
                        max_length=11,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="annotation.goldpair",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Guideline",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField(help_text="Markdown; lists of + and - lines hold good and bad examples.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="guidelines", to="projects.project"
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="guidelines",
                        to="corpus.subtest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Involvement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("made", "wrote, edited or fixed"),
                            ("reviewed", "reviewed"),
                            ("judged", "validated or took the human baseline"),
                            ("settled", "settled a split or a caption in doubt"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="generation.candidategroup",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="involvements",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project"
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObjectCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=100)),
                ("seed", models.PositiveIntegerField(default=0)),
                ("overlap", models.PositiveSmallIntegerField(default=1)),
                ("opened_at", models.DateTimeField()),
                (
                    "opened_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="object_checks", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CheckedFrame",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("time", models.FloatField()),
                ("objects_named", models.JSONField()),
                ("image", models.FileField(blank=True, max_length=300, upload_to="")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting for its picture"), ("ready", "ready"), ("broken", "broken")],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("error", models.CharField(blank=True, max_length=500)),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
                (
                    "check_of",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frames",
                        to="annotation.objectcheck",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObjectError",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField()),
                (
                    "error_class",
                    models.CharField(
                        choices=[
                            ("attribute", "attribute error"),
                            ("misclassification", "misclassification"),
                            ("hallucination", "hallucination"),
                            ("mistake", "annotation mistake: it is visible"),
                            ("other", "other"),
                        ],
                        max_length=17,
                    ),
                ),
                ("classed_at", models.DateTimeField()),
                (
                    "classed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "frame",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="errors_classed",
                        to="annotation.checkedframe",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PayPolicy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "currency",
                    models.CharField(
                        default="EUR",
                        max_length=3,
                        validators=[
                            django.core.validators.RegexValidator("^[A-Z]{3}$", "Three capital letters, such as EUR.")
                        ],
                    ),
                ),
                (
                    "floor",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        max_digits=8,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pay_policy", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PayRate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                ("unit", models.CharField(choices=[("piece", "piece"), ("hour", "hour")], max_length=5)),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=4,
                        max_digits=10,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pay_rates",
                        to="projects.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PracticeCaption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("examples", models.JSONField(help_text="Foils by an expert, one a line.")),
                ("explanation", models.TextField(blank=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "caption",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.caption"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="practice_captions",
                        to="projects.project",
                    ),
                ),
                (
                    "said_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="practice_captions",
                        to="corpus.subtest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="QualityPolicy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "secret",
                    models.PositiveBigIntegerField(default=annotation.models.quality.new_secret, editable=False),
                ),
                (
                    "gold_rate",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(0.5),
                        ],
                    ),
                ),
                (
                    "gold_min",
                    models.PositiveSmallIntegerField(
                        default=4, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "careful_accuracy",
                    models.FloatField(
                        default=0.92,
                        validators=[
                            django.core.validators.MinValueValidator(0.5),
                            django.core.validators.MaxValueValidator(0.99),
                        ],
                    ),
                ),
                (
                    "guess_accuracy",
                    models.FloatField(
                        default=0.5,
                        validators=[
                            django.core.validators.MinValueValidator(0.05),
                            django.core.validators.MaxValueValidator(0.95),
                        ],
                    ),
                ),
                (
                    "false_pauses",
                    models.FloatField(
                        default=0.02,
                        validators=[
                            django.core.validators.MinValueValidator(0.0001),
                            django.core.validators.MaxValueValidator(0.2),
                        ],
                    ),
                ),
                (
                    "position_min",
                    models.PositiveSmallIntegerField(
                        default=10, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "fast_share",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "fast_min",
                    models.PositiveSmallIntegerField(
                        default=8, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                ("practice_open", models.BooleanField(default=False)),
                ("qualification_open", models.BooleanField(default=False)),
                ("qualification_required", models.BooleanField(default=False)),
                (
                    "test_length",
                    models.PositiveSmallIntegerField(
                        default=10, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "pass_share",
                    models.FloatField(
                        default=0.9,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "mismatched_share",
                    models.FloatField(
                        default=0.3,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "tries",
                    models.PositiveSmallIntegerField(
                        default=2, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="quality", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField()),
                ("caption_first", models.BooleanField(blank=True, null=True)),
                (
                    "choice",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("caption", "only the caption"),
                            ("foil", "only the foil"),
                            ("neither", "neither"),
                            ("both", "both"),
                            ("cannot_tell", "cannot tell"),
                        ],
                        max_length=11,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("right", models.BooleanField(blank=True, null=True)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("seconds_spent", models.FloatField(blank=True, null=True)),
                ("watch", models.JSONField(blank=True, default=dict)),
                (
                    "attempt",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotation.attempt",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotation.goldpair",
                    ),
                ),
                (
                    "practice",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotation.practicecaption",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReviewPolicy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rate",
                    models.FloatField(
                        default=1.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share of the edits that is reviewed",
                    ),
                ),
                (
                    "second_share",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share of the reviews that is done twice",
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="review_policy", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReviewRate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rate",
                    models.FloatField(
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ]
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_rates",
                        to="projects.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                ("index", models.PositiveBigIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("free", "Free"), ("leased", "Leased"), ("done", "Done"), ("cancelled", "Cancelled")],
                        default="free",
                        max_length=9,
                    ),
                ),
                ("reserved_until", models.DateTimeField(blank=True, null=True)),
                ("token", models.CharField(blank=True, max_length=43)),
                ("leased_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("priority", models.FloatField(default=1.0)),
                (
                    "item",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="corpus.item",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project"
                    ),
                ),
                (
                    "reserved_for",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("idempotency_key", models.CharField(max_length=64)),
                ("watch", models.JSONField(blank=True, default=dict)),
                ("seconds_spent", models.FloatField(blank=True, null=True)),
                ("late", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("accept", "accept"),
                            ("send_back", "send back"),
                            ("drop", "drop"),
                            ("fix", "fix and accept"),
                        ],
                        max_length=9,
                    ),
                ),
                ("reasons", models.JSONField(blank=True, default=list)),
                ("comment", models.TextField(blank=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("second", models.BooleanField(default=False)),
                (
                    "candidate",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reviews", to="generation.candidate"
                    ),
                ),
                (
                    "child",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="generation.candidate",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="%(class)ss",
                        to="annotation.slot",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObjectAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("idempotency_key", models.CharField(max_length=64)),
                ("watch", models.JSONField(blank=True, default=dict)),
                ("seconds_spent", models.FloatField(blank=True, null=True)),
                ("late", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("visible", models.JSONField()),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "frame",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="annotation.checkedframe",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="object_answers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="%(class)ss",
                        to="annotation.slot",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Edit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("idempotency_key", models.CharField(max_length=64)),
                ("watch", models.JSONField(blank=True, default=dict)),
                ("seconds_spent", models.FloatField(blank=True, null=True)),
                ("late", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("texts", models.JSONField()),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "candidates",
                    models.ManyToManyField(blank=True, related_name="submitted_in", to="generation.candidate"),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="edits",
                        to="generation.candidategroup",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="edits",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="%(class)ss",
                        to="annotation.slot",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Standing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "active"), ("paused", "paused")], default="active", max_length=6
                    ),
                ),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                (
                    "paused_why",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("gold", "gold"),
                            ("position", "position"),
                            ("speed", "speed"),
                            ("researcher", "researcher"),
                        ],
                        max_length=10,
                    ),
                ),
                ("paused_note", models.CharField(blank=True, max_length=500)),
                ("set_aside_at", models.DateTimeField(blank=True, null=True)),
                ("qualified_at", models.DateTimeField(blank=True, null=True)),
                ("counted_from", models.DateTimeField(default=django.utils.timezone.now)),
                ("gold_seen", models.PositiveIntegerField(default=0)),
                ("gold_right", models.PositiveIntegerField(default=0)),
                ("first", models.PositiveIntegerField(default=0)),
                ("second", models.PositiveIntegerField(default=0)),
                ("timed", models.PositiveIntegerField(default=0)),
                ("fast", models.PositiveIntegerField(default=0)),
                ("served", models.PositiveIntegerField(default=0)),
                ("gold_stretch", models.IntegerField(default=-1)),
                ("gold_served", models.PositiveIntegerField(default=0)),
                (
                    "paused_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="standings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "policy",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="standings",
                        to="annotation.qualitypolicy",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        max_length=13,
                    ),
                ),
                ("overlap", models.PositiveSmallIntegerField(default=1)),
                ("foils_asked", models.JSONField(blank=True, null=True)),
                ("second", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Done"), ("cancelled", "Cancelled")],
                        default="open",
                        max_length=9,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "candidate",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="generation.candidate",
                    ),
                ),
                (
                    "foil",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="corpus.foil",
                    ),
                ),
                (
                    "frame",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="annotation.checkedframe",
                    ),
                ),
                (
                    "gold",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="annotation.goldpair",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="generation.candidategroup",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="corpus.item",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="projects.project",
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.video"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="slot",
            name="task",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="slots", to="annotation.task"
            ),
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", models.CharField(max_length=43, unique=True)),
                ("caption_first", models.BooleanField(blank=True, null=True)),
                ("order_shown", models.JSONField(blank=True, null=True)),
                ("upcoming_slot", models.BigIntegerField(blank=True, null=True)),
                ("leased_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Running"),
                            ("submitted", "Submitted"),
                            ("skipped", "Skipped"),
                            ("expired", "Expired"),
                            ("refused", "Refused"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="",
                        max_length=9,
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="leases", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="leases", to="annotation.slot"
                    ),
                ),
                (
                    "standing",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.standing",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="leases",
                        to="annotation.task",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("payload", models.JSONField()),
                ("updated_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to="annotation.task"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("idempotency_key", models.CharField(max_length=64)),
                ("watch", models.JSONField(blank=True, default=dict)),
                ("seconds_spent", models.FloatField(blank=True, null=True)),
                ("late", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("edit", "edit"),
                            ("review", "review"),
                            ("validation", "validation"),
                            ("baseline", "human baseline"),
                            ("objects", "object check"),
                            ("practice", "practice"),
                            ("qualification", "qualification"),
                            ("gold", "gold"),
                        ],
                        default="validation",
                        max_length=13,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[("person", "Person"), ("import", "Import")], default="person", max_length=6
                    ),
                ),
                ("import_index", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("imported_as", models.CharField(blank=True, max_length=100)),
                (
                    "choice",
                    models.CharField(
                        choices=[
                            ("caption", "only the caption"),
                            ("foil", "only the foil"),
                            ("neither", "neither"),
                            ("both", "both"),
                            ("cannot_tell", "cannot tell"),
                            ("other", "other"),
                        ],
                        max_length=11,
                    ),
                ),
                ("caption_first", models.BooleanField(blank=True, null=True)),
                ("order_shown", models.JSONField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("counted", "Counted"),
                            ("surplus", "Surplus"),
                            ("set_aside", "Set Aside"),
                            ("undone", "Undone"),
                        ],
                        default="counted",
                        max_length=9,
                    ),
                ),
                ("fast", models.BooleanField(blank=True, null=True)),
                (
                    "foil",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to="corpus.foil",
                    ),
                ),
                (
                    "gold",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to="annotation.goldpair",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to="corpus.item",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="%(class)ss",
                        to="annotation.slot",
                    ),
                ),
                (
                    "standing",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="votes",
                        to="annotation.standing",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                fields=("project", "person", "stage", "of_stage", "number"), name="one_attempt_a_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("finished_at__isnull", True)),
                fields=("project", "person", "stage", "of_stage"),
                name="one_open_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="declinedvideo",
            constraint=models.UniqueConstraint(fields=("person", "video"), name="one_decline_a_video"),
        ),
        migrations.AddIndex(
            model_name="frameobjects",
            index=models.Index(fields=["project", "source", "video"], name="objects_of_a_source"),
        ),
        migrations.AddIndex(
            model_name="goldpair",
            index=models.Index(fields=["project", "use"], name="gold_of_a_use"),
        ),
        migrations.AddConstraint(
            model_name="goldpair",
            constraint=models.UniqueConstraint(
                condition=models.Q(("foil__isnull", False), ("mismatched", False)),
                fields=("project", "foil"),
                name="one_gold_pair_a_foil",
            ),
        ),
        migrations.AddConstraint(
            model_name="goldpair",
            constraint=models.UniqueConstraint(
                condition=models.Q(("mismatched", True)),
                fields=("video", "foil"),
                name="one_mismatched_pair_a_video_and_foil",
            ),
        ),
        migrations.AddConstraint(
            model_name="expertlabel",
            constraint=models.UniqueConstraint(fields=("pair", "person"), name="one_label_an_expert"),
        ),
        migrations.AddConstraint(
            model_name="guideline",
            constraint=models.UniqueConstraint(
                condition=models.Q(("subtest__isnull", False)),
                fields=("project", "subtest", "stage", "version"),
                name="one_guideline_a_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="guideline",
            constraint=models.UniqueConstraint(
                condition=models.Q(("subtest__isnull", True)),
                fields=("project", "stage", "version"),
                name="one_general_guideline_a_version",
            ),
        ),
        migrations.AddIndex(
            model_name="involvement",
            index=models.Index(fields=["person", "video", "kind"], name="hand_in_a_video"),
        ),
        migrations.AddConstraint(
            model_name="involvement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("group__isnull", False)),
                fields=("person", "video", "group", "kind"),
                name="one_involvement_a_group",
            ),
        ),
        migrations.AddConstraint(
            model_name="involvement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("group__isnull", True)),
                fields=("person", "video", "kind"),
                name="one_involvement_a_video",
            ),
        ),
        migrations.AddConstraint(
            model_name="checkedframe",
            constraint=models.UniqueConstraint(fields=("check_of", "video"), name="one_frame_a_video_in_a_check"),
        ),
        migrations.AddConstraint(
            model_name="objecterror",
            constraint=models.UniqueConstraint(fields=("frame", "place"), name="one_class_an_object"),
        ),
        migrations.AddConstraint(
            model_name="payrate",
            constraint=models.UniqueConstraint(fields=("project", "stage"), name="one_pay_rate_a_stage"),
        ),
        migrations.AddConstraint(
            model_name="practicecaption",
            constraint=models.UniqueConstraint(
                condition=models.Q(("withdrawn_at__isnull", True)),
                fields=("project", "caption"),
                name="one_practice_a_caption",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(fields=("attempt", "place"), name="one_question_a_place"),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(
                condition=models.Q(("pair__isnull", False)), fields=("attempt", "pair"), name="one_question_a_pair"
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pair__isnull", False), ("practice__isnull", True)),
                    models.Q(("pair__isnull", True), ("practice__isnull", False)),
                    _connector="OR",
                ),
                name="question_is_a_pair_or_a_caption",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("rate__range", (0.0, 1.0))), name="review_rate_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("second_share__range", (0.0, 1.0))), name="second_share_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrate",
            constraint=models.UniqueConstraint(fields=("project", "person"), name="one_review_rate_a_person"),
        ),
        migrations.AddConstraint(
            model_name="reviewrate",
            constraint=models.CheckConstraint(
                condition=models.Q(("rate__range", (0.0, 1.0))), name="own_review_rate_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.UniqueConstraint(fields=("person", "idempotency_key"), name="one_review_a_key"),
        ),
        migrations.AddConstraint(
            model_name="objectanswer",
            constraint=models.UniqueConstraint(fields=("person", "idempotency_key"), name="one_object_answer_a_key"),
        ),
        migrations.AddConstraint(
            model_name="objectanswer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("undone_at", None)),
                fields=("frame", "person"),
                name="one_object_answer_a_person_in_a_frame",
            ),
        ),
        migrations.AddConstraint(
            model_name="objectanswer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("slot__isnull", False), ("undone_at", None)),
                fields=("slot",),
                name="one_object_answer_a_slot",
            ),
        ),
        migrations.AddConstraint(
            model_name="edit",
            constraint=models.UniqueConstraint(fields=("person", "idempotency_key"), name="one_edit_a_key"),
        ),
        migrations.AddConstraint(
            model_name="standing",
            constraint=models.UniqueConstraint(fields=("policy", "person"), name="one_standing_a_person"),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(fields=["project", "stage", "state"], name="task_of_a_stage"),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("candidate__isnull", True), ("group__isnull", False), ("item__isnull", True), ("stage", "edit")
                    ),
                    models.Q(("candidate__isnull", False), ("item__isnull", True), ("stage", "review")),
                    models.Q(("foil__isnull", False), ("item__isnull", False), ("stage", "validation")),
                    models.Q(("foil__isnull", True), ("item__isnull", False), ("stage", "baseline")),
                    models.Q(("frame__isnull", False), ("item__isnull", True), ("stage", "objects")),
                    models.Q(("gold__isnull", False), ("item__isnull", True), ("stage", "gold")),
                    _connector="OR",
                ),
                name="task_has_its_target",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "edit"), ("state", "open")),
                fields=("group",),
                name="one_open_edit_task_a_group",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "review"), ("state", "open")),
                fields=("candidate", "second"),
                name="one_open_review_a_candidate",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "validation")), fields=("foil",), name="one_validation_a_foil"
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "baseline"), models.Q(("state", "cancelled"), _negated=True)),
                fields=("item",),
                name="one_baseline_an_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "objects")), fields=("frame",), name="one_object_task_a_frame"
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", "gold")), fields=("gold",), name="one_gold_task_a_pair"
            ),
        ),
        migrations.AddIndex(
            model_name="slot",
            index=models.Index(
                condition=models.Q(("state", "free")),
                fields=["project", "stage", "priority", "id"],
                name="slot_free_first",
            ),
        ),
        migrations.AddIndex(
            model_name="slot",
            index=models.Index(
                condition=models.Q(("state", "leased")), fields=["project", "expires_at"], name="slot_lease_end"
            ),
        ),
        migrations.AddIndex(
            model_name="slot",
            index=models.Index(fields=["person", "state", "stage"], name="slot_of_a_person"),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(fields=("task", "index"), name="one_slot_an_index"),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", False)),
                fields=("task", "person"),
                name="one_slot_a_person_in_a_task",
            ),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(
                condition=models.Q(("item__isnull", False), ("person__isnull", False)),
                fields=("item", "stage", "person"),
                name="one_slot_a_person_in_an_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(
                condition=models.Q(("token", ""), _negated=True), fields=("token",), name="one_slot_a_token"
            ),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(
                condition=models.Q(("ending", "skipped")), fields=["task", "person"], name="lease_skipped"
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(fields=("person", "task"), name="one_draft_a_person_in_a_task"),
        ),
        migrations.AddIndex(
            model_name="vote",
            index=models.Index(fields=["item", "state"], name="vote_of_an_item"),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", False)),
                fields=("person", "idempotency_key"),
                name="one_vote_a_key",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", False), models.Q(("state", "undone"), _negated=True)),
                fields=("item", "stage", "person"),
                name="one_vote_a_person_in_an_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                condition=models.Q(("slot__isnull", False), ("state", "counted")),
                fields=("slot",),
                name="one_counted_vote_a_slot",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                condition=models.Q(("import_index__isnull", False)),
                fields=("item", "import_index"),
                name="one_imported_vote_an_index",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                condition=models.Q(("gold__isnull", False), models.Q(("state", "undone"), _negated=True)),
                fields=("gold", "person"),
                name="one_vote_a_person_in_a_gold_pair",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("gold__isnull", True), ("item__isnull", False)),
                    models.Q(("gold__isnull", False), ("item__isnull", True), ("stage", "gold")),
                    _connector="OR",
                ),
                name="vote_is_on_an_item_or_on_gold",
            ),
        ),
    ]
