"""A disk that turns read-only or full while files on it are open, and back: a folder seen through the kernel's FUSE.

`mount -o remount,ro` is refused while anybody writes, and a real one that failed stays so until it is unmounted.
Run as `python fuse.py FOLDER PLACE SWITCH [SYNCED]`: FOLDER appears at PLACE; SWITCH holds "ro", "full" or nothing, or
"torn N": after N more writes to a log of SQLite half of one is written, then SWITCH holds "cut" and every change fails.
SYNCED gets a copy of every file at its last fsync: what is left when the machine loses its power.
"""

# One system call for each of the kernel's: pathlib has other names for them.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH115, PTH211

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from struct import Struct, unpack_from

HEADER = Struct("<IIQQIIIHH")
ANSWER = Struct("<IiQ")
ATTRIBUTES = Struct("<6Q10I")
ENTRY = Struct("<4Q2I")
OPENED = Struct("<QIi")
TRANSFER = Struct("<QQIIQII")
SETATTR = Struct("<IIQQQQQQ8I")
INIT = Struct("<4I2H2I2H2I12H")
LARGEST = 128 * 1024
KEEP_CACHE = 2
GROWING = frozenset({6, 8, 9, 13, 16, 35, 43})
CHANGING = GROWING | {4, 10, 11, 12, 45}
UNANSWERED = frozenset({2, 42, 36})


class Disk:
    """The folder behind the mount; one method per kind of request."""

    def __init__(self, folder: str, switch: str, synced: str = "") -> None:
        self.switch = switch
        self.synced = synced
        self.paths = {1: folder}
        self.numbers = {folder: 1}
        self.operations: dict[int, Callable[[int, bytes], bytes]] = {
            1: self.lookup, 3: self.getattr, 4: self.setattr, 5: self.readlink, 6: self.symlink, 8: self.mknod,
            9: self.mkdir, 10: self.unlink, 11: self.rmdir, 12: self.rename, 14: self.open, 15: self.read,
            16: self.write, 17: self.statfs, 18: self.release, 20: self.sync, 25: self.nothing, 26: self.init,
            27: self.opendir, 28: self.readdir, 29: self.nothing, 34: self.nothing, 35: self.create, 45: self.rename2,
        }  # fmt: skip

    def answer(self, opcode: int, node: int, body: bytes) -> bytes:
        """Do what the kernel asks for.

        Raises:
            OSError: it is not possible, or nothing may change now.
        """
        if opcode in CHANGING or opcode == 14:
            self._may_change(opcode, body)
        if opcode not in self.operations:
            raise OSError(errno.ENOSYS, "unknown")
        return self.operations[opcode](node, body)

    def _may_change(self, opcode: int, body: bytes) -> None:
        state = Path(self.switch).read_text()
        writes = opcode != 14 or unpack_from("<I", body)[0] & os.O_ACCMODE
        if state == "ro" and writes:
            raise OSError(errno.EROFS, "read-only")
        if state == "full" and opcode in GROWING:
            raise OSError(errno.ENOSPC, "full")
        if state == "cut" and writes:
            raise OSError(errno.EIO, "cut off")

    def init(self, node: int, body: bytes) -> bytes:
        return INIT.pack(7, 31, LARGEST, 1 << 5, 12, 9, LARGEST, 1, 0, 0, 0, 0, *[0] * 12)

    def lookup(self, node: int, body: bytes) -> bytes:
        return self._entry(self._child(node, body))

    def getattr(self, node: int, body: bytes) -> bytes:
        known, _, handle = unpack_from("<IIQ", body)
        return Struct("<QII").pack(0, 0, 0) + attributes(os.fstat(handle) if known & 1 else os.lstat(self.paths[node]))

    def setattr(self, node: int, body: bytes) -> bytes:
        valid, _, handle, size, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid, _ = SETATTR.unpack(body)
        place: int | str = handle if valid & 64 else self.paths[node]
        if valid & 1:
            os.chmod(place, stat.S_IMODE(mode))
        if valid & 6:
            os.chown(place, uid if valid & 2 else -1, gid if valid & 4 else -1)
        if valid & 8:
            os.truncate(place, size)
        if valid & 32 and not valid & 256:
            os.utime(place, ns=(atime * 10**9 + atime_ns, mtime * 10**9 + mtime_ns))
        return self.getattr(node, Struct("<IIQ").pack(valid >> 6 & 1, 0, handle))

    def readlink(self, node: int, body: bytes) -> bytes:
        return os.fsencode(os.readlink(self.paths[node]))

    def symlink(self, node: int, body: bytes) -> bytes:
        name, target, _ = body.split(b"\0")
        os.symlink(target, self._child(node, name))
        return self._entry(self._child(node, name))

    def mknod(self, node: int, body: bytes) -> bytes:
        mode, device = unpack_from("<II", body)
        os.mknod(self._child(node, body[16:]), mode, device)
        return self._entry(self._child(node, body[16:]))

    def mkdir(self, node: int, body: bytes) -> bytes:
        os.mkdir(self._child(node, body[8:]), unpack_from("<I", body)[0])
        return self._entry(self._child(node, body[8:]))

    def unlink(self, node: int, body: bytes) -> bytes:
        os.unlink(path := self._child(node, body))
        self._forget(path)
        if self.synced:
            self._synced(path).unlink(missing_ok=True)
        return b""

    def rmdir(self, node: int, body: bytes) -> bytes:
        os.rmdir(path := self._child(node, body))
        self._forget(path)
        return b""

    def rename(self, node: int, body: bytes) -> bytes:
        old, new, _ = body[8:].split(b"\0")
        return self._move(self._child(node, old), self._child(unpack_from("<Q", body)[0], new))

    def rename2(self, node: int, body: bytes) -> bytes:
        return self.rename(node, body[:8] + body[16:])

    def open(self, node: int, body: bytes) -> bytes:
        flags = unpack_from("<I", body)[0] & ~(os.O_CREAT | os.O_EXCL | os.O_NOCTTY | os.O_TRUNC | os.O_APPEND)
        return OPENED.pack(os.open(self.paths[node], flags), KEEP_CACHE, 0)

    def create(self, node: int, body: bytes) -> bytes:
        flags, mode = unpack_from("<II", body)
        path = self._child(node, body[16:])
        handle = os.open(path, (flags | os.O_CREAT) & ~os.O_APPEND, stat.S_IMODE(mode))
        return self._entry(path) + OPENED.pack(handle, KEEP_CACHE, 0)

    def read(self, node: int, body: bytes) -> bytes:
        handle, offset, size, *_ = TRANSFER.unpack(body)
        return os.pread(handle, size, offset)

    def write(self, node: int, body: bytes) -> bytes:
        handle, offset, *_ = TRANSFER.unpack_from(body)
        content = body[TRANSFER.size :]
        if self.paths[node].endswith("-wal") and self._tears():
            content = content[: len(content) // 2]
        return Struct("<II").pack(os.pwrite(handle, content, offset), 0)

    def _tears(self) -> bool:
        word, _, more = Path(self.switch).read_text().partition(" ")
        if word != "torn":
            return False
        Path(self.switch).write_text(f"torn {int(more) - 1}" if int(more) else "cut")
        return not int(more)

    def release(self, node: int, body: bytes) -> bytes:
        os.close(unpack_from("<Q", body)[0])
        return b""

    def sync(self, node: int, body: bytes) -> bytes:
        handle = unpack_from("<Q", body)[0]
        os.fsync(handle)
        if self.synced and stat.S_ISREG(os.fstat(handle).st_mode):
            copy = self._synced(self.paths[node])
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.with_name(f"{copy.name}.copying").write_bytes(Path(self.paths[node]).read_bytes())
            copy.with_name(f"{copy.name}.copying").replace(copy)
        return b""

    def nothing(self, node: int, body: bytes) -> bytes:
        return b""

    def statfs(self, node: int, body: bytes) -> bytes:
        found = os.statvfs(self.paths[1])
        sizes = (found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree)
        return Struct("<5Q4I6I").pack(*sizes, found.f_bsize, 255, found.f_frsize, 0, *[0] * 6)

    def opendir(self, node: int, body: bytes) -> bytes:
        return OPENED.pack(0, 0, 0)

    def readdir(self, node: int, body: bytes) -> bytes:
        _, offset, size, *_ = TRANSFER.unpack(body)
        found = b""
        for place, entry in enumerate(sorted(os.scandir(self.paths[node]), key=lambda entry: entry.name)):
            name = os.fsencode(entry.name)
            kind = stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode) >> 12
            line = Struct("<QQII").pack(entry.inode(), place + 1, len(name), kind) + name
            line += b"\0" * (-len(line) % 8)
            if place >= offset and len(found) + len(line) <= size:
                found += line
        return found

    def _child(self, node: int, name: bytes) -> str:
        return f"{self.paths[node]}/{os.fsdecode(name.partition(bytes(1))[0])}"

    def _entry(self, path: str) -> bytes:
        found = os.lstat(path)
        if path not in self.numbers:
            self.numbers[path] = max(self.paths) + 1
            self.paths[self.numbers[path]] = path
        return ENTRY.pack(self.numbers[path], 0, 0, 0, 0, 0) + attributes(found)

    def _synced(self, path: str) -> Path:
        return Path(self.synced + path.removeprefix(self.paths[1]))

    def _forget(self, path: str) -> None:
        self.numbers.pop(path, None)

    def _move(self, old: str, new: str) -> bytes:
        os.rename(old, new)
        self._forget(new)
        if self.synced and self._synced(old).is_file():
            self._synced(old).replace(self._synced(new))
        for path, number in [*self.numbers.items()]:
            if path == old or path.startswith(f"{old}/"):
                moved = new + path.removeprefix(old)
                del self.numbers[path]
                self.numbers[moved], self.paths[number] = number, moved
        return b""


