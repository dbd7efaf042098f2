"""The language of a file, by its name; by its first line only where the name says nothing."""

import re
from functools import cache
from pathlib import PurePosixPath

from freshstack_datasets.errors import MissingExtraError

TEXT = "text"
"""What no grammar reads."""
NOTEBOOK = "notebook"

_NAMES = {
    "dockerfile": "dockerfile containerfile",
    "make": "makefile gnumakefile makefile.am makefile.in",
    "cmake": "cmakelists.txt",
    "bash": ".bashrc .bash_profile .profile .zshrc .envrc pkgbuild apkbuild",
    "ruby": "gemfile rakefile podfile fastfile vagrantfile brewfile",
    "python": "sconstruct sconscript wscript snakefile",
    "starlark": "build build.bazel workspace workspace.bazel",
    "groovy": "jenkinsfile",
    "toml": "cargo.lock poetry.lock uv.lock pipfile",
    "yaml": ".clang-format .clang-tidy pubspec.lock podfile.lock",
    "json": "pipfile.lock composer.lock .babelrc .eslintrc .prettierrc",
    "gomod": "go.mod",
    "gosum": "go.sum",
    "ini": ".editorconfig .gitconfig .gitmodules .flake8 .pylintrc setup.cfg tox.ini",
    TEXT: "license copying authors notice readme changelog install news codeowners .gitignore .gitattributes",
}
"""Whole names of files, in lower case, by language."""

_SUFFIXES = {
    NOTEBOOK: "ipynb",
    "python": "py pyi pyx pxd pxi pyw",
    "javascript": "js mjs cjs es6",
    "jsx": "jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "java": "java",
    "kotlin": "kt kts",
    "c": "c",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ h inl ipp tpp ixx cppm ino",
    "csharp": "cs csx",
    "cuda": "cu cuh",
    "go": "go",
    "rust": "rs",
    "php": "php phtml php3 php4 php5 phps",
    "ruby": "rb rake gemspec ru podspec",
    "swift": "swift",
    "gdscript": "gd",
    "html": "html htm xhtml",
    "css": "css",
    "scss": "scss",
    "sql": "sql ddl dml",
    "bash": "sh bash zsh ksh bats ebuild",
    "yaml": "yaml yml",
    "toml": "toml",
    "markdown": "md markdown mkd mkdn mdown qmd rmd",
    "mdx": "mdx",
    "rst": "rst rest",
    "vue": "vue",
    "svelte": "svelte",
    "astro": "astro",
    "dockerfile": "dockerfile containerfile",
    "proto": "proto",
    "json": "json jsonc json5 geojson webmanifest",
    "xml": "xml xsd xsl xslt svg plist csproj vcxproj props targets resx xaml",
    "ini": "ini cfg desktop",
    "properties": "properties",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "scala": "scala sc sbt",
    "groovy": "groovy gradle",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs",
    "ocaml": "ml",
    "ocaml_interface": "mli",
    "fsharp": "fs fsx",
    "objc": "m mm",
    "zig": "zig",
    "nim": "nim",
    "hcl": "hcl tf tfvars",
    "graphql": "graphql gql",
    "glsl": "glsl vert frag comp geom tesc tese",
    "hlsl": "hlsl",
    "wgsl": "wgsl",
    "cmake": "cmake",
    "make": "mk mak",
    "powershell": "ps1 psm1 psd1",
    "solidity": "sol",
    "starlark": "bzl star",
    "nix": "nix",
    "latex": "tex sty cls",
    "bibtex": "bib",
    "thrift": "thrift",
    "prisma": "prisma",
    "po": "po pot",
    "vim": "vim",
    "clojure": "clj cljs cljc edn",
    "commonlisp": "lisp cl",
    "scheme": "scm",
    "racket": "rkt",
    "elisp": "el",
    "fortran": "f90 f95 f03 f08",
    "matlab": "mat",
    "tcl": "tcl",
    "verilog": "v sv svh",
    "vhdl": "vhd vhdl",
    "typst": "typ",
    "org": "org",
    TEXT: "txt text log csv tsv lock patch diff tscn tres import godot gitignore in",
}
"""Ends of names after the last dot, in lower case, by language."""

_BY_NAME = {name: language for language, names in _NAMES.items() for name in names.split()}
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}

_TAGS = {
    "shell": "bash",
    "c#": "csharp",
    "c++": "cpp",
    "terraform": "hcl",
    "reStructuredText": "rst",
    "plain-text": TEXT,
}
"""Names of identify's that differ from ours."""

_FIRST_LINE = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)[\d.]*(?:\s|$)")
_INTERPRETERS = {
    "sh": "bash", "bash": "bash", "zsh": "bash", "ksh": "bash", "dash": "bash", "python": "python", "pypy": "python",
    "node": "javascript", "deno": "typescript", "bun": "typescript", "ruby": "ruby", "perl": "perl", "php": "php",
    "lua": "lua", "rscript": "r", "make": "make", "tclsh": "tcl", "swift": "swift", "julia": "julia",
}  # fmt: skip


def language_of(path: str, text: str) -> str:
    """Return the language of a file, "notebook", or "text".

    Args:
        path: The path of the file; its last part counts.
        text: What it holds, whose first line tells when the name does not.
    """
    name = PurePosixPath(path).name.lower()
    stem, dot, suffix = name.rpartition(".")
    if name in _BY_NAME:
        return _BY_NAME[name]
    if dot and suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if name.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    if name.startswith("makefile."):
        return "make"
    if tagged := _tagged(name):
        return tagged
    if dot and stem:
        return TEXT
    first = _FIRST_LINE.match(text[:200].lower())
    return _INTERPRETERS.get(first.group(1), TEXT) if first else TEXT


@cache
def _tagged(name: str) -> str | None:
    """Return the language that identify has for a file's name, if there is a grammar of it."""
    try:
        from identify.identify import tags_from_filename
    except ImportError as error:
        raise MissingExtraError("identify", "build") from error
    known = {*_NAMES, *_SUFFIXES}
    for tag in sorted(tags_from_filename(name)):
        language = _TAGS.get(tag, tag)
        if language in known:
            return language
    return None
