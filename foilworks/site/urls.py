"""List all URLs; each of them has a rule in tests/test_access_matrix.py."""

from django.urls import include, path, re_path

from foilworks.core.projects.urls import oidc_urls
from foilworks.site.api.api import api_urls, unknown
from foilworks.site.api.docs_page import api_docs
from foilworks.site.views import administration, audit, design, documentation, healthz, home, search

urlpatterns = [
    # First: programs send most requests, and each pattern before theirs takes time.
    path("api/docs/", api_docs, name="api_docs"),
    path("api/v1/", api_urls),
    re_path(r"^api/v1/", unknown, name="api_unknown"),
    path("", home.home, name="home"),
    path("healthz", healthz.healthz, name="healthz"),
    path("readyz", healthz.readyz, name="readyz"),
    path("metrics", healthz.metrics, name="metrics"),
    path("help/", documentation.show, name="help"),
    path("help/<path:name>/", documentation.show, name="help_page"),
    path("audit/", audit.audit, name="audit"),
    path("administration/", administration.administration, name="administration"),
    path("design/", design.design, name="design"),
    path("projects/<slug:slug>/search/", search.search_project, name="search"),
    *oidc_urls,
    path("", include("foilworks.core.projects.urls")),
    path("", include("foilworks.core.corpus.urls")),
    path("", include("generation.urls")),
    path("", include("annotation.urls")),
    path("", include("annotation.erasure.urls")),
    path("", include("annotation.choices.urls")),
    path("", include("annotation.pairs.urls")),
    path("", include("foilworks.site.dashboard.urls")),
    path("", include("foilworks.site.imports.urls")),
    path("", include("evaluation.items.urls")),
    path("", include("evaluation.reports.urls")),
    path("", include("evaluation.blind.urls")),
    path("", include("evaluation.releases.urls")),
    path("", include("evaluation.scoring.urls")),
    path("", include("foilworks.site.exports.urls")),
    path("", include("evaluation.board.urls")),
    path("", include("evaluation.ladder.urls")),
    path("", include("evaluation.proximity.urls")),
    path("", include("evaluation.open_answers.urls")),
    path("", include("foilworks.site.publishing.urls")),
    path("", include("foilworks.site.teacher.urls")),
    path("", include("evaluation.utd.urls")),
]

handler500 = "foilworks.site.views.home.crashed"
