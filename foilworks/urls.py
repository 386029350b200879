"""List all URLs; each of them has a rule in tests/test_access_matrix.py."""

from django.urls import include, path, re_path

from foilworks.api.api import api_urls, unknown
from foilworks.views import api_docs, audit, design, documentation, healthz, home, search
from projects.urls import oidc_urls

urlpatterns = [
    # First: programs send most requests, and each pattern before theirs takes time.
    path("api/docs/", api_docs.api_docs, name="api_docs"),
    path("api/", api_urls),
    re_path(r"^api/", unknown, name="api_unknown"),
    path("", home.home, name="home"),
    path("healthz", healthz.healthz, name="healthz"),
    path("readyz", healthz.readyz, name="readyz"),
    path("metrics", healthz.metrics, name="metrics"),
    path("language/", home.language, name="language"),
    path("help/", documentation.show, name="help"),
    path("help/<path:name>/", documentation.show, name="help_page"),
    path("audit/", audit.audit, name="audit"),
    path("design/", design.design, name="design"),
    path("projects/<slug:slug>/search/", search.search_project, name="search"),
    *oidc_urls,
    path("", include("projects.urls")),
    path("", include("corpus.urls")),
    path("", include("generation.urls")),
    path("", include("annotation.urls")),
    path("", include("annotation.erasure.urls")),
    path("", include("annotation.choices.urls")),
    path("", include("annotation.pairs.urls")),
    path("", include("evaluation.dashboard.urls")),
    path("", include("evaluation.imports.urls")),
    path("", include("evaluation.items.urls")),
    path("", include("evaluation.reports.urls")),
    path("", include("evaluation.blind.urls")),
    path("", include("evaluation.releases.urls")),
    path("", include("evaluation.scoring.urls")),
    path("", include("evaluation.exports.urls")),
    path("", include("evaluation.board.urls")),
    path("", include("evaluation.ladder.urls")),
    path("", include("evaluation.proximity.urls")),
    path("", include("evaluation.publishing.urls")),
    path("", include("evaluation.teacher.urls")),
    path("", include("evaluation.utd.urls")),
]

handler500 = "foilworks.views.home.crashed"
