"""The SQS shapes both raw clients need: Query field names, XML element names, blobs.

Everything above this file speaks in the JSON protocol's member names, with bytes for BinaryValue.
"""

import base64
import xml.etree.ElementTree as ElementTree

NAMESPACE = "{http://queue.amazonaws.com/doc/2012-11-05/}"

_LIST_FIELDS = {
    "AttributeNames": "AttributeName",
    "MessageAttributeNames": "MessageAttributeName",
    "MessageSystemAttributeNames": "MessageSystemAttributeName",
    "TagKeys": "TagKey",
    "AWSAccountIds": "AWSAccountId",
    "Actions": "ActionName",
}
_MAP_FIELDS = {
    "Attributes": ("Attribute", "Name"),
    "MessageAttributes": ("MessageAttribute", "Name"),
    "MessageSystemAttributes": ("MessageSystemAttribute", "Name"),
    "tags": ("Tag", "Key"),
    "Tags": ("Tag", "Key"),
}
_LIST_ELEMENTS = {
    "Message": "Messages",
    "SendMessageBatchResultEntry": "Successful",
    "DeleteMessageBatchResultEntry": "Successful",
    "ChangeMessageVisibilityBatchResultEntry": "Successful",
    "BatchResultErrorEntry": "Failed",
    "ListMessageMoveTasksResultEntry": "Results",
}
_MAP_ELEMENTS = {
    "Attribute": ("Attributes", "Name"),
    "MessageAttribute": ("MessageAttributes", "Name"),
    "Tag": ("Tags", "Key"),
}
_NUMBERS = {
    "ApproximateNumberOfMessagesMoved",
    "ApproximateNumberOfMessagesToMove",
    "MaxNumberOfMessagesPerSecond",
    "StartedTimestamp",
}


def query_fields(action, parameters):
    """The flat form fields of a Query request, as a list of pairs."""
    fields = [("Action", action), ("Version", "2012-11-05")]
    for name, value in parameters.items():
        fields += _member_fields(action, name, value)
    return fields


def _member_fields(action, name, value):
    if name == "Entries":
        return _entries_fields(f"{action}RequestEntry", action, value)
    if name in _LIST_FIELDS:
        return [(f"{_LIST_FIELDS[name]}.{n}", item) for n, item in enumerate(value, 1)]
    if name in _MAP_FIELDS:
        return _map_fields(*_MAP_FIELDS[name], value)
    return [(name, _text(value))]


def _entries_fields(prefix, action, entries):
    fields = []
    for n, entry in enumerate(entries, 1):
        for name, value in entry.items():
            inner = _member_fields(action, name, value)
            fields += [(f"{prefix}.{n}.{field}", text) for field, text in inner]
    return fields


def _map_fields(prefix, key_name, mapping):
    fields = []
    for n, (key, value) in enumerate(mapping.items(), 1):
        fields.append((f"{prefix}.{n}.{key_name}", key))
        if isinstance(value, dict):
            for member, part in value.items():
                fields.append((f"{prefix}.{n}.Value.{member}", _text(part)))
        else:
            fields.append((f"{prefix}.{n}.Value", value))
    return fields


def _text(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def parse_xml_result(action, document):
    """The output of `action` as the JSON protocol would have given it."""
    root = ElementTree.fromstring(document)
    result = root.find(f"{NAMESPACE}{action}Result")
    if result is None:
        return {}
    return _parse_members(action, result)


def _parse_members(action, element):
    """<Message> with children is a message; without, it is the text of a failed entry."""
    output = {}
    for child in element:
        name = child.tag.removeprefix(NAMESPACE)
        if name in _MAP_ELEMENTS:
            member, key_name = _MAP_ELEMENTS[name]
            key = child.findtext(f"{NAMESPACE}{key_name}")
            output.setdefault(member, {})[key] = _parse_value(child.find(f"{NAMESPACE}Value"))
        elif name in _LIST_ELEMENTS and (len(child) or name != "Message"):
            output.setdefault(_LIST_ELEMENTS[name], []).append(_parse_members(action, child))
        elif name == "QueueUrl" and action == "ListQueues":
            output.setdefault("QueueUrls", []).append(child.text)
        elif name == "QueueUrl" and action == "ListDeadLetterSourceQueues":
            output.setdefault("queueUrls", []).append(child.text)
        else:
            output[name] = _parse_scalar(name, child.text or "")
    return output


def _parse_scalar(name, text):
    if name in _NUMBERS:
        return int(text)
    if name == "SenderFault":
        return text == "true"
    return text


def _parse_value(element):
    if len(element) == 0:
        return element.text or ""
    value = {child.tag.removeprefix(NAMESPACE): child.text or "" for child in element}
    if "BinaryValue" in value:
        value["BinaryValue"] = base64.b64decode(value["BinaryValue"])
    return value


def blobs_to_base64(value):
    """A copy with every bytes value as base64 text, as JSON carries it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: blobs_to_base64(item) for key, item in value.items()}
    if isinstance(value, list):
        return [blobs_to_base64(item) for item in value]
    return value


def blobs_from_base64(value):
    """The inverse of `blobs_to_base64` for the one member that is a blob."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item)
            if key == "BinaryValue" and isinstance(item, str)
            else blobs_from_base64(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [blobs_from_base64(item) for item in value]
    return value
