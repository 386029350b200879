"""Cards of the human baseline and the object check. Plain data; which text is the caption is not in them."""

from dataclasses import dataclass

from annotation.models import Lease, Task
from annotation.rules.baseline import CAPTION
from corpus.models import Foil


@dataclass(frozen=True)
class BaselineWork:
    """The texts in the order kept with the lease."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class ObjectsWork:
    """A still and the objects that something says are in it."""

    frame_id: int
    objects: tuple[str, ...]


def baseline_work(task: Task, lease: Lease) -> BaselineWork:
    """One query; the task comes with its item's caption."""
    texts = dict(Foil.objects.filter(item=task.item_id).values_list("pk", "text"))
    texts[CAPTION] = task.item.caption.text
    return BaselineWork(tuple(texts[name] for name in lease.order_shown or []))


def objects_work(task: Task) -> ObjectsWork:
    """The task comes with its frame."""
    return ObjectsWork(task.frame_id, tuple(task.frame.objects_named))
