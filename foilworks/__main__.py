"""Run `python -m foilworks`: the same as the `foilworks` console script, where that is not on the PATH."""

from foilworks.site.cli import main

main()
