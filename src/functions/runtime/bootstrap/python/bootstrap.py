"""Carries events from the Lambda Runtime API to a Python handler, and its results back.

Written for speed: one connection (of two pipes), one request for each invocation (its result, which is the question
for the next event as well), and nothing imported that a handler does not need.
"""
import json
import marshal
import os
import sys
import time
from time import perf_counter

API = os.environ["AWS_LAMBDA_RUNTIME_API"]
TASK_ROOT = os.environ.get("LAMBDA_TASK_ROOT", os.getcwd())
PREFIX = "/2018-06-01/runtime/"
# Events may come before they are asked for: then the question for them says only that they have begun. They may be
# marshalled, and then say so: of somebody's JSON nothing is ever read that way.
NEXT = ("GET %sinvocation/next HTTP/1.1\r\nHost: %s\r\nRedrive-Ahead: yes\r\nRedrive-Reads: marshal\r\n\r\n"
        % (PREFIX, API)).encode()
AHEAD = b"HTTP/1.1 200 OK\r\nRedrive-Ahead: "
# In the output: what follows belongs to the next event.
MARK = b"\0redrive: next event\0"
# Needs no answer but the next event. Tells how long the handler took, in microseconds.
RESULT = ("POST %sinvocation/%%b/%%b HTTP/1.1\r\nHost: %s\r\nRedrive-Next: %%d\r\n%%bContent-Length: %%d\r\n\r\n%%b"
          % (PREFIX, API)).encode()
OWN_FILE = __file__

decode_json = json.JSONDecoder().decode


def plain(value):
    """What json does not know, as Lambda writes it."""
    if type(value).__name__ == "Decimal":
        return str(value)
    raise TypeError("Object of type %s is not JSON serializable" % type(value).__name__)


def make_encoder(ascii_only):
    """json.JSONEncoder.encode, with that made once which it makes for each value: for a small result, half the time."""
    encoder = json.JSONEncoder(default=plain, ensure_ascii=ascii_only)
    try:
        from json.encoder import c_make_encoder, encode_basestring, encode_basestring_ascii

        around = {}  # What a value is inside of, by which circles are found.
        chunks_of = c_make_encoder(around, plain, encode_basestring_ascii if ascii_only else encode_basestring,
                                   None, encoder.key_separator, encoder.item_separator, False, False, True)
    except (ImportError, TypeError):
        return encoder.encode  # Another Python than we know.

    def encode(value):
        try:
            return "".join(chunks_of(value, 0))
        except BaseException:
            around.clear()
            raise

    return encode


# Newer runtimes leave what is not ASCII as it is.
encode_json = make_encoder(os.environ.get("AWS_EXECUTION_ENV", "")
                           in ("AWS_Lambda_python3.%d" % minor for minor in range(6, 12)))


class Fault(Exception):
    """An error that is told in the platform's words."""

    def __init__(self, kind, message, trace=None):
        Exception.__init__(self, message)
        self.kind = kind
        self.trace = trace or []


class Connection:
    """Two pipes from the server, which cost less than its port. Answers come to nothing but questions for
    events, perhaps before those, and to errors of the start."""

    def __init__(self):
        link = os.environ.pop("REDRIVE_RUNTIME_LINK").split(",")
        self.input, self.output = int(link[0]), int(link[1])
        Context.invoked_function_arn = link[2]
        os.set_inheritable(self.input, False)
        os.set_inheritable(self.output, False)
        self.log = os.dup(2)  # Handlers may close theirs.
        # Made once: room for every answer would cost more than what it holds.
        self.space = bytearray(131072)
        self.view = memoryview(self.space)
        self.at = 0  # What was received and not read is from here
        self.end = 0  # to here.

    def receive(self, spaces):
        count = os.readv(self.input, spaces)
        if count == 0:
            os._exit(0)  # The server is gone, and with it everybody to work for.
        return count

    def read(self):
        """The next answer: the id, the time in milliseconds and the format of an event that came ahead, else nothing
        in their places; its (other) headers; and its body, which is there until the next is read."""
        head = self.space.find(b"\r\n\r\n", self.at, self.end)
        while head < 0:
            self.fill()
            head = self.space.find(b"\r\n\r\n", self.at, self.end)
        if self.space.startswith(AHEAD, self.at):
            # Most have only this, and how much follows.
            text = self.space[self.at + len(AHEAD) : head].decode("utf-8", "replace")
            request_id, timeout, form, _, size, *more = text.split(None, 5)
            headers = headers_of(more[0]) if more else None
        else:
            headers = headers_of(self.space[self.at : head].decode("utf-8", "replace"))
            request_id = timeout = form = None
            size = headers["Content-Length"]
        begin = head + 4
        end = begin + int(size)
        if end > self.end:
            body = self.read_rest(begin, end - begin)
        else:
            self.at = end
            body = self.view[begin:end]
        return request_id, timeout, form, headers, body

    def fill(self):
        """More of an answer, of which the head is not there yet."""
        if self.at == self.end:
            self.at = self.end = 0
        elif self.at > 0:
            rest = bytes(self.view[self.at : self.end])
            self.space[: len(rest)] = rest
            self.at, self.end = 0, len(rest)
        elif self.end == len(self.space):  # Somebody filled the headers up: a client's context may be large.
            space = bytearray(2 * len(self.space))
            space[: self.end] = self.space
            self.space, self.view = space, memoryview(space)
        self.end += self.receive((self.view[self.end :],))

    def read_rest(self, begin, size):
        """A body of which more is to come."""
        whole = bytearray(size)
        at = self.end - begin
        whole[:at] = self.view[begin : self.end]
        self.at = self.end = 0
        view = memoryview(whole)
        while at < size:
            at += self.receive((view[at:],))
        return view

    def send_result(self, request_id, call, duration, body, kind=None):
        more = b"Lambda-Runtime-Function-Error-Type: %b\r\n" % header_text(kind) if kind else b""
        self.send(RESULT % (request_id.encode(), call, duration, more, len(body), body))

    def send(self, data):
        try:
            sent = os.write(self.output, data)
            while sent < len(data):
                sent += os.write(self.output, data[sent : sent + 1048576])
        except BrokenPipeError:
            os._exit(0)


