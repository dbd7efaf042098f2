"""Looking for secrets before anything is sent or published: where they seem to be, never what they are.

``Finding`` says a place. ``scan`` finds them in texts, ``watched`` in rows on their way into a table, ``scan_file`` in a file that
was cut into pieces; ``review`` ends a build with a list of those that nobody accepted, and counts the others.
"""

from builders.secrets.engine import library, rules
from builders.secrets.records import Finding, Piece
from builders.secrets.review import Allowed, Reviewed, SecretsError, review
from builders.secrets.scan import scan, scan_file
from builders.secrets.tables import scan_row, watched

__all__ = [
    "Allowed",
    "Finding",
    "Piece",
    "Reviewed",
    "SecretsError",
    "library",
    "review",
    "rules",
    "scan",
    "scan_file",
    "scan_row",
    "watched",
]
