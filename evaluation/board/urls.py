"""Addresses of the leaderboard and of comparisons of two runs."""

from django.urls import path

from evaluation.board.views import compare, leaderboard

app_name = "board"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/leaderboard/", leaderboard.leaderboard_page, name="leaderboard"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/leaderboard.<slug:extension>",
        leaderboard.leaderboard_file,
        name="leaderboard_file",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/compare/", compare.compare_page, name="compare"),
    path("projects/<slug:slug>/releases/<int:pk>/compare.csv", compare.compare_file, name="compare_file"),
]
