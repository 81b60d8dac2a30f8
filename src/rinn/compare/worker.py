"""The child process of one method: `python -m rinn.compare.worker JOB`, with a job as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rinn.compare.limits import end_with_parent
from rinn.config import RunSettings
from rinn.errors import InputError, TrainingError
from rinn.files import replace_file
from rinn.fit import fit_run

DONE, REFUSED, FAILED = "done", "refused", "failed"


def main(arguments: list[str]) -> None:
    """Fit the tables of a job, and write how that ended into its result file."""
    end_with_parent()
    job = json.loads(arguments[0])
    replace_file(Path(job["result"]), json.dumps(run_job(job)).encode())


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Fit the tables of a job; what a user can mend, or training, is a result as well."""
    paths = {name: Path(path) if path else None for name, path in job["paths"].items()}
    settings = RunSettings(**job["settings"])
    try:
        run = fit_run(**paths, settings=settings, device=job["device"], quiet=True)  # type: ignore[arg-type]
    except InputError as error:
        return {"status": REFUSED, "message": str(error), "seconds": None}
    except TrainingError as error:
        return {"status": FAILED, "message": str(error), "seconds": None}
    return {"status": DONE, "message": "", "seconds": run.manifest.seconds}


if __name__ == "__main__":
    main(sys.argv[1:])
