"""Addresses of the leaderboard and of comparisons of two runs."""

from django.urls import path

from evaluation.board.views.compare import compare_file, compare_page
from evaluation.board.views.leaderboard import leaderboard_file, leaderboard_page

app_name = "board"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/leaderboard/", leaderboard_page, name="leaderboard"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/leaderboard.<slug:extension>", leaderboard_file, name="leaderboard_file"
    ),
    path("projects/<slug:slug>/releases/<int:pk>/compare/", compare_page, name="compare"),
    path("projects/<slug:slug>/releases/<int:pk>/compare.csv", compare_file, name="compare_file"),
]
