"""Define the addresses of the evidence ladder."""

from django.urls import path

from evaluation.ladder import views

app_name = "ladder"
urlpatterns = [
    path("projects/<slug:slug>/scoring/<int:pk>/ladder/", views.run_ladder, name="run_ladder"),
    path("projects/<slug:slug>/scoring/<int:pk>/ladder/controls/", views.controls, name="add_controls"),
    path("projects/<slug:slug>/scoring/<int:pk>/ladder.<slug:extension>", views.run_file, name="run_ladder_file"),
    path("projects/<slug:slug>/releases/<int:pk>/ladder/", views.release_ladder, name="release_ladder"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/ladder.<slug:extension>", views.release_file, name="release_ladder_file"
    ),
]
