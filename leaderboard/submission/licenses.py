"""Licences as SPDX spells them, and what those of several models come to."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from freshstack_datasets.errors import MissingExtraError, shown
from freshstack_datasets.typed_files import RefusedError

LONGEST = 200
"""Characters of a licence."""

PROPRIETARY = "LicenseRef-proprietary"
"""How a licence is spelled that gives nobody else any rights."""

_OWN = re.compile(r"LicenseRef-[A-Za-z0-9.-]+")
_EXPECTED = "a licence by SPDX, such as Apache-2.0"
_HINT = f"a closed one is {PROPRIETARY}, one of its own LicenseRef-NAME; see https://spdx.org/licenses"


def spelled(text: str) -> str:
    """Return a licence, or several with ``AND`` and ``OR``, as SPDX spells them.

    ``LicenseRef-`` and a name stands for a licence that SPDX does not list.

    Raises:
        RefusedError: It is none.
        MissingExtraError: license-expression is not installed.
    """
    if not text or len(text) > LONGEST or not text.isprintable():
        raise RefusedError(_EXPECTED, shown(text), _HINT)
    package, licensing = _package(), _known()
    try:
        found = licensing.parse(text, strict=True)
        unknown = [] if found is None else licensing.unknown_license_keys(found)
    except (package.ExpressionError, package.ParseError, RecursionError):
        found, unknown = None, []
    if found is None or any(not _OWN.fullmatch(key) for key in unknown):
        raise RefusedError(_EXPECTED, shown(text), _HINT)
    return str(found.render())


def joined(licenses: Iterable[str]) -> str:
    """Return licences that all hold as one, joined by ``AND``, each once and in their order; "" for none."""
    found = list(dict.fromkeys(licenses))
    return " AND ".join(f"({one})" if " OR " in one and len(found) > 1 else one for one in found)


def _package() -> Any:
    try:
        import license_expression  # type: ignore[import-untyped]  # it comes without types
    except ImportError as error:
        raise MissingExtraError("license-expression", "leaderboard") from error
    return license_expression


@cache
def _known() -> Any:
    """Return what parses licences by the list of SPDX."""
    return _package().get_spdx_licensing()