def attributes(found: os.stat_result) -> bytes:
    """Write what `stat` found as the kernel reads it."""
    times = (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)
    seconds, rest = [time // 10**9 for time in times], [time % 10**9 for time in times]
    kind = (found.st_mode, found.st_nlink, found.st_uid, found.st_gid, found.st_rdev, found.st_blksize, 0)
    return ATTRIBUTES.pack(found.st_ino, found.st_size, found.st_blocks, *seconds, *rest, *kind)


def main() -> None:
    """Mount, say so, and serve until unmounted."""
    folder, place, switch, *synced = sys.argv[1:]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"disk", os.fsencode(place), b"fuse", 0, options):
        sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")
    print("mounted", flush=True)
    os.umask(0)
    serve(device, Disk(str(Path(folder)), switch, *synced))


def serve(device: int, disk: Disk) -> None:
    """Answer the kernel, one request after the other."""
    while True:
        try:
            request = os.read(device, LARGEST + 4096 * 2)
        except OSError as error:
            if error.errno == errno.ENODEV:  # unmounted
                return
            continue
        _, opcode, unique, node, *_ = HEADER.unpack_from(request)
        if opcode in UNANSWERED:
            continue
        try:
            code, body = 0, disk.answer(opcode, node, request[HEADER.size :])
        except OSError as error:
            code, body = -(error.errno or errno.EIO), b""
        try:
            os.write(device, ANSWER.pack(ANSWER.size + len(body), code, unique) + body)
        except OSError as error:
            if error.errno != errno.ENOENT:  # the client has left
                raise


if __name__ == "__main__":
    main()
