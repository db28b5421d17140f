"""Disks as a power loss may leave them, made from a record of what a server wrote.

record_writes.c writes the record. `Disk` follows it: of every file it knows what is durable, because
a sync that began after the write has ended, and what is not. An image has of the latter whatever
chance decides: each sector as it was, or as some write since left it, independently of its
neighbours, and creations, renames and removals since the last sync of the directory as a prefix or
as a subset. This is what sim/faulty_files.h does to the simulator's files.
"""

import os
import struct

PAGE = 4096
SECTOR = 512
ZEROS_AT_ONCE = 64 << 10  # Long runs of zeros survive or vanish in larger pieces.
_EMPTY = bytes(PAGE)
_HEADER = struct.Struct("<IIQII")


def read_events(path):
    """Yields (position behind the event, type, file, offset, length, payload)."""
    with open(path, "rb") as record:
        position = 0
        while len(header := record.read(_HEADER.size)) == _HEADER.size:
            kind, file, offset, length, size = _HEADER.unpack(header)
            payload = record.read(size)
            if len(payload) < size:
                return  # The server was killed while it wrote this.
            position += _HEADER.size + size
            yield position, chr(kind), file, offset, length, payload


class Content:
    """The bytes of a file, without the pages that are all zero."""

    def __init__(self, pages=None, size=0):
        self.pages = dict(pages or {})
        self.size = size

    def copy(self):
        return Content(self.pages, self.size)

    def write(self, offset, data):
        self.size = max(self.size, offset + len(data))
        at = 0
        while at < len(data):
            page, begin = divmod(offset + at, PAGE)
            part = data[at : at + PAGE - begin]
            old = self.pages.get(page, _EMPTY)
            self.pages[page] = old[:begin] + part + old[begin + len(part) :]
            at += len(part)

    def set_size(self, size):
        self.size = size
        for page in [page for page in self.pages if page * PAGE >= size]:
            del self.pages[page]

    def save(self, path):
        with open(path, "wb") as file:
            file.truncate(self.size)
            for page, data in self.pages.items():
                if data != _EMPTY:
                    file.seek(page * PAGE)
                    file.write(data[: max(0, self.size - page * PAGE)])


class File:
    def __init__(self):
        self.durable = Content()
        self.pending = []  # (number of the event, what, offset, data) since the last sync.

    def sync(self, before):
        for event in [event for event in self.pending if event[0] < before]:
            _apply(self.durable, event[1:])
        self.pending = [event for event in self.pending if event[0] >= before]

    def crash(self, random):
        content = self.durable.copy()
        fate = random.choice(["lost", "kept", "mixed"])
        if fate == "lost":
            return content
        grain = random.choice([SECTOR, PAGE])
        for _, what, offset, data in self.pending:
            for piece in _pieces(what, offset, data, grain):
                if fate == "kept" or random.random() < 0.5:
                    _apply(content, piece)
        return content


def _pieces(what, offset, data, grain):
    if what != "write":
        return [(what, offset, data)]
    grain = grain if any(data[:PAGE]) else ZEROS_AT_ONCE
    pieces = []
    at = 0
    while at < len(data):
        size = min(grain - (offset + at) % grain, len(data) - at)
        pieces.append((what, offset + at, data[at : at + size]))
        at += size
    return pieces


def _apply(content, change):
    what, offset, data = change
    if what == "write":
        content.write(offset, data)
    elif what == "size":
        content.set_size(offset)
    else:
        content.size = max(content.size, offset)


class Disk:
    """What is known at one moment of the record."""

    def __init__(self, syncs_count=True):
        self._syncs_count = syncs_count  # False: as if the server never synced anything.
        self._files = {}
        self._names = {}  # Durable: name -> number of the file.
        self._name_changes = []  # (number of the event, kind, from, to, file)
        self._current = {}  # The names as programs see them.
        self._number = 0
        self._begun = {}  # Syncs under way: their numbers -> the number of the event.

    def follow(self, kind, file, offset, length, payload):
        self._number += 1
        if kind == "C":
            self._files[file] = File()
            self._change_names(kind, "", payload.decode(), file)
        elif kind in "WZ":
            data = payload if kind == "W" else bytes(length)
            self._files[file].pending.append((self._number, "write", offset, data))
        elif kind in "TF":
            what = "size" if kind == "T" else "grow"
            self._files[file].pending.append((self._number, what, offset, b""))
        elif kind in "RX":
            before, after = payload.decode().split("\0")
            if before in self._current:
                self._change_names(kind, before, after, self._current[before])
        elif kind == "U":
            name = payload.decode()
            if name in self._current:
                self._change_names(kind, name, "", self._current[name])
        elif kind in "sd":
            self._begun[offset] = self._number
        elif kind == "S" and self._syncs_count:
            self._files[file].sync(self._begun[offset])
        elif kind == "D" and self._syncs_count:
            self._sync_names(self._begun[offset])

    def _change_names(self, kind, before, after, file):
        self._name_changes.append((self._number, kind, before, after, file))
        _rename(self._current, kind, before, after, file)

    def _sync_names(self, before):
        for number, *change in self._name_changes:
            if number < before:
                _rename(self._names, *change)
        self._name_changes = [change for change in self._name_changes if change[0] >= before]

    def crash(self, random):
        """An image: name -> Content."""
        names = dict(self._names)
        in_order = random.random() < 0.5
        kept = random.randint(0, len(self._name_changes))
        for index, (_, *change) in enumerate(self._name_changes):
            if index < kept if in_order else random.random() < 0.5:
                _rename(names, *change)
        contents = {file: self._files[file].crash(random) for file in sorted(set(names.values()))}
        return {name: contents[file] for name, file in names.items()}


def _rename(names, kind, before, after, file):
    """A change whose file is not under its old name, because an earlier one was lost, is lost."""
    replaced = names.get(after)
    if before:
        if names.get(before) != file:
            return
        del names[before]
    if kind == "X" and replaced is not None:
        names[before] = replaced
    if after:
        names[after] = file


def save(image, directory):
    os.makedirs(directory, mode=0o700)
    for name, content in image.items():
        content.save(os.path.join(directory, name))
