#!/usr/bin/env python3
"""`lift tune` with workers that are actors of a Ray cluster.

  cluster/ray/tune.py --workers 8 --num-gpus 1 -- programs/mm.lift --size M=1024,K=1024,N=1024 --device cuda:0

What stands behind `--` goes to `lift tune`, which runs here and listens; every actor runs a `lift worker` that connects to
it, with as many GPUs as asked for. `lift` of the same version is installed on all nodes (`--lift` where it is not in the
PATH). The cluster is that of `RAY_ADDRESS`, or one of this machine's own."""

import argparse
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import tempfile

import ray


@ray.remote(max_restarts=-1, max_task_retries=0)
class Worker:
    """A `lift worker` on one of the cluster's nodes. It ends with the search, or with the actor."""

    def __init__(self, lift, address, token, name):
        self.lift, self.address, self.token, self.name = lift, address, token, name

    def work(self):
        with tempfile.TemporaryDirectory(prefix="lift-ray-") as folder:
            file = pathlib.Path(folder) / "token"
            file.touch(mode=0o600)
            file.write_text(self.token)
            command = [self.lift, "worker", "--connect", self.address, "--token-file", str(file), "--name", self.name]
            return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


def free_port(host):
    with socket.socket() as s:
        s.bind((host, 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="how many actors")
    parser.add_argument("--num-gpus", type=float, default=0, help="GPUs of an actor")
    parser.add_argument("--num-cpus", type=float, default=1, help="cores of an actor")
    parser.add_argument("--lift", default="lift", help="the command, on all nodes")
    parser.add_argument("tune", nargs="+", help="arguments of `lift tune`")
    options = parser.parse_args()

    ray.init(address=os.environ.get("RAY_ADDRESS"), log_to_driver=False, logging_level="warning")
    token = secrets.token_hex(24)
    host = ray.util.get_node_ip_address()
    address = f"{host}:{free_port(host)}"
    with tempfile.TemporaryDirectory(prefix="lift-ray-") as folder:
        file = pathlib.Path(folder) / "token"
        file.touch(mode=0o600)
        file.write_text(token)
        search = subprocess.Popen([options.lift, "tune", *options.tune, "--listen", address, "--token-file", str(file)])
        kind = Worker.options(num_gpus=options.num_gpus, num_cpus=options.num_cpus)
        actors = [kind.remote(options.lift, address, token, f"actor {n}") for n in range(options.workers)]
        working = [actor.work.remote() for actor in actors]
        status = search.wait()
        # They are told that the search is over; those who still wait for a node are not needed any more.
        ray.wait(working, num_returns=len(working), timeout=10)
        for actor in actors:
            ray.kill(actor)
    ray.shutdown()
    sys.exit(status)


if __name__ == "__main__":
    main()
