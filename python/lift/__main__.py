"""The command `lift`."""

import os
import signal
import sys


def main():
    from ._lift import command

    # The command ends by Ctrl-C itself, and starts itself again for work that may crash.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.path.basename(sys.argv[0]) == "lift" and os.path.exists(sys.argv[0]):
        os.environ["LIFT_COMMAND"] = os.path.abspath(sys.argv[0])
    sys.exit(command(["lift", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
