"""What goes wrong is an exception with a text; nothing ends the process, and nothing hangs."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import lift
from conftest import MM


def python(text, **more):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, **more)


def test_a_program_with_errors_shows_the_place():
    with pytest.raises(lift.Error) as failed:
        lift.program("def f[N](xs: [f32; N]) -> [f32; N] = xs |> split(7) |> join;", name="f.lift")
    assert "f.lift:1:" in str(failed.value) and "where N % 7 == 0" in str(failed.value)


def test_a_clause_that_does_not_hold():
    f = lift.program("def f[N](xs: [f32; N]) -> [[f32; 4]; N / 4] where N % 4 == 0 = xs |> split(4);").f
    assert f(np.ones(8, np.float32)).shape == (2, 4)
    with pytest.raises(lift.Error, match="N % 4 == 0"):
        f(np.ones(6, np.float32))


def test_a_check_that_fails_while_it_runs():
    f = lift.program(r"def f[N, M](xs: [f32; N], at: [i32; M]) -> [f32; M] = at |> map(\i -> xs[i]);").f
    xs = np.arange(4, dtype=np.float32)
    assert f(xs, np.array([3, 0], np.int32)).tolist() == [3, 0]
    with pytest.raises(lift.Error, match="an index is outside an array of length 4"):
        f(xs, np.array([3, 4], np.int32))


def test_files_and_devices_that_are_not_there(mm):
    with pytest.raises(lift.Error, match="nowhere.lift"):
        lift.load("nowhere.lift")
    one = np.ones((1, 1), np.float32)
    for device in ("opencl:77", "quantum:0", "", "cuda:99"):
        with pytest.raises(lift.Error):
            mm(one, one, device=device)


def test_extern_code_needs_permission():
    text = """extern "c,opencl" fn twice(x: f32) -> f32 = "return x + x;";
def f[N](xs: [f32; N]) -> [f32; N] = xs |> map(twice);"""
    with pytest.raises(lift.Error, match="allow_extern"):
        lift.program(text).f(np.ones(2, np.float32))
    assert lift.program(text, allow_extern=True).f(np.ones(2, np.float32)).tolist() == [2, 2]


def test_threads_may_call_at_once_and_compile_once(mm):
    a = np.ones((17, 19), np.float32)
    b = np.ones((19, 23), np.float32)
    wrong = []

    def work(n):
        for k in range(10):
            if not np.array_equal(mm(a * k, b[:, : n + 1].copy()), (a * k) @ b[:, : n + 1]):
                wrong.append((n, k))

    threads = [threading.Thread(target=work, args=(n % 3,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_python_goes_on_while_a_kernel_runs():
    busy = lift.program(r"""
def busy[N](xs: [f64; N]) -> f64 =
  generate(N, \i -> xs |> map(\x -> sin(x + (i as f64))) |> reduce(0.0, (+))) |> reduce(0.0, (+));""").busy
    busy(np.ones(4))
    xs = np.ones(20000)
    busy(xs[:8])
    started = threading.Thread(target=busy, args=(xs,))
    started.start()
    turns = 0
    while started.is_alive() and turns < 20:
        time.sleep(0.005)
        turns += 1
    started.join()
    assert turns > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_after_use_works_on():
    done = python(f"""
import os, numpy as np, lift
mm = lift.program({MM!r}).mm
a = np.ones((64, 64), np.float32)
mm(a, a)
child = os.fork()
if child == 0:
    ok = np.array_equal(mm(a, a), a @ a) and np.array_equal(mm(a[:32], a), a[:32] @ a)
    os._exit(0 if ok else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr


def other_devices():
    return [device.id for device in lift.devices() if device.id != "cpu"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.skipif(not other_devices(), reason="there is no device but cpu")
def test_other_devices_say_so_after_a_fork():
    done = python(f"""
import os, numpy as np, lift
mm, a = lift.program({MM!r}).mm, np.ones((8, 8), np.float32)
mm(a, a, device={other_devices()[0]!r})
child = os.fork()
if child == 0:
    try:
        mm(a, a, device={other_devices()[0]!r})
    except lift.Error as error:
        os._exit(0 if "before this process was forked" in str(error) and np.array_equal(mm(a, a), a @ a) else 4)
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(mm(a, a, device={other_devices()[0]!r}), a @ a)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("device", ["cpu", *other_devices()[:1]])
def test_the_interpreter_may_end_while_a_kernel_runs(device):
    done = python(r"""
import threading, time, numpy as np, lift
busy = lift.program('''def busy[N](xs: [f64; N]) -> f64 =
  generate(N, \\i -> xs |> map(\\x -> sin(x + (i as f64))) |> reduce(0.0, (+))) |> reduce(0.0, (+));''').busy
xs = np.ones(100000)
threading.Thread(target=busy, args=(xs,), kwargs={"device": "%s"}, daemon=True).start()
time.sleep(2)
""" % device)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_tuning():
    done = python(f"""
import os, signal, threading, numpy as np, lift
mm = lift.program({MM!r}).mm
threading.Timer(4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    mm.tune(M=64, K=64, N=64, trials=100000)
except KeyboardInterrupt:
    print("ended")
""")
    assert done.stdout.strip() == "ended", done.stderr


def test_the_command_comes_along():
    done = subprocess.run([sys.executable, "-m", "lift", "nat", "N + N"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.strip() == "2*N", done.stdout + done.stderr
