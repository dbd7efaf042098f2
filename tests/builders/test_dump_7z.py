"""Dumps as they are downloaded, in a 7z archive: they read as the file inside does, and say in words why they cannot."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import py7zr
import pytest

import builders.stackexchange.archive as archive_module
from builders.cli import main
from builders.stackexchange.dump import Dump
from builders.stackexchange.posts import SeenIds, read_posts
from builders.stackexchange.unpacking_by_program import ByProgram
from freshstack_datasets import load
from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError

POSTS = Path(__file__).parents[1] / "data" / "Posts.xml"
REAL = [name for name in ("7zz", "7z", "7za") if shutil.which(name)]
ROW = b'  <row Id="%d" PostTypeId="1" Title="%s" />\n'


@pytest.fixture(params=["library", "program"])
def how(request, monkeypatch, tmp_path):
    """Unpack with py7zr, then with the program where there is one."""
    if request.param == "library":
        only(monkeypatch, tmp_path)
    elif not REAL:
        pytest.skip("no program that unpacks 7z is installed")
    return request.param


def only(monkeypatch, tmp_path, **programs):
    """Let nothing be on the path but stand-ins for programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, lines in programs.items():
        path = folder / name.lstrip("_")
        path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{lines}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def pack(path, files, **options):
    fast = {"filters": [{"id": py7zr.FILTER_LZMA2, "preset": 0}]} if "password" not in options else {}
    with py7zr.SevenZipFile(path, "w", **{**fast, **options}) as archive:
        for name, content in files.items():
            archive.writestr(content, name)
    return path


def bytes_of(rows):
    return b"<posts>\n" + b"".join(rows) + b"</posts>"


def noisy_rows(number):
    """Return rows of which each is new to the packer."""
    return [ROW % (n, hashlib.sha512(b"%d" % n).hexdigest().encode() * 2) for n in range(1, number + 1)]


def read(path):
    dump = Dump(path)
    return list(read_posts(dump, SeenIds())), dump