def headers_of(text):
    headers = {}
    for line in text.split("\r\n"):
        name, _, value = line.partition(": ")
        headers[name] = value
    return headers


def header_text(text):
    return "".join(c for c in text if " " < c < "\x7f").encode()


class CognitoIdentity:
    cognito_identity_id = None
    cognito_identity_pool_id = None


class Client:
    def __init__(self, fields):
        for name in ("installation_id", "app_title", "app_version_name", "app_version_code", "app_package_name"):
            setattr(self, name, fields.get(name))


class ClientContext:
    def __init__(self, fields):
        self.custom = fields.get("custom")
        self.env = fields.get("env")
        self.client = Client(fields["client"]) if fields.get("client") else None


class Context:
    function_name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    function_version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION")
    memory_limit_in_mb = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
    log_group_name = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME")
    log_stream_name = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME")
    identity = CognitoIdentity()
    client_context = None
    tenant_id = None
    aws_request_id = ""
    invoked_function_arn = ""

    def __init__(self, request_id, deadline):
        self.aws_request_id = request_id
        self._deadline = deadline  # By perf_counter().

    def add(self, headers):
        arn = headers.get("Lambda-Runtime-Invoked-Function-Arn")
        if arn:
            self.invoked_function_arn = arn
        client = headers.get("Lambda-Runtime-Client-Context")
        if client:
            self.client_context = ClientContext(decode_json(client))

    def get_remaining_time_in_millis(self):
        return max(0, int((self._deadline - perf_counter()) * 1000))

    def log(self, message):
        sys.stdout.write(str(message))

    def __repr__(self):
        return "LambdaContext([aws_request_id=%s,function_name=%s,function_version=%s,invoked_function_arn=%s])" % (
            self.aws_request_id, self.function_name, self.function_version, self.invoked_function_arn)


current = Context  # Of the invocation that runs.


class ImportWatcher:
    """Does something to a module as soon as somebody imports it, and costs nothing before."""

    def __init__(self, name, prepare):
        self.name = name
        self.prepare = prepare

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.prepare(module)

        spec.loader.exec_module = exec_module
        return spec


def teach_endpoint(session):
    """SDKs from before AWS_ENDPOINT_URL (botocore 1.31) find the server, too."""
    import botocore

    if tuple(int(part) for part in botocore.__version__.split(".")[:2]) >= (1, 31):
        return
    make = session.Session.create_client

    def create_client(self, service_name, *args, **kwargs):
        if len(args) < 5 and kwargs.get("endpoint_url") is None:
            kwargs["endpoint_url"] = os.environ.get("AWS_ENDPOINT_URL")
        return make(self, service_name, *args, **kwargs)

    session.Session.create_client = create_client


