"""MD5 of message attributes, computed independently of the server."""

import hashlib
import struct


def md5_of_body(body):
    return hashlib.md5(body.encode()).hexdigest()


def md5_of_attributes(attributes):
    """Attributes sorted by name; each is name, type, transport byte and value, length first."""
    digest = hashlib.md5()
    for name in sorted(attributes, key=lambda name: name.encode()):
        value = attributes[name]
        digest.update(_sized(name.encode()) + _sized(value["DataType"].encode()))
        if value["DataType"].startswith("Binary"):
            digest.update(b"\x02" + _sized(value["BinaryValue"]))
        else:
            digest.update(b"\x01" + _sized(value["StringValue"].encode()))
    return digest.hexdigest()


def _sized(data):
    return struct.pack(">I", len(data)) + data
