"""Define the addresses of scoring runs, their scores and model cards."""

from django.urls import path

from evaluation.scoring import views

app_name = "scoring"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/scores/", views.bring, name="bring_scores"),
    path("projects/<slug:slug>/releases/<int:pk>/rung-costs/", views.rung_costs, name="rung_costs"),
    path("projects/<slug:slug>/scoring/<int:pk>/", views.run, name="run"),
    path("projects/<slug:slug>/scoring/<int:pk>/scores/<slug:form>/", views.run_scores, name="run_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/answers/", views.answers, name="answers"),
    path("projects/<slug:slug>/scoring/<int:pk>/answers.jsonl", views.answers_file, name="answers_file"),
    path("projects/<slug:slug>/scoring/<int:pk>/card/", views.model_card, name="model_card"),
    path("projects/<slug:slug>/scoring/<int:pk>/progress/", views.run_progress, name="run_progress"),
    path("projects/<slug:slug>/scoring/<int:pk>/stop/", views.stop_run, name="stop_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/resume/", views.resume_run, name="resume_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/results.<slug:extension>", views.run_file, name="run_file"),
]
