r"""Which files of a repository are passed over, by name and by content.

In this order; the first rule that fits names the reason.

| reason | rule |
|---|---|
| `unsafe-path` | the path is no UTF-8, has control characters, `.`, `..`, `.git` or nothing between slashes, or more than 4,096 bytes; or it does not follow the one before it, as it does in every sound tree |
| `submodule` | mode 160000: another repository, of which only a commit is written down; it is not fetched |
| `symlink` | mode 120000: never followed |
| `excluded` | `include` is there and matches not, or `exclude` matches; patterns as in `.gitignore` |
| `vendored` | a folder in `VENDORED` is above it: `node_modules`, `vendor`, `third_party`, `site-packages` …; below `dist` only scripts, style sheets and their maps. A pattern of `include` that names the folder, such as `third_party/docs/`, takes its files all the same |
| `generated` | a lock file, a name such as `*.min.js`, `*.js.map`, `*.pb.go`, `*_pb2.py` |
| `too-large` | more than 10 MiB, or 100 MiB of a PDF in a folder of documents; such content is not fetched where the server can leave it out |
| `empty` | no bytes |
| `lfs-pointer` | the content is a pointer of Git LFS |
| `binary` | a NUL in the first 8,000 bytes, as git has it, unless it is UTF-16 or UTF-32; or a PDF, but in folders of documents |
| `generated` | code whose first 20 lines have a comment with `@generated` or "generated … do not edit"; a script or style sheet of more than 5,000 bytes whose lines have more than 500 on average |

Prose (Markdown, reStructuredText, plain text, HTML, notebooks) is never generated: it may well speak of `@generated`.
Whether text can be read in its encoding is for the chunker to see.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from builders.repositories.paths import written, wrong_with
from builders.repositories.records import LARGEST, LARGEST_PDF, Passed
from builders.repositories.tree import Entry, Missing
from builders.topics import Repository

VENDORED = frozenset(
    (
        *("node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store"),
        *("vendor", "_vendor", "vendored"),
        *("third_party", "third-party", "thirdparty", "3rdparty", "3rd_party", "3rd-party"),
        *("site-packages", ".venv", "venv", ".tox", ".nox", ".eggs", "__pycache__", "__pypackages__"),
        *("Pods", "Carthage", ".gradle", ".bundle", ".terraform", ".dart_tool", ".next", ".nuxt", ".cache"),
    )
)
"""Names of folders with other people's code or with what a tool put there; in exactly these letters."""

_BUILT = "dist"
_LOCKS = frozenset(
    (
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
        *("deno.lock", "composer.lock", "Gemfile.lock", "Cargo.lock", "poetry.lock", "pdm.lock", "uv.lock"),
        *("Pipfile.lock", "pixi.lock", "conda-lock.yml", "go.sum", "go.work.sum", "flake.lock", "mix.lock"),
        *("pubspec.lock", "Podfile.lock", "Cartfile.resolved", "Package.resolved", "packages.lock.json"),
        *("gradle.lockfile", "buildscript-gradle.lockfile", ".terraform.lock.hcl", "MODULE.bazel.lock"),
    )
)
_SCRIPTS = (".js", ".mjs", ".cjs", ".css")
_MAPS = (".js.map", ".mjs.map", ".cjs.map", ".css.map", ".ts.map")
_MADE = (
    *(".min.js", ".min.mjs", ".min.css", *_MAPS),
    *(".pb.go", ".pb.cc", ".pb.h", ".pb.swift", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb.js", "_pb.d.ts"),
    *(".g.dart", ".freezed.dart", ".g.cs", ".designer.cs"),
)
PDF = ".pdf"
_PROSE = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".html", ".htm", ".ipynb", ".xhtml")
_COMMENT = rb"^[ \t]*(?://|#|/?\*|--|;|<!--|%|\"\"\"|'|\(\*)"
_SAYS_SO = re.compile(
    _COMMENT + rb"[^\n]{0,300}?(?:@generated\b|generated\b[^\n]{0,300}\bdo not (?:edit|modify))", re.IGNORECASE | re.M
)
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_SNIFFED = 8_000
_HEAD_LINES = 20
_MINIFIED = 5_000
_AVERAGE = 500


