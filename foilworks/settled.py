"""What a process that stays has loaded when it begins its work."""

import gc

# New containers between two looks for rings among them: a request makes some thousands, nearly all without rings.
NEW_OBJECTS = 20_000


def settle() -> None:
    """Python's collector walks over what comes from now on, and no longer over the modules, classes and tables that
    are there for good: some million objects, and a tenth to a fifth of the processor time of a request or an import.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 20, 20)
