"""Define the addresses of a project's overview and of its plan."""

from django.urls import path

from foilworks.site.dashboard.plan_views import plan, target
from foilworks.site.dashboard.views import dashboard, dashboard_count, dashboard_runs

app_name = "dashboard"
urlpatterns = [
    path("projects/<slug:slug>/", dashboard, name="dashboard"),
    path("projects/<slug:slug>/live/", dashboard_runs, name="dashboard_runs"),
    path("projects/<slug:slug>/count/", dashboard_count, name="dashboard_count"),
    path("projects/<slug:slug>/plan/", plan, name="plan"),
    path("projects/<slug:slug>/plan/target/", target, name="target"),
]
