#!/usr/bin/env python3
"""Tunes on a Slurm of this machine's own: a controller and two nodes, started and stopped by their numbers.

  cluster/slurm/test.py --lift target/debug/lift

Needs Debian's packages slurmctld, slurmd, slurm-client and munge. Everything lies in a temporary folder, and the ports are
free ones, so that a Slurm which is installed is not touched."""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from searches import SIZES, finish, free_port, merged, same_as_alone, stay_apart, tune, wait_for  # noqa: E402


class Cluster:
    """A controller and two nodes. Those who are started here are stopped here."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        self.user = "slurm" if os.geteuid() == 0 and has_user("slurm") else current_user()
        self.socket = folder / "munge" / "socket"
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        self.start_munge()
        nodes = {name: free_port() for name in ("node1", "node2")}
        controller = free_port()
        host = socket.gethostname()
        for name in ("state", "spool-node1", "spool-node2"):
            (self.folder / name).mkdir()
            self.give(self.folder / name)
        lines = [
            "ClusterName=lift",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={controller}",
            f"SlurmUser={self.user}",
            "SlurmdUser=root" if os.geteuid() == 0 else f"SlurmdUser={self.user}",
            "AuthType=auth/munge",
            f"AuthInfo=socket={self.socket}",
            "CredType=cred/munge",
            "MpiDefault=none",
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            "SwitchType=switch/none",
            "SelectType=select/cons_res",
            "SelectTypeParameters=CR_Core",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "ReturnToService=2",
            "SlurmdTimeout=30",
            "InactiveLimit=0",
            "KillWait=2",
            f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool-%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={self.folder}/slurmctld.log",
            f"SlurmdLogFile={self.folder}/slurmd-%n.log",
        ]
        for name, port in nodes.items():
            lines.append(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=500 State=UNKNOWN")
        lines.append("PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        self.run([tool("slurmctld"), "-D", "-i"], "slurmctld")
        for name in nodes:
            self.run([tool("slurmd"), "-D", "-N", name], f"slurmd-{name}")
        wait_for("two nodes that are idle", 60, self.is_idle)

    def is_idle(self):
        return self.ask("sinfo", "-h", "-o", "%D %t").split() == ["2", "idle"]

    def start_munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        command = [tool("munged"), "-F", f"--key-file={key}", f"--socket={self.socket}", f"--pid-file={folder}/pid",
                   f"--log-file={folder}/log", f"--seed-file={folder}/seed", "--force"]
        self.run(command, "munged")
        wait_for("munge", 20, self.socket.exists)

    def give(self, path):
        if os.geteuid() == 0 and self.user != "root":
            shutil.chown(path, self.user)

    def run(self, command, name):
        log = open(self.folder / f"{name}.out", "wb")
        process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.started.append((name, process))
        return process

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def process(self, name):
        return next(process for known, process in self.started if known == name)

    def stop(self):
        self.ask("scancel", "--user", current_user())
        for name, process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def logs(self):
        for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")):
            text = path.read_text(errors="replace")
            print(f"== {path.name}\n{text[-3000:]}", file=sys.stderr)


def tool(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    return found or sys.exit(f"missing: {name} (Debian packages slurmctld, slurmd, slurm-client, munge)")


def has_user(name):
    import pwd
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def current_user():
    import pwd
    return pwd.getpwuid(os.geteuid()).pw_name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lift", required=True)
    lift = str(pathlib.Path(parser.parse_args().lift).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lift-slurm-"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(os.urandom(24).hex())

        # 1. Workers that a command starts, on both nodes.
        srun = ["--worker", f"srun -w node1 {lift} worker", "--worker", f"srun -w node2 {lift} worker"]
        said = finish(tune(lift, folder, SIZES[0], folder / "a.db", *srun, environment=cluster.environment))
        assert said.count(": ready") >= 2, said

        # 2. Workers of a job array, which come by themselves and end with the search.
        address = f"127.0.0.1:{free_port()}"
        search = tune(lift, folder, SIZES[1], folder / "b.db", "--listen", address, "--token-file", str(token))
        job = ["sbatch", "--parsable", "--array=1-2", f"--output={folder}/worker-%a.out", "--export=ALL,LIFT=" + lift,
               str(HERE / "workers.sbatch"), address, str(token)]
        submitted = subprocess.run(job, env=cluster.environment, capture_output=True, text=True)
        assert submitted.returncode == 0, submitted.stderr
        finish(search)
        wait_for("workers that end with the search", 60, lambda: not cluster.ask("squeue", "-h").strip())

        # 3. The same, and `slurmd` of a node is killed: what it was at is measured by the other.
        search = tune(lift, folder, SIZES[2], folder / "c.db", *srun, environment=cluster.environment)
        wait_for("steps on both nodes", 60, lambda: len(cluster.ask("squeue", "-h", "-t", "R").splitlines()) >= 2)
        node = cluster.process("slurmd-node1")
        node.send_signal(signal.SIGKILL)
        node.wait()
        finish(search)

        same_as_alone(lift, folder, "abc")
        problems = merged(lift, folder, "abc")
        assert len(problems) == 3 and len({row["fingerprint"] for row in problems}) == 1, problems

        # 4. A node's device is not that of the other: each has a problem of its own.
        cluster.run([tool("slurmd"), "-D", "-N", "node1"], "slurmd-node1-again")
        wait_for("the node to come back", 60, cluster.is_idle)
        devices = {"node1": "cpu", "node2": "opencl:0"}
        workers = [f"--worker=srun -w {node} {lift} worker --device {device}" for node, device in devices.items()]
        stay_apart(lift, folder, workers, environment=cluster.environment)
        print(f"Slurm: {len(problems)} problems tuned on two nodes and merged; two devices stay apart")
    except (AssertionError, SystemExit):
        cluster.logs()
        raise
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