@dataclass(slots=True)
class Rules:
    """The rules for one repository, for entries in path order.

    Args:
        included: Patterns of ``include``.
        is_taken: What ``include`` and ``exclude`` say of a path.
    """

    included: tuple[str, ...]
    is_taken: Callable[[str], bool]
    _last: bytes = field(default=b"", init=False)

    @classmethod
    def of(cls, repository: Repository) -> "Rules":
        """Return the rules for a repository of a topic."""
        return cls(repository.include, repository.chooser())

    def by_name(self, entry: Entry) -> Passed | None:
        """Return why an entry is passed over whatever its content is."""
        path = written(entry.path)
        if wrong := wrong_with(entry.path) or ("" if entry.path > self._last else "not in order"):
            return Passed(path, "unsafe-path", wrong)
        self._last = entry.path
        if entry.mode == "160000":
            return Passed(path, "submodule", entry.name)
        if entry.mode == "120000":
            return Passed(path, "symlink")
        if not self.is_taken(path):
            return Passed(path, "excluded")
        if folder := self._vendored(path):
            return Passed(path, "vendored", f"{folder}/")
        return _made_by_name(path)

    def _vendored(self, path: str) -> str:
        *above, name = path.split("/")
        built = name.endswith((*_SCRIPTS, *_MAPS))
        for folder in above:
            if folder in VENDORED or (folder == _BUILT and built):
                return "" if any(folder in pattern.split("/") for pattern in self.included) else folder
        return ""


def _made_by_name(path: str) -> Passed | None:
    name = path.rpartition("/")[2]
    if name in _LOCKS:
        return Passed(path, "generated", "a lock file")
    if not (small := name.lower()).endswith(_MADE):
        return None
    return Passed(path, "generated", next(f"*{ending}" for ending in _MADE if small.endswith(ending)))


def by_content(path: str, data: bytes | Missing, *, pdfs: bool = False) -> Passed | None:
    """Return why a file is passed over for its content.

    Args:
        path: Where it is.
        data: Its content, or what stands for it.
        pdfs: Whether PDFs are taken.
    """
    is_wanted = pdfs and path.lower().endswith(PDF)
    if isinstance(data, Missing):
        return Passed(path, "too-large", f"more than {LARGEST_PDF if is_wanted else LARGEST:,} bytes")
    if not data:
        return Passed(path, "empty")
    if data.startswith(_POINTER) and len(data) < 1_024:
        return Passed(path, "lfs-pointer")
    if is_wanted:
        return None
    if data.startswith(b"%PDF-"):
        return Passed(path, "binary", "a PDF")
    if _is_binary(data[:_SNIFFED]):
        return Passed(path, "binary", f"a NUL in the first {_SNIFFED:,} bytes")
    if not path.lower().endswith(_PROSE) and (why := _made(path, data)):
        return Passed(path, "generated", why)
    return None


def _is_binary(head: bytes) -> bool:
    if b"\0" not in head or head.startswith(_WIDE):
        return False
    # UTF-16 without a mark: every other byte of Western text is NUL, and none of the others
    first, second = head[::2].count(0), head[1::2].count(0)
    return min(first, second) > 0 or max(first, second) < 0.35 * len(head)


def _made(path: str, data: bytes) -> str:
    head = b"\n".join(data[: 1 << 14].split(b"\n", _HEAD_LINES)[:_HEAD_LINES])
    if _SAYS_SO.search(head):
        return "its first lines say so"
    long = len(data) > _MINIFIED and len(data) > _AVERAGE * (data.count(b"\n") + 1)
    return f"lines of more than {_AVERAGE} bytes on average" if long and path.lower().endswith(_SCRIPTS) else ""
