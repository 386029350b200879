"""Telling that a device ran out of memory, and giving back what a library keeps of it. Imports no model library."""

import gc
import sys

# What torch, numpy and CUDA's libraries write where they cannot allocate.
SIGNS = ("out of memory", "can't allocate memory", "not enough memory", "cublas_status_alloc_failed")


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether a smaller batch may go through where this error came: torch raises RuntimeErrors of several kinds."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in SIGNS)


def release_memory() -> None:
    """Return what is no longer used to the device: call it where the error's own variables are gone."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        # Where it helps: a collection of a whole process takes a second.
        gc.collect()
        torch.cuda.empty_cache()
