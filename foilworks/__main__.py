"""Run `python -m foilworks`: the same as the `foilworks` console script, where that is not on the PATH."""

import sys

from foilworks.clashes import APPS, require_own_packages

try:
    require_own_packages(*APPS)
except ImportError as error:
    sys.exit(f"foilworks: {error}")

from foilworks.site.cli import main

main()