@pytest.mark.parametrize("name", ["Posts.xml", "site/Posts.xml", "posts.xml"])
def test_an_archive_reads_as_the_file_inside_it_does(how, tmp_path, name):
    content = POSTS.read_bytes()
    packed = pack(tmp_path / "site.7z", {"Badges.xml": b"<badges/>", name: content, "Users.xml": b"<users/>"})
    posts, dump = read(packed)
    assert posts == read(POSTS)[0]
    assert (dump.size, dump.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert dump.name == f"site.7z/{name}"


@pytest.mark.parametrize(
    "filters",
    [
        [{"id": py7zr.FILTER_LZMA2, "preset": 1}],
        [{"id": py7zr.FILTER_BZIP2}],  # the public dumps are packed with it
        [{"id": py7zr.FILTER_COPY}],
    ],
    ids=["lzma2", "bzip2", "copy"],
)
def test_every_way_of_packing_that_dumps_use_is_read(how, tmp_path, filters):
    packed = pack(tmp_path / "site.7z", {"Posts.xml": bytes_of(noisy_rows(3000))}, filters=filters)
    assert [post.post_id for post in read(packed)[0]] == list(range(1, 3001))


def test_nothing_is_written_to_disk(how, tmp_path):
    packed = pack(tmp_path / "site.7z", {"Posts.xml": POSTS.read_bytes()})
    before = sorted(tmp_path.rglob("*"))
    read(packed)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_memory_does_not_grow_with_the_archive(how, tmp_path):
    """Blocks of a few MB wait, whatever the size: 120 MB pass, twice the limit below."""
    content = bytes_of(noisy_rows(10_000) * 40)
    packed = pack(tmp_path / "site.7z", {"Posts.xml": content})  # the packer looks back less than 10,000 rows
    assert len(content) > 2 * 55_000_000
    del content
    tracemalloc.start()
    try:
        assert sum(1 for _ in Dump(packed).rows()) == 400_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 55_000_000


@pytest.mark.parametrize(
    "files, told",
    [
        ({"Users.xml": b"<users/>"}, "holds no Posts.xml, expected the .7z of one site's dump, got 'Users.xml'"),
        ({"so-Posts.7z": b"7z"}, "unpack 'so-Posts.7z', and give that"),
        ({"a/Posts.xml": b"<posts/>", "b/Posts.xml": b"<posts/>"}, "expected one Posts.xml, got 'a/Posts.xml', 'b/Pos"),
        ({"Posts.xml": b"<users></users>"}, "got a file with the root element <users>"),
        ({"Posts.xml": b""}, "got an empty file"),
    ],
)
def test_an_archive_of_something_else_is_refused(how, tmp_path, files, told):
    packed = pack(tmp_path / "site.7z", files)
    with pytest.raises(InputError) as refused:
        read(packed)
    assert told in str(refused.value)


@pytest.mark.parametrize("header", [False, True], ids=["files", "names"])
def test_a_password_is_named(how, tmp_path, header):
    packed = pack(tmp_path / "site.7z", {"Posts.xml": POSTS.read_bytes()}, password="secret", header_encryption=header)
    with pytest.raises(InputError, match="got one with a password; unpack it first"):
        read(packed)


def cut_off(content):
    return content[: len(content) // 2]


def changed(content):
    return content[:5000] + bytes(byte ^ 0x55 for byte in content[5000:5100]) + content[5100:]


def short(content):
    return content[:20]


@pytest.mark.parametrize("damage", [cut_off, changed, short])
def test_damage_is_named(how, tmp_path, damage):
    packed = pack(tmp_path / "site.7z", {"Posts.xml": bytes_of(noisy_rows(1000))})
    packed.write_bytes(damage(packed.read_bytes()))
    with pytest.raises(InputError, match="expected a whole 7z archive, got a damaged one"):
        read(packed)


def test_an_archive_that_unpacks_to_far_more_than_a_dump_does_is_refused(how, tmp_path, monkeypatch):
    packed = pack(tmp_path / "site.7z", {"Badges.xml": bytes(20_000_000), "Posts.xml": b"<posts></posts>"})
    assert read(packed)[0] == []  # little enough for any archive
    monkeypatch.setattr(archive_module, "_ALWAYS_ALLOWED", 1000)
    with pytest.raises(InputError, match=r"expected at most 2,000 times its .* bytes, got 20,000,015 when unpacked"):
        read(packed)


def test_an_archive_of_too_many_files_is_refused(how, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "MOST_ENTRIES", 3)
    with pytest.raises(InputError, match="expected a dump, of at most 3 files, got more"):
        read(pack(tmp_path / "site.7z", {f"{n}.xml": b"x" for n in range(4)}))


def test_reading_may_stop_early(how, tmp_path):
    packed = pack(tmp_path / "site.7z", {"Posts.xml": bytes_of(noisy_rows(20_000))})
    rows = Dump(packed, block=1000).rows()
    assert next(rows).line == 2
    rows.close()


LISTING = 'print("Path = Posts.xml\\nSize = 1000000000\\nEncrypted = -\\n") if sys.argv[1] == "l" else '


@pytest.fixture
def packed(tmp_path):
    return pack(tmp_path / "site.7z", {"Posts.xml": POSTS.read_bytes()})


@pytest.fixture(autouse=True)
def _large_enough(monkeypatch):
    monkeypatch.setattr(archive_module, "_ALWAYS_ALLOWED", 1 << 40)


def test_a_program_is_preferred(packed, tmp_path, monkeypatch):
    content = b"<posts>" + ROW % (5, b"T") + b"</posts>"
    said = f'print("Path = Posts.xml\\nSize = {len(content)}") if sys.argv[1] == "l" else print({content.decode()!r}, end="")'
    only(monkeypatch, tmp_path, _7z=said)
    assert [post.post_id for post in read(packed)[0]] == [5]


@pytest.mark.parametrize(
    "ending, told",
    [
        (
            '(print("<posts>"), print("\\nERROR: no room", file=sys.stderr), sys.exit(8))',
            "code 8, saying 'ERROR: no room'",
        ),
        ('(print("<posts>"), sys.exit(2))', "got it ended with code 2"),
        ('(print("<posts>", flush=True), os.kill(os.getpid(), 9))', "it was ended by signal 9"),
        ('(print("<posts>"), print("ERROR: CRC Failed : Posts.xml", file=sys.stderr), sys.exit(2))', "a damaged one"),
        ('print("<posts></posts>")', "expected 1,000,000,000 bytes of 'Posts.xml', got 16; download it again"),
    ],
)
def test_a_program_that_fails_midway_is_named(packed, tmp_path, monkeypatch, ending, told):
    only(monkeypatch, tmp_path, _7zz=LISTING + ending)
    with pytest.raises(InputError) as refused:
        read(packed)
    assert told in str(refused.value)


def test_a_program_that_gives_more_than_it_said_is_ended(packed, tmp_path, monkeypatch):
    endless = "[print('<posts>' + ' ' * 1000) for _ in iter(int, 1)]"
    only(monkeypatch, tmp_path, _7za=LISTING.replace("1000000000", "3000000") + endless)
    with pytest.raises(InputError, match=r"expected 3,000,000 bytes of 'Posts.xml', got more"):
        read(packed)


def test_a_program_that_does_not_start_is_named(packed, tmp_path, monkeypatch):
    only(monkeypatch, tmp_path, _7z="")
    program = tmp_path / "bin" / "7z"
    program.write_text("#!/nowhere/at/all\n")
    with pytest.raises(InputError, match=r"cannot start .*/bin/7z'"):
        read(packed)


def test_a_program_that_says_all_but_does_not_end_is_ended(packed, tmp_path, monkeypatch):
    only(monkeypatch, tmp_path, _7z="os.close(1); time.sleep(1000)")
    unpacker = ByProgram(packed, str(tmp_path / "bin" / "7z"), patience=0.1)
    with pytest.raises(InputError, match="it does not end"):
        list(unpacker.entries())


def test_the_program_is_ended_when_reading_stops_early(packed, tmp_path, monkeypatch):
    told = tmp_path / "pid"
    endless = f"(open({str(told)!r}, 'w').write(str(os.getpid())), [print('<posts><row Id=') for _ in iter(int, 1)])"
    only(monkeypatch, tmp_path, _7z=LISTING + endless)
    rows = Dump(packed).rows()
    next(rows)
    os.kill(int(told.read_text()), 0)  # it runs
    rows.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_without_a_program_and_py7zr_it_is_said_what_to_install(packed, tmp_path, monkeypatch):
    only(monkeypatch, tmp_path)
    monkeypatch.setitem(sys.modules, "py7zr", None)
    with pytest.raises(MissingExtraError, match=r"py7zr is not installed; pip install 'freshstack-datasets\[build\]'"):
        read(packed)


@pytest.mark.skipif(not REAL, reason="no program that unpacks 7z is installed")
def test_an_archive_that_the_program_made_is_read_by_the_library(tmp_path, monkeypatch):
    packed = tmp_path / "site.7z"
    subprocess.run([shutil.which(REAL[0]), "a", "-bd", packed, POSTS], stdout=subprocess.DEVNULL, check=True)
    only(monkeypatch, tmp_path)
    assert read(packed)[0] == read(POSTS)[0]


@pytest.mark.parametrize("where", ["-site.7z", "@site.7z", "a*b.7z", "später.7z"])
def test_the_archives_name_means_nothing_to_the_program(how, tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    pack(tmp_path / where, {"Posts.xml": POSTS.read_bytes()})
    assert len(read(Path(where))[0]) == len(read(POSTS)[0])


def test_a_snapshot_of_an_archive_is_that_of_the_file_inside_it(how, tmp_path):
    given = {"plain": POSTS, "packed": pack(tmp_path / "bread.7z", {"Posts.xml": POSTS.read_bytes()})}
    options = ["--site", "bread.stackexchange.com", "--snapshot", "2024-04"]
    for name, path in given.items():
        assert main(["accepted-answers", str(path), *options, "--out", str(tmp_path / name)]) == 0
    plain, packed = (load(tmp_path / name).manifest for name in given)
    assert packed.fingerprint == plain.fingerprint
    assert packed.sources[0].sha256 == plain.sources[0].sha256 == hashlib.sha256(POSTS.read_bytes()).hexdigest()
    assert packed.sources[0].name == "bread.7z/Posts.xml"


def test_a_build_that_fails_midway_leaves_nothing(packed, tmp_path, monkeypatch, capsys):
    only(monkeypatch, tmp_path, _7zz=LISTING + '(print("<posts>"), sys.exit(2))')
    out = tmp_path / "out"
    arguments = ["--site", "bread.stackexchange.com", "--snapshot", "2024-04", "--out", str(out)]
    assert main(["accepted-answers", str(packed), *arguments]) == FreshStackError.exit_code
    assert "it ended with code 2" in capsys.readouterr().err
    assert not out.exists()


def test_waiting_threads_end(packed, tmp_path, monkeypatch):
    """Of a reader that stops while the library still unpacks, nothing stays behind."""
    only(monkeypatch, tmp_path)
    large = pack(tmp_path / "large.7z", {"Posts.xml": bytes_of(noisy_rows(20_000))})
    before = threading.active_count()
    rows = Dump(large, block=1000).rows()
    next(rows)
    rows.close()
    assert threading.active_count() == before
