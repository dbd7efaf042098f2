"""A folder with all that a repository may hold: every language that is cut by its syntax, and files to stumble over."""

import json
from pathlib import Path

PIECES = {
    "src/app.py": "def total_{n}(items: list[int]) -> int:\n    # sum of the {n}th kind\n    return sum(x * {n} for x in items)\n\n\n",
    "src/app.js": "export function total{n}(items) {{\n  return items.map((x) => x * {n}).join(', ');\n}}\n\n",
    "src/app.ts": "export function total{n}(items: number[]): number {{\n  return items.reduce((a, b) => a + b * {n}, 0);\n}}\n\n",
    "src/View.tsx": "export const View{n} = (p: {{ name: string }}) => <p className=\"v{n}\">{{p.name}} has {n}</p>;\n\n",
    "src/View.jsx": "export const View{n} = (p) => <p className=\"v{n}\">{{p.name}} has {n}</p>;\n\n",
    "src/App.java": "class Total{n} {{\n    int of(int[] items) {{\n        int sum = {n};\n        for (int x : items) sum += x;\n        return sum;\n    }}\n}}\n\n",
    "src/App.kt": "fun total{n}(items: List<Int>): Int {{\n    return items.sumOf {{ it * {n} }}\n}}\n\n",
    "src/app.c": "int total_{n}(const int *items, int count) {{\n    int sum = {n};\n    while (count--) sum += *items++;\n    return sum;\n}}\n\n",
    "src/app.cpp": "template <typename T>\nT total_{n}(const std::vector<T>& items) {{\n    return std::accumulate(items.begin(), items.end(), T({n}));\n}}\n\n",
    "src/app.hpp": "struct Total{n} {{\n    int value = {n};\n    int twice() const {{ return value * 2; }}\n}};\n\n",
    "src/App.cs": "public class Total{n}\n{{\n    public int Of(int[] items) => items.Sum() * {n};\n}}\n\n",
    "src/kernel.cu": "__global__ void scale_{n}(float *x, int count) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < count) x[i] *= {n}.0f;\n}}\n\n",
    "src/app.go": "func Total{n}(items []int) int {{\n\tsum := {n}\n\tfor _, x := range items {{\n\t\tsum += x\n\t}}\n\treturn sum\n}}\n\n",
    "src/lib.rs": "pub fn total_{n}(items: &[i64]) -> i64 {{\n    items.iter().map(|x| x * {n}).sum()\n}}\n\n",
    "src/app.php": "<?php\nfunction total_{n}(array $items): int {{\n    return array_sum($items) * {n};\n}}\n?>\n\n",
    "src/app.rb": "def total_{n}(items)\n  items.sum {{ |x| x * {n} }}\nend\n\n",
    "src/App.swift": "func total{n}(_ items: [Int]) -> Int {{\n    return items.reduce({n}, +)\n}}\n\n",
    "src/player.gd": "func total_{n}(items):\n\tvar sum = {n}\n\tfor x in items:\n\t\tsum += x\n\treturn sum\n\n",
    "web/index.html": "<section id=\"s{n}\">\n  <h2>Part {n}</h2>\n  <p>There are {n} things to say, and one more.</p>\n</section>\n",
    "web/site.css": ".part-{n} > p {{\n  margin: {n}px auto;\n  color: #00{n:04d};\n}}\n\n",
    "db/schema.sql": "CREATE TABLE total_{n} (\n    id INTEGER PRIMARY KEY,\n    name VARCHAR({n}) NOT NULL\n);\n\n",
    "bin/run.sh": "total_{n}() {{\n  local sum={n}\n  for x in \"$@\"; do sum=$((sum + x)); done\n  echo \"$sum\"\n}}\n\n",
    "config/app.yaml": "service-{n}:\n  image: example/app:{n}\n  ports:\n    - {n}\n    - 8080\n",
    "config/app.toml": "[service.s{n}]\nimage = \"example/app:{n}\"\nports = [{n}, 8080]\n\n",
    "docs/guide.md": "## Part {n}\n\nThere are {n} things to say. This is one:\n\n- it is `{n}`\n- it is *not* more\n\n",
    "docs/page.mdx": "## Part {n}\n\n<Note kind=\"tip\">There are {n} things to say.</Note>\n\nAnd one more.\n\n",
    "docs/manual.rst": "Part {n}\n{line}\n\nThere are {n} things to say, and `one more`_.\n\n.. code-block:: python\n\n   total({n})\n\n",
    "web/App.vue": "<template>\n  <p v-for=\"x in items\" :key=\"x\">{{{{ x }}}} and {n}</p>\n</template>\n\n<script>\nexport default {{ name: 'App{n}' }}\n</script>\n\n",
    "Dockerfile": "RUN apt-get update && apt-get install -y package-{n} \\\n    && rm -rf /var/lib/apt/lists/*\nENV PART_{n}={n}\n",
    "proto/app.proto": "message Total{n} {{\n  repeated int64 items = 1;\n  string name = {n};\n}}\n\n",
}  # fmt: skip
"""A file of each language, as what it repeats; ``{n}`` is a number that grows."""