def install_log_handler(logging):
    class Filter(logging.Filter):
        def filter(self, record):
            record.aws_request_id = current.aws_request_id
            return True

    formatter = logging.Formatter(
        "[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime

    class Handler(logging.StreamHandler):
        @property
        def stream(self):
            return sys.stdout

        @stream.setter
        def stream(self, value):
            pass

    handler = Handler()
    handler.setFormatter(formatter)
    handler.addFilter(Filter())
    logging.getLogger().addHandler(handler)


def shown_path(name):
    """Files of the function as they are on Lambda, wherever they lie here."""
    return "/var/task" + name[len(TASK_ROOT):] if name.startswith(TASK_ROOT + "/") else name


def frames_of(error):
    """The stack without the frames of this file and of the import machinery. As on Lambda, no ^^^^ below the source."""
    import traceback

    def is_ours(name):
        return name == OWN_FILE or name.startswith("<frozen importlib") or name.endswith("/importlib/__init__.py")

    return traceback.format_list([(shown_path(f.filename), f.lineno, f.name, f.line)
                                  for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)])


CHAIN_MAX = 16  # Errors of a chain of causes that are reported; the server keeps the outermost and the innermost.
RECORD_ERRORS_BYTES = 2 << 20  # For the errors of all records of a batch.


def text_of(error):
    try:
        return str(error)
    except Exception:
        return "<unprintable %s>" % type(error).__name__


def cause_of(error):
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def chain_of(error):
    """The error and its causes, nested."""
    chain = []
    while isinstance(error, BaseException) and len(chain) < CHAIN_MAX and not any(error is link for link in chain):
        chain.append(error)
        error = cause_of(error)
    document = None
    for link in reversed(chain):
        inner = document
        document = {"errorType": type(link).__name__, "errorMessage": text_of(link), "stackTrace": frames_of(link)}
        if inner:
            document["cause"] = inner
    return document


