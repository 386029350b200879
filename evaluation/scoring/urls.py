"""Addresses of scoring runs, their scores and model cards."""

from django.urls import path

from evaluation.scoring.views.import_scores import bring
from evaluation.scoring.views.model_card import model_card
from evaluation.scoring.views.run import resume_run, run, run_file, run_progress, stop_run
from evaluation.scoring.views.run_scores import run_scores

app_name = "scoring"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/scores/", bring, name="bring_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/", run, name="run"),
    path("projects/<slug:slug>/scoring/<int:pk>/scores/<slug:form>/", run_scores, name="run_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/card/", model_card, name="model_card"),
    path("projects/<slug:slug>/scoring/<int:pk>/progress/", run_progress, name="run_progress"),
    path("projects/<slug:slug>/scoring/<int:pk>/stop/", stop_run, name="stop_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/resume/", resume_run, name="resume_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/results.<slug:extension>", run_file, name="run_file"),
]
