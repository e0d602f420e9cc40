"""A host that knows nothing but plan.json: runs the C kernels of a folder.

    host.py FOLDER N=3 alpha=2.0 x=1,2,3

prints each output on a line. Sizes are C expressions, so the C compiler evaluates them.
"""

import ctypes
import json
import pathlib
import subprocess
import sys

TYPES = {
    "bool": ctypes.c_uint8, "f32": ctypes.c_float, "f64": ctypes.c_double,
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
}


def library(source):
    """The shared library of a C file."""
    target = source.with_suffix(".so")
    subprocess.run(["cc", "-O1", "-fopenmp", "-shared", "-fPIC", "-o", target, source, "-lm"], check=True)
    return ctypes.CDLL(str(target))


def loop_counts(steps):
    """The counts of all loops, also of those inside of others."""
    loops = [step["loop"] for step in steps if "loop" in step]
    return [count for loop in loops for count in [loop["count"], *loop_counts(loop["steps"])]]


def evaluator(folder, plan, given):
    """A function from the plan's C expressions to their values."""
    buffers = [e for b in plan["buffers"] for e in (b["length"], b["bytes"])]
    buffers += [slot["bytes"] for slot in plan["memory"]]
    launches = [e for k in plan["kernels"] for e in k["global"] + k["local"]]
    expressions = sorted(set(loop_counts(plan["steps"]) + buffers + launches))
    parameters = ", ".join(f"int64_t {name}" for name in plan["sizes"]) or "void"
    source = folder / "sizes.c"
    functions = [f"int64_t e{i}({parameters}) {{ return {e}; }}" for i, e in enumerate(expressions)]
    own = plan.get("functions", [])
    source.write_text("\n".join(["#include <stdint.h>", *own, *functions, ""]))
    compiled = library(source)
    sizes = [ctypes.c_int64(int(given[name])) for name in plan["sizes"]]
    values = {}
    for i, expression in enumerate(expressions):
        function = getattr(compiled, f"e{i}")
        function.restype = ctypes.c_int64
        values[expression] = function(*sizes)
    return values.__getitem__


def refusals(folder, plan, given):
    """What the plan requires and the sizes do not meet. Numbers may need more than 64 bits."""
    parameters = [f"__int128 {name}" for name in plan["sizes"]]
    functions = []
    for k, row in enumerate(plan["requires"]):
        if "holds" in row:
            functions.append(f"int r{k}({', '.join(parameters) or 'void'}) {{ return {row['holds']}; }}")
        else:
            index = f"__int128 {row['index']}"
            functions.append(f"__int128 p{k}({', '.join([*parameters, index])}) {{ return {row['permutes']}; }}")
            functions.append(f"__int128 n{k}({', '.join(parameters) or 'void'}) {{ return {row['length']}; }}")
            arguments = [*plan["sizes"], "i"]
            functions.append(
                f"int r{k}({', '.join(parameters) or 'void'}) {{ __int128 n = n{k}({', '.join(plan['sizes'])}); "
                "char* seen = calloc(n, 1); int ok = 1; for (__int128 i = 0; ok && i < n; ++i) { "
                f"__int128 to = p{k}({', '.join(arguments)}); ok = 0 <= to && to < n && !seen[to]; "
                "if (ok) seen[to] = 1; } free(seen); return ok; }"
            )
    sizes = ", ".join(str(int(given[name])) for name in plan["sizes"])
    calls = [f"int c{k}(void) {{ return r{k}({sizes}); }}" for k in range(len(plan["requires"]))]
    source = folder / "requires.c"
    own = ["#include <stdint.h>", "#include <stdlib.h>", *plan.get("functions", [])]
    source.write_text("\n".join([*own, *functions, *calls, ""]))
    compiled = library(source)
    return [row["else"] for k, row in enumerate(plan["requires"]) if not getattr(compiled, f"c{k}")()]


def main():
    folder = pathlib.Path(sys.argv[1])
    given = dict(argument.split("=", 1) for argument in sys.argv[2:])
    plan = json.loads((folder / "plan.json").read_text())
    refused = refusals(folder, plan, given)
    if refused:
        sys.exit("\n".join(refused))
    size = evaluator(folder, plan, given)

    memory = {}
    slots = [(ctypes.c_uint8 * size(slot["bytes"]))() for slot in plan["memory"]]
    for buffer in plan["buffers"]:
        kind, length = TYPES[buffer["type"]], size(buffer["length"])
        assert size(buffer["bytes"]) == length * ctypes.sizeof(kind), buffer
        if buffer["role"] == "temporary":
            # Temporaries that are never needed at the same time share a slot; an unused one has none.
            if buffer["memory"] is not None:
                memory[buffer["id"]] = (kind * length).from_buffer(slots[buffer["memory"]])
            continue
        memory[buffer["id"]] = (kind * length)()
        if buffer["role"] == "input":
            assert buffer["component"] == 0, "this host has no tuples"
            number = float if buffer["type"].startswith("f") else int
            memory[buffer["id"]][:] = [number(v) for v in given[buffer["param"]].split(",")]

    def argument(arg):
        if arg["kind"] == "buffer":
            assert arg["access"] in ("read", "write", "read_write"), arg
            return memory[arg["buffer"]]
        text = given[arg["name"]]
        return TYPES[arg["type"]](float(text) if arg["type"].startswith("f") else int(text))

    kernels = []
    for kernel in plan["kernels"]:
        for extent, group in zip(kernel["global"], kernel["local"], strict=True):
            assert size(extent) % size(group) == 0, kernel
        kernels.append(getattr(library(folder / kernel["file"]), kernel["name"]))

    def run(steps):
        """Whether all steps were done."""
        for step in steps:
            if "launch" in step:
                index = step["launch"]
                kernel = plan["kernels"][index]
                if all(size(extent) for extent in kernel["global"]):
                    kernels[index](*[argument(arg) for arg in kernel["args"]])
            elif "stop" in step:
                if memory[step["stop"]][0]:
                    return False
            else:
                taken = 0
                for number in range(size(step["loop"]["count"])):
                    given[step["loop"]["counter"]] = str(number)
                    if not run(step["loop"]["steps"]):
                        break
                    taken += 1
                    for a, b in step["loop"]["swap"]:
                        memory[a], memory[b] = memory[b], memory[a]
                if "taken" in step["loop"]:
                    given[step["loop"]["taken"]] = str(taken)
        return True

    run(plan["steps"])
    outputs = [b for b in plan["buffers"] if b["role"] == "output"]
    for buffer in sorted(outputs, key=lambda b: b["component"]):
        print(*memory[buffer["id"]])


main()
