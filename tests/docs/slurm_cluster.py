"""A real Slurm on this machine: munge, a controller and nodes, each a process of the test."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port
from tests.waiting import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPort={port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=cpu Nodes=ALL Default=YES State=UP
"""
# Each has room for one task of the size `cpu`; what the machine has is not asked.
NODE = "NodeName=n{n} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=17000\n"


def missing() -> str:
    """Why Slurm cannot run here; empty if it can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]
    if absent:
        return f"no {', '.join(absent)}; Debian: apt-get install slurmctld slurmd slurm-client munge"
    return "" if os.geteuid() == 0 else "nodes of Slurm need root"


@contextmanager
def running_slurm(folder: Path, count: int) -> Iterator[dict[str, str]]:
    """Yield the variables with which `sbatch` and others find the cluster."""
    folder.mkdir()
    (folder / "state").mkdir()
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o600)
    host = socket.gethostname()
    nodes = "".join(NODE.format(n=n, host=host, port=free_port()) for n in range(1, count + 1))
    configuration = CONFIGURATION.format(folder=folder, host=host, port=free_port(), nodes=nodes)
    (folder / "slurm.conf").write_text(configuration)
    variables = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    munge = ("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/key")
    files = (f"--log-file={folder}/munged.log", f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/seed")
    commands = [(*munge, *files), ("slurmctld", "-D"), *(("slurmd", "-D", "-N", f"n{n}") for n in range(1, count + 1))]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (folder / "out").open("ab") as out:
                process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=out, stderr=out)
            processes.append(process)
            if command[0] == "munged":
                wait_until((folder / "munge.socket").exists, processes=[process])

        def idle() -> bool:
            shown = subprocess.run(
                ["sinfo", "--noheader", "--states=idle", "--format=%D"],
                env={**os.environ, **variables},
                capture_output=True,
                text=True,
                check=False,
            )
            return shown.stdout.strip() == str(count)

        wait_until(idle, processes=processes, log=(folder / "out").read_text)
        yield {"SLURM_CONF": variables["SLURM_CONF"]}
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in reversed(processes):
            process.wait(30)
