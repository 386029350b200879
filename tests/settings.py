"""The settings of the product, and an app with the jobs that tests queue."""

from foilworks.site.settings import *  # noqa: F403
from foilworks.site.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.jobs"]
