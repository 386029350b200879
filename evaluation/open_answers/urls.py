"""Define the addresses of open answers: their board, and the sample that people judge."""

from django.urls import path

from evaluation.open_answers import views

app_name = "open_answers"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/open-answers/", views.open_board, name="board"),
    path("projects/<slug:slug>/open-answers/<int:pk>/sample/", views.sample, name="sample"),
]
