"""A real Ray cluster on this machine: each node is a process tree of its own, which a test may kill."""

import secrets
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.ports import free_port
from tests.waiting import wait_until

HOST = "127.0.0.1"
# No port has a fixed number: other tests may run beside these.
QUIET = (
    "--block",
    f"--node-ip-address={HOST}",
    "--object-store-memory=80000000",
    "--disable-usage-stats",
    "--include-log-monitor=false",
    "--min-worker-port=0",
    "--max-worker-port=0",
    "--dashboard-agent-listen-port=0",
)


class Cluster:
    """`environment`: that of all nodes, in which they find the database; a node may have more."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = {**environment, "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
        # Ray's sockets are below it, and their paths may have 107 characters.
        self.folder = Path("/tmp") / f"ray-{secrets.token_hex(4)}"
        self.address = f"{HOST}:{free_port()}"
        self.nodes: list[psutil.Popen] = []

    def start(self, cpus: int, gpus: int = 0, **more: str) -> psutil.Popen:
        """Start a node, the first one as the head; it has joined when this returns. Ray takes our word for GPUs."""
        port = self.address.partition(":")[2]
        given = [f"--address={self.address}"]
        if not self.nodes:
            given = ["--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        command = [
            Path(sys.executable).with_name("ray"),
            "start",
            *QUIET,
            *given,
            f"--num-cpus={cpus}",
            f"--num-gpus={gpus}",
        ]
        self.folder.mkdir(exist_ok=True)
        log = self.folder / f"node-{len(self.nodes)}.log"
        with log.open("wb") as file:
            environment = {**self.environment, **more}
            node = psutil.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)
        self.nodes.append(node)
        wait_until(lambda: "This command will now block" in log.read_text(), processes=[node], log=log.read_text)
        return node

    @staticmethod
    def kill(node: psutil.Popen) -> None:
        """All processes of the node at once, as a host without power."""
        tree = [node]
        with suppress(psutil.Error):
            tree += node.children(recursive=True)
        for send in (signal.SIGSTOP, signal.SIGKILL):
            for process in tree:
                with suppress(psutil.Error):
                    process.send_signal(send)
        psutil.wait_procs(tree)

    def stop(self) -> None:
        for node in reversed(self.nodes):
            self.kill(node)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running_cluster(environment: Mapping[str, str], *cpus: int) -> Iterator[Cluster]:
    """One node per number of CPUs, the head first."""
    cluster = Cluster(environment)
    try:
        for number in cpus:
            cluster.start(number)
        yield cluster
    finally:
        cluster.stop()
