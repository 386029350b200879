"""Measure the processor time of groups of processes: on a busy machine it says more than wall time."""

import threading
import time
from collections.abc import Mapping

import numpy as np
import psutil

EVERY_S = 1.0


class Meter(threading.Thread):
    """`roots`: the first process of each group. A process whose title begins with an entry of `titles` is counted there
    instead, wherever it is; "others" is what the rest of the machine used."""

    def __init__(self, roots: Mapping[str, int], titles: Mapping[str, str]) -> None:
        super().__init__(daemon=True)
        self._roots = {pid: group for group, pid in roots.items()}
        self._titles, self._over = titles, threading.Event()
        self._groups: dict[int, str] = {}
        # Seconds of each process, also of those that have ended.
        self._spent: dict[int, float] = {}
        self._samples: list[tuple[float, float, dict[str, float]]] = []

    def __enter__(self) -> "Meter":
        self._look()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()
        self._look()

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            self._look()

    def _look(self) -> None:
        parents: dict[int, int] = {}
        for process in psutil.process_iter(["ppid", "cpu_times", "name"]):
            told = process.info
            if told["cpu_times"] is None:
                continue
            parents[process.pid] = told["ppid"]
            self._spent[process.pid] = told["cpu_times"].user + told["cpu_times"].system
            titled = next((group for title, group in self._titles.items() if told["name"].startswith(title)), "")
            if titled:
                self._groups[process.pid] = titled
        for pid in parents:
            self._groups.setdefault(pid, self._group(pid, parents))
        sums: dict[str, float] = {}
        for pid, seconds in self._spent.items():
            group = self._groups.get(pid, "")
            sums[group] = sums.get(group, 0.0) + seconds
        all_of_it = psutil.cpu_times()
        idle = all_of_it.idle + getattr(all_of_it, "iowait", 0.0)
        self._samples.append((time.time(), idle, sums))

    def _group(self, pid: int, parents: Mapping[int, int]) -> str:
        while pid and pid not in self._roots:
            pid = parents.get(pid, 0)
        return self._roots.get(pid, "")

    def between(self, begin: float, end: float) -> tuple[dict[str, float], float]:
        """Return the seconds that each group used between two times, and the share of the processors that was idle."""
        times = [at for at, _, _ in self._samples]

        def spent(values: list[float]) -> float:
            first, last = np.interp([begin, end], times, values)
            return float(last - first)

        groups = sorted(set(self._roots.values()) | set(self._titles.values()))
        found = {group: spent([sums.get(group, 0.0) for _, _, sums in self._samples]) for group in groups}
        idle = spent([idle for _, idle, _ in self._samples])
        return found, idle / (end - begin) / (psutil.cpu_count() or 1)
