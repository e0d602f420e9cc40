#!/usr/bin/env python3
"""Tunes through ssh, with a server of this test's own on the loopback, which it starts and stops.

  cluster/ssh/test.py --lift target/debug/lift

Needs Debian's packages openssh-server and openssh-client. Keys and settings lie in a temporary folder."""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from searches import SIZES, finish, free_port, merged, same_as_alone, tune, wait_for  # noqa: E402


def server(folder, port):
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "config").write_text("\n".join([
        f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {folder}/host", f"PidFile {folder}/pid",
        f"AuthorizedKeysFile {folder}/authorized", "PasswordAuthentication no", "PermitRootLogin yes", "StrictModes no",
        "UsePAM no", "MaxStartups 100",
    ]) + "\n")
    # What the server insists on.
    if os.geteuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    sshd = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ.get("PATH", ""))
    if not sshd:
        sys.exit("missing: sshd (Debian package openssh-server)")
    log = open(folder / "log", "wb")
    return subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "config")], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def listens(folder):
    return "Server listening" in (folder / "log").read_text()


def children(process):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True).stdout
    return [int(number) for number in found.split()]


def kill_first_session(sshd, search, killed):
    """When a worker says that it is ready, ends the server's side of its connection."""
    said = []
    for line in search.stderr:
        said.append(line)
        if ": ready" in line and not killed:
            session = children(sshd.pid)[:1]
            for number in session:
                os.kill(number, signal.SIGKILL)
            killed.extend(session)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lift", required=True)
    lift = str(pathlib.Path(parser.parse_args().lift).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lift-ssh-"))
    port = free_port()
    sshd = server(folder, port)
    try:
        wait_for("the ssh server", 20, lambda: listens(folder))
        ssh = f"ssh -p {port} -i {folder}/user -o BatchMode=yes -o UserKnownHostsFile={folder}/known 127.0.0.1"
        workers = ["--worker", f"{ssh} {lift} worker"] * 2
        said = finish(tune(lift, folder, SIZES[0], folder / "a.db", *workers))
        assert said.count(": ready") >= 2, said

        # The connection of a worker is cut: it comes again, and nothing is lost.
        search, killed = tune(lift, folder, SIZES[1], folder / "b.db", *workers), []
        watching = threading.Thread(target=kill_first_session, args=(sshd, search, killed))
        watching.start()
        search.wait(240)
        watching.join()
        assert search.returncode == 0 and killed, (search.returncode, killed)

        # One host that cannot be reached does not keep the others from it.
        nowhere = ["--worker", f"ssh -p {free_port()} -o BatchMode=yes -o ConnectTimeout=2 127.0.0.1 {lift} worker"]
        said = finish(tune(lift, folder, SIZES[2], folder / "c.db", *workers, *nowhere))
        assert "exit code 255" in said, said

        same_as_alone(lift, folder, "abc")
        problems = merged(lift, folder, "abc")
        assert len(problems) == 3, problems
        print(f"ssh: {len(problems)} problems tuned through a server and merged")
    except AssertionError:
        print((folder / "log").read_text()[-3000:], file=sys.stderr)
        raise
    finally:
        sshd.terminate()
        sshd.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
