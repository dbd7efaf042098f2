"""What a Stack Exchange site's name tells: addresses, language; and under which licence its posts are.

CC BY-SA asks to name, wherever a post's text is shown, its author with a link, its address and its licence.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from builders.stackexchange.posts import QUESTION, Post
from freshstack_datasets.errors import InputError, shown

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
_LANGUAGES = ("es", "ja", "pt", "ru")
_CC_BY_SA = re.compile(r"CC BY-SA ([0-9.]+)")
_CHANGES = (("2011-04-08", "CC BY-SA 2.5"), ("2018-05-02", "CC BY-SA 3.0"))
"""The first day on which a licence no longer applied to new posts; stackoverflow.com/help/licensing."""


@dataclass(frozen=True, slots=True)
class Site:
    """A Stack Exchange site.

    Args:
        host: Its host's name, such as ``coffee.stackexchange.com``.

    Raises:
        InputError: That is no host's name.
    """

    host: str

    def __post_init__(self) -> None:
        if len(self.host) > 200 or not _HOST.fullmatch(self.host):
            raise InputError(
                "--site", expected="the site's host in small letters: coffee.stackexchange.com", got=shown(self.host)
            )

    @property
    def url(self) -> str:
        """Return the site's address."""
        return f"https://{self.host}"

    @property
    def language(self) -> str:
        """Return the language of its posts: Stack Overflow has four sites that are not in English."""
        first = self.host.partition(".")[0]
        return first if self.host.endswith(".stackoverflow.com") and first in _LANGUAGES else "en"

    def post_url(self, post: Post) -> str:
        """Return a question's or an answer's address, the short one that the site itself gives for sharing."""
        return f"{self.url}/{'q' if post.kind == QUESTION else 'a'}/{post.post_id}"

    def author(self, post: Post) -> str | None:
        """Return who wrote a post: a profile's address, the name left of a deleted account, or None."""
        if post.owner is not None:
            return f"{self.url}/users/{post.owner}"
        return post.owner_name or None


def licence(post: Post) -> str | None:
    """Return the licence of a post: the one the dump says, else the one that applied on the day it was written."""
    if post.license or not post.date:
        return post.license or None
    return next((name for end, name in _CHANGES if post.date[:10] < end), "CC BY-SA 4.0")


def licence_of_all(licences: Collection[str]) -> str:
    """Return the licence of posts put together and turned into text, an SPDX identifier where there is one.

    That is the newest: CC BY-SA lets adapted text be shared under a later version of itself (2.5: section 4b;
    3.0: section 4b). Every post keeps its own beside it.

    Args:
        licences: Those of the posts.
    """
    versions = [found[1] for name in licences if (found := _CC_BY_SA.fullmatch(name))]
    if versions and len(versions) == len(licences):
        return f"CC-BY-SA-{max(versions)}"
    return " AND ".join(sorted(licences))[:500] or "unknown"
