"""Delete cached results when a person is erased; `evaluation.apps` loads this at the start of each process."""

from evaluation.cached_results.models import CachedResult
from foilworks.core.projects.personal_data import on_erased

# Cached reports name people. The next request computes them again, under pseudonyms.
on_erased(lambda worked, _archived: CachedResult.objects.filter(project__in=worked).delete())
