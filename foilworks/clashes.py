"""Notice files and folders of others that hide a package of Foilworks.

Python searches the folder of a script before the installed packages, so a script's own `evaluation.py` hides ours.
"""

from importlib.util import find_spec
from pathlib import Path

# Installed beside `foilworks` under their own names (docs/decisions/0130-floors.md).
APPS = ("annotation", "evaluation", "generation")
OUR_FOLDER = Path(__file__).resolve().parent.parent


def require_own_packages(*names: str) -> None:
    """Check that each package is the one beside this one. ImportError: a file or folder of another hides it."""
    for name in names:
        spec = find_spec(name)
        path = Path(spec.origin) if spec and spec.origin else None
        if path is None or path.resolve() != OUR_FOLDER / name / "__init__.py":
            where = path or f"a folder '{name}' without __init__.py"
            raise ImportError(
                f"{where} hides the package '{name}' of Foilworks; rename it, or start Python in another folder",
                name=name,
            )
