"""A stand-in for Slurm's programs: jobs run at once, on this machine, task after task."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

QUEUE = Path(os.environ["STAND_IN_FOR_SLURM"])


def sbatch(*arguments):
    if (QUEUE / "full").exists():
        return 1
    job = sum(1 for path in QUEUE.iterdir() if path.name.isdigit()) + 1
    text = Path(arguments[-1]).read_text()
    (QUEUE / str(job)).write_text(text)
    if "#SBATCH --dependency=" not in text:  # such jobs come when this one is over, and nobody waits for them
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, __file__, "work", str(job)]
        (QUEUE / "running").write_text(str(subprocess.Popen(command, start_new_session=True, **options).pid))
    sys.stdout.write(f"Submitted batch job {job}\n")
    return 0


def work(job):
    script = QUEUE / job
    last = int(re.search(r"--array=0-(\d+)", script.read_text())[1])
    for task in range(last + 1):
        with (QUEUE / "tasks").open("a") as tasks:
            tasks.write(json.dumps([job, str(task)]) + "\n")
        told = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_ID": job, "SLURM_NODELIST": "here", "RUN_OFFSET": "0"}
        with (QUEUE / "output").open("a") as output:
            subprocess.run(["bash", script], env=os.environ | told, check=False, stdout=output, stderr=output)
    (QUEUE / "over").touch()
    return 0


def squeue(*_):
    if not (QUEUE / "over").exists():
        sys.stdout.write("1 night freshstack us R\n")
    return 0


def scancel(job):
    (QUEUE / "cancelled").write_text(job)
    os.killpg(int((QUEUE / "running").read_text()), signal.SIGKILL)
    return 0


def scontrol(*_):
    sys.stdout.write("here\n")
    return 0


def srun(*arguments):
    options = ("-l", "-n", "1")
    return subprocess.run(arguments[len(options) :], check=False).returncode


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
