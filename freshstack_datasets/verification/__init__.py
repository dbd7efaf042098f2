"""Finding everything that is wrong with a snapshot."""

from freshstack_datasets.verification.folder import verify
from freshstack_datasets.verification.problems import Problem

__all__ = ["Problem", "verify"]
