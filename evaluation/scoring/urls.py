"""Addresses of scoring runs, their scores and model cards."""

from django.urls import path

from evaluation.scoring.views import import_scores, model_card, run, run_scores

app_name = "scoring"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/scores/", import_scores.bring, name="bring_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/", run.run, name="run"),
    path("projects/<slug:slug>/scoring/<int:pk>/scores/<slug:form>/", run_scores.run_scores, name="run_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/card/", model_card.model_card, name="model_card"),
    path("projects/<slug:slug>/scoring/<int:pk>/progress/", run.run_progress, name="run_progress"),
    path("projects/<slug:slug>/scoring/<int:pk>/stop/", run.stop_run, name="stop_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/resume/", run.resume_run, name="resume_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/results.<slug:extension>", run.run_file, name="run_file"),
]
