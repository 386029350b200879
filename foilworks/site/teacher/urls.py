"""Define the addresses of trainings by LLM-teacher."""

from django.urls import path

from foilworks.site.teacher.views import (
    comparison,
    comparison_file,
    read_another,
    reading,
    reading_file,
    resume,
    training,
    training_curve,
    trainings,
)

app_name = "teacher"
urlpatterns = [
    path("projects/<slug:slug>/teacher/", trainings, name="teacher"),
    path("projects/<slug:slug>/teacher/<int:pk>/", training, name="teacher_training"),
    path("projects/<slug:slug>/teacher/<int:pk>/curve.svg", training_curve, name="teacher_curve"),
    path("projects/<slug:slug>/teacher/<int:pk>/resume/", resume, name="teacher_resume"),
    path("projects/<slug:slug>/teacher/<int:pk>/read/", read_another, name="teacher_read"),
    path("projects/<slug:slug>/teacher/<int:pk>/releases/<int:release>/", reading, name="teacher_reading"),
    path(
        "projects/<slug:slug>/teacher/<int:pk>/releases/<int:release>/results.<slug:extension>",
        reading_file,
        name="teacher_reading_file",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/teacher/", comparison, name="teacher_comparison"),
    path("projects/<slug:slug>/releases/<int:pk>/teacher.csv", comparison_file, name="teacher_comparison_file"),
]