def bounded_chain(error, size):
    """The same in no more than about so many bytes: frames next to where the error arose stay."""
    document = link = chain_of(error)
    while link:
        link["errorMessage"] = link["errorMessage"][: max(200, size // 8)]
        frames = link["stackTrace"]
        while len(frames) > 1 and sum(map(len, frames)) > size // 2:
            del frames[: max(1, len(frames) // 4)]
        link = link.get("cause")
    return document


def errors_within(error):
    """Errors of single records that an error carries: those of Powertools' BatchProcessingError, or of a group."""
    for name, field in (("child_exceptions", "recordErrors"), ("exceptions", "errors")):
        children = getattr(error, name, None)
        if not isinstance(children, (list, tuple)) or not children:
            continue
        # Powertools keeps what sys.exc_info() returns.
        found = [child[1] if isinstance(child, tuple) and len(child) == 3 else child for child in children]
        if all(isinstance(child, BaseException) for child in found):
            return field, found
    return None, []


def record_errors(errors):
    size = max(256, min(8192, RECORD_ERRORS_BYTES // len(errors)))
    documents = []
    for error in errors:
        document = bounded_chain(error, size)
        message_id = getattr(error, "message_id", None) or getattr(error, "messageId", None)
        if isinstance(message_id, str):
            document["messageId"] = message_id
        documents.append(document)
    return documents


def document_of(error, request_id):
    if isinstance(error, Fault):
        return {"errorMessage": str(error), "errorType": error.kind, "requestId": request_id,
                "stackTrace": error.trace}
    document = {"errorMessage": text_of(error), "errorType": type(error).__name__, "requestId": request_id,
                "stackTrace": frames_of(error)}
    try:
        cause = cause_of(error)
        if cause is not None:
            document["cause"] = bounded_chain(cause, 32768)
        field, children = errors_within(error)
        if children:
            document[field] = record_errors(children)
    except Exception:
        pass  # Exceptions may have odd attributes. What was said so far is as much as on Lambda.
    return document


item_errors = {}  # Of the invocation that runs: what made records fail, by their message ids.


def watch_batch_processors(module):
    """Powertools' processors catch the errors of single records and report only ids. Remembers the errors."""
    processor = module.BasePartialProcessor
    handle = processor.failure_handler

    def failure_handler(self, record, exception):
        get = record.get if isinstance(record, dict) else lambda name: getattr(record, name, None)
        message_id = get("messageId") or getattr(record, "message_id", None)
        if isinstance(message_id, str):
            item_errors[message_id] = exception[1]
        return handle(self, record, exception)

    processor.failure_handler = failure_handler


def with_item_errors(result):
    """The result of a handler, each failed item with its error beside it."""
    failures = result.get("batchItemFailures") if isinstance(result, dict) else None
    if not isinstance(failures, list):
        return result
    size = max(256, min(8192, RECORD_ERRORS_BYTES // max(1, len(failures))))

    def explained(item):
        error = item_errors.get(item.get("itemIdentifier")) if isinstance(item, dict) else None
        if error is None or "errorType" in item:
            return item
        return {**item, **bounded_chain(error, size)}

    return {**result, "batchItemFailures": [explained(item) for item in failures]}


def print_error(document):
    lines = "[ERROR] %s: %s\n" % (document["errorType"], document["errorMessage"])
    if document["stackTrace"]:
        lines += "Traceback (most recent call last):\n" + "".join(document["stackTrace"])
    try:
        sys.stdout.write(lines if lines.endswith("\n") else lines + "\n")
    except (AttributeError, ValueError, OSError):
        pass  # The handler has closed it, or put something else in its place.


def load_handler():
    name = os.environ.get("_HANDLER", "")
    module_name, dot, function_name = name.rpartition(".")
    if not dot:
        raise Fault("Runtime.MalformedHandlerName",
                    "Bad handler '%s': not enough values to unpack (expected 2, got 1)" % name)
    import importlib

    shown = module_name
    try:
        module = importlib.import_module(module_name.replace("/", "."))
    except ImportError as error:
        raise Fault("Runtime.ImportModuleError", "Unable to import module '%s': %s" % (shown, error))
    except SyntaxError as error:
        trace = '  File "%s" Line %s\n    %s\n' % (shown_path(error.filename or ""), error.lineno, (error.text or "").rstrip("\n"))
        raise Fault("Runtime.UserCodeSyntaxError", "Syntax error in module '%s': %s" % (shown, error), [trace])
    try:
        return getattr(module, function_name)
    except AttributeError:
        raise Fault("Runtime.HandlerNotFound", "Handler '%s' missing on module '%s'" % (function_name, shown))


def fail_init(connection, error):
    document = document_of(error, "")
    print_error(document)
    flush()
    body = json.dumps(document).encode()
    connection.send(b"POST %binit/error HTTP/1.1\r\nHost: %b\r\nLambda-Runtime-Function-Error-Type: %b\r\n"
                    b"Content-Length: %d\r\n\r\n%b"
                    % (PREFIX.encode(), API.encode(), header_text(document["errorType"]), len(body), body))
    connection.read()
    os._exit(1)


def run(handler, form, body, context):
    """The result as JSON."""
    try:
        # What is marshalled is a pair: texts that the event refers to, and the event.
        event = marshal.loads(body)[1] if form == "marshal" else decode_json(str(body, "utf-8"))
    except ValueError as error:
        raise Fault("Runtime.UnmarshalError", "Unable to unmarshal input: %s" % error)
    if item_errors:
        item_errors.clear()
    result = handler(event, context)
    if item_errors:
        result = with_item_errors(result)
    try:
        return encode_json(result).encode("utf-8", "surrogatepass")
    except Exception as error:
        raise Fault("Runtime.MarshalError", "Unable to marshal response: %s" % error)


def serve(connection, handler):
    global current
    traced = None
    connection.send(NEXT)
    while True:
        request_id, timeout, form, headers, body = connection.read()
        begin = perf_counter()
        if request_id:
            os.write(connection.log, MARK)
            deadline = begin + int(timeout) / 1000
        else:
            request_id = headers.get("Lambda-Runtime-Aws-Request-Id")
            if not request_id:
                os._exit(1)  # The question was refused: this process is out of step with the server.
            form = headers.get("Redrive-Format")
            deadline = begin + int(headers["Lambda-Runtime-Deadline-Ms"]) / 1000 - time.time()
        current = context = Context(request_id, deadline)
        trace = None
        if headers:
            context.add(headers)
            trace = headers.get("Lambda-Runtime-Trace-Id")
        if trace:
            os.environ["_X_AMZN_TRACE_ID"] = trace
        elif traced:
            del os.environ["_X_AMZN_TRACE_ID"]
        traced = trace
        try:
            payload = run(handler, form, body, context)
            call, kind = b"response", None
        except Exception as error:
            document = document_of(error, request_id)
            print_error(document)
            payload = json.dumps(document).encode()
            call, kind = b"error", document["errorType"]
        flush()
        connection.send_result(request_id, call, (perf_counter() - begin) * 1e6, payload, kind)
        body = payload = context = None


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass  # The handler has closed it, or put something else in its place.


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.path.insert(0, TASK_ROOT)
    sys.meta_path.insert(0, ImportWatcher("logging", install_log_handler))
    sys.meta_path.insert(0, ImportWatcher("botocore.session", teach_endpoint))
    sys.meta_path.insert(0, ImportWatcher("aws_lambda_powertools.utilities.batch.base", watch_batch_processors))
    connection = Connection()
    try:
        handler = load_handler()
    except Exception as error:
        fail_init(connection, error)
    serve(connection, handler)


if __name__ == "__main__":
    main()
