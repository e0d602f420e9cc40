#!/usr/bin/env python3
"""How long planning takes for every program of the suites, and what is planned.

`lift predict` reads a program, plans it for its largest size by a machine's description and predicts the plan; the time is
that of the whole command, the least of some turns, beside the processor time that it used. With `--against` plans are compared with
those of an earlier run (`-o`), and every program that is planned otherwise is listed with what was predicted before and now.
With `--seed` the programs are random ones of the kind that users write (`unseen.py`), in place of the suites'.
"""

import argparse
import json
import math
import pathlib
import resource
import sys
import tempfile
import time

import lift_command
from lift_command import ROOT, Failed, output_of, programs, size_flags, wanted

MACHINES = ["h200-cuda", "h200-opencl", "xeon-16"]


def unseen_programs(seed, count, scale, folder):
    """Random programs, written to a folder, as those of the suites are."""
    import unseen

    for number in range(count):
        program = unseen.Program(seed, number)
        path = folder / f"{seed}-{number}.lift"
        path.write_text(program.lift())
        yield str(path), "program", {"problem": path.stem, "sizes": [program.sizes(scale)]}


def largest(problem):
    return max(problem["sizes"], key=lambda sizes: math.prod(sizes.values()))


def planned(lift, program, machine, turns):
    """What is planned for a program, with the least seconds that it took by the wall and of a processor."""
    path, entry, problem = program
    name = entry or lift_command.signature(lift, path)["name"]
    command = [lift, "predict", path, "--entry", name, "--json", *size_flags(largest(problem))]
    command += ["--machine", str(ROOT / "data" / "machines" / f"{machine}.json")]
    wall, used = [], []
    for _ in range(turns):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        said = json.loads(output_of(command, timeout=60))
        wall.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    kernels = [[kernel["name"], kernel["runs"], kernel["ms"]] for kernel in said["kernels"]]
    return {"wall_s": min(wall), "used_s": min(used), "planned": said["planned"], "kernel_ms": said["kernel_ms"], "kernels": kernels}


def compared(before, now):
    """A line for each program that is planned otherwise, or predicted to take another time."""
    lines = []
    for name, plan in now.items():
        old = before.get(name)
        if old is None:
            continue
        same = old["planned"][:-1] == plan["planned"][:-1] and len(old["kernels"]) == len(plan["kernels"])
        if not same or abs(old["kernel_ms"] - plan["kernel_ms"]) > 1e-3 * old["kernel_ms"]:
            word = "the same plan" if same else f"{old['planned']} -> {plan['planned']}"
            lines.append(f"{name}: {old['kernel_ms']:.4g} -> {plan['kernel_ms']:.4g} ms, {word}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only programs whose names hold one of these")
    parser.add_argument("--lift", default=str(ROOT / "target" / "release" / "lift"))
    parser.add_argument("--machine", action="append", choices=MACHINES, help="all of them otherwise")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--limit", type=float, default=0.2, help="seconds above which a program is listed")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="what was planned, as JSON")
    parser.add_argument("--against", type=pathlib.Path, help="such a file of an earlier run")
    parser.add_argument("--seed", type=int, help="random programs of this seed, not those of the suites")
    parser.add_argument("--count", type=int, default=40, help="how many of them")
    parser.add_argument("--scale", type=float, default=8, help="of their sizes, as unseen.py has it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        random = options.seed is not None
        folder = pathlib.Path(folder)
        all_programs = list(unseen_programs(options.seed, options.count, options.scale, folder) if random else programs())
        measure(options, all_programs, folder if random else ROOT / "programs")


def measure(options, all_programs, folder):
    all_plans = {}
    for machine in options.machine or MACHINES:
        plans, failed = {}, []
        for program in all_programs:
            if not wanted(program, options.words):
                continue
            name = f"{pathlib.Path(program[0]).relative_to(folder)}:{program[1]}"
            try:
                plans[f"{machine} {name}"] = planned(options.lift, program, machine, options.turns)
            except Failed as error:
                failed.append(f"{name}: {error}")
        slow = sorted((p["wall_s"], p["used_s"], name) for name, p in plans.items() if p["wall_s"] > options.limit)
        within = sum(p["used_s"] <= options.limit for p in plans.values())
        print(f"{machine}: {len(plans)} programs, {len(plans) - len(slow)} within {options.limit} s, {within} by processor time, "
              f"which is {sum(p['used_s'] for p in plans.values()):.2f} s in all")
        for wall, used, name in reversed(slow):
            print(f"  {wall:.3f} s ({used:.3f} of a processor)  {name.split(' ', 1)[1]}")
        for line in failed:
            print(f"  failed: {line}")
        all_plans |= plans
    if options.output:
        options.output.write_text(json.dumps(all_plans, indent=1) + "\n")
    if options.against:
        lines = compared(json.loads(options.against.read_text()), all_plans)
        print(f"planned or predicted otherwise: {len(lines)}")
        print("".join(f"  {line}\n" for line in lines), end="")


if __name__ == "__main__":
    sys.exit(main())