LANGUAGES = {
    "src/app.py": "python", "src/app.js": "javascript", "src/app.ts": "typescript", "src/View.tsx": "tsx",
    "src/View.jsx": "jsx", "src/App.java": "java", "src/App.kt": "kotlin", "src/app.c": "c", "src/app.cpp": "cpp",
    "src/app.hpp": "cpp", "src/App.cs": "csharp", "src/kernel.cu": "cuda", "src/app.go": "go", "src/lib.rs": "rust",
    "src/app.php": "php", "src/app.rb": "ruby", "src/App.swift": "swift", "src/player.gd": "gdscript",
    "web/index.html": "html", "web/site.css": "css", "db/schema.sql": "sql", "bin/run.sh": "bash",
    "config/app.yaml": "yaml", "config/app.toml": "toml", "docs/guide.md": "markdown", "docs/page.mdx": "mdx",
    "docs/manual.rst": "rst", "web/App.vue": "vue", "Dockerfile": "dockerfile", "proto/app.proto": "proto",
}  # fmt: skip
"""What each of them is written in."""


def repeated(path: str, times: int) -> str:
    """Return the file of a language with so many pieces."""
    return "".join(PIECES[path].format(n=n, line="=" * len(f"Part {n}")) for n in range(1, times + 1))


def notebook() -> bytes:
    """Return a notebook with code, Markdown, an output and embedded images."""
    image = "iVBORw0KGgo" * 2_000
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}},
            "cells": [
                {"cell_type": "markdown", "metadata": {}, "source": ["# Fließtext\n", f"![x](data:image/png;base64,{image})"]},
                {"cell_type": "raw", "metadata": {}, "source": "raw"},
                *(
                    {
                        "cell_type": "code",
                        "metadata": {},
                        "execution_count": n,
                        "source": f"for i in range({n}):\n    print('größer als', i)\n" * 20,
                        "outputs": [{"output_type": "display_data", "data": {"image/png": image}, "metadata": {}}],
                    }
                    for n in range(30)
                ),
            ],
        }
    ).encode()  # fmt: skip


def odd_files() -> dict[str, bytes]:
    """Return files that are easily got wrong, by their paths."""
    python = repeated("src/app.py", 120)
    prose = "Voilà un café. Ça coûte deux euros ; c'est « cher ». 日本語の文章です。\n" * 5
    return {
        "odd/日本/naïve café.md": ("# Überschrift ééééé 日本語\n\n" + prose * 60).encode(),
        "odd/日本/中文.txt": (prose * 60).encode(),
        "odd/日本/.txt": b"hidden, and of no letters but dots\n",
        "odd/crlf.py": python.replace("\n", "\r\n").encode(),
        "odd/crlf.txt": (prose.replace("\n", "\r\n\r\n") * 60).encode(),
        "odd/cr.txt": (prose.replace("\n", "\r") * 60).encode(),
        "odd/no_final_newline.py": python.rstrip("\n").encode(),
        "odd/empty.py": b"",
        "odd/blank.md": b" \n\t\r\n\n",
        "odd/bom.py": b"\xef\xbb\xbf" + python.encode(),
        "odd/utf16.txt": (prose * 40).encode("utf-16"),
        "odd/utf16_no_mark.cs": repeated("src/App.cs", 100).encode("utf-16-le"),
        "odd/latin1.txt": ("Un été à la plage, où les élèves étudient le français. " * 400).encode("latin-1"),
        "odd/nested.py": b"x = " + b"[" * 3_000 + b"]" * 3_000 + b"\n",
        "odd/nested.json": b"[" * 3_000 + b"]" * 3_000,
        "odd/quoted.md": b"> " * 3_000 + b"deep\n",
        "odd/lists.yaml": b"- " * 3_000 + b"deep\n",
        "odd/sum.py": b"x = " + b" + ".join(b"a" for _ in range(3_000)) + b"\n",
        "odd/numbers.py": b"x = [" + b", ".join(b"%d" % n for n in range(60_000)) + b"]\n",
        "odd/spaces.txt": b"a" + b" " * 300_000 + b"b\n",
        "odd/letters.txt": b"a" * 100_000,
        "odd/emoji.txt": "👩‍👩‍👧‍👦".encode() * 3_000,
        "odd/binary.dat": bytes(range(256)) * 20,
        "odd/photo.py": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100),
        "odd/notebook.ipynb": notebook(),
        "odd/broken.ipynb": notebook()[:-100],
        "odd/no_cells.ipynb": b'{"nbformat": 4}',
        "odd/tab\tand\nbreak.md": b"# A path with a tab and a line break\n",
        "odd/Makefile": b"all:\n\techo done\n",
        "odd/script": b"#!/usr/bin/env python3\nprint(1)\n",
        "odd/unknown.xyzzy": (prose * 60).encode(),
    }  # fmt: skip


def files() -> dict[str, bytes]:
    """Return all files of the tree but the largest, by their paths."""
    return {**{path: repeated(path, 120).encode() for path in PIECES}, **odd_files()}


def enormous() -> bytes:
    """Return 20 MB in one line."""
    return b"".join(b"word%d " % n for n in range(1_900_000))[:20_000_000]


def write(folder: Path, *, large: bool = False) -> Path:
    """Write the tree into a folder, with a line of 20 MB if it is to be large, and return the folder."""
    for path, data in {**files(), **({"odd/line.txt": enormous()} if large else {})}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder
