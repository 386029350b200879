"""Define the addresses of the leaderboard and of comparisons of two runs."""

from django.urls import path

from evaluation.board import views

app_name = "board"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/leaderboard/", views.leaderboard_page, name="leaderboard"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/leaderboard.<slug:extension>",
        views.leaderboard_file,
        name="leaderboard_file",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/compare/", views.compare_page, name="compare"),
    path("projects/<slug:slug>/releases/<int:pk>/compare/item/", views.compare_item, name="compare_item"),
    path("projects/<slug:slug>/releases/<int:pk>/compare.csv", views.compare_file, name="compare_file"),
]
