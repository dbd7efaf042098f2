"""What freshstack 0.0.6 makes of a folder: run as a program of its own, since it fetches a vocabulary when imported.

Usage: TIKTOKEN_CACHE_DIR=… python peer_chunks.py FOLDER OWNER/NAME, where FOLDER/OWNER/NAME holds the files. It prints
its documents as JSON lines.
"""

import json
import sys
import warnings
from pathlib import Path


def main(folder: str, repository: str) -> None:
    from freshstack.chunking import UniversalFileChunker

    chunker = UniversalFileChunker(max_tokens=2048)
    root = Path(folder)
    for path in sorted((root / repository).rglob("*")):
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(root).parts):
            continue
        chunks = chunker.chunk(path.open().read(), {"file_path": str(path.relative_to(root)), "url": ""})
        for chunk in chunks if len(chunks) <= 100 else []:
            text = chunk.file_content[chunk.start_byte : chunk.end_byte]
            if text.strip():
                document = {"_id": chunk.metadata["id"].replace(repository + "/", ""), "text": text}
                sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
