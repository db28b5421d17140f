"""Carries events from the Lambda Runtime API to a Python handler, and its results back.

Written for speed: one connection (of two pipes), one write for each invocation (the result, and the question for
the next event behind it), and nothing imported that a handler does not need.
"""
import json
import os
import re
import sys
import time

API = os.environ["AWS_LAMBDA_RUNTIME_API"]
TASK_ROOT = os.environ.get("LAMBDA_TASK_ROOT", os.getcwd())
PREFIX = "/2018-06-01/runtime/"
NEXT = ("GET %sinvocation/next HTTP/1.1\r\nHost: %s\r\n\r\n" % (PREFIX, API)).encode()
RESPONSE = ("POST %sinvocation/%%b/response HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
            "Content-Length: %%d\r\n\r\n%%b" % (PREFIX, API)).encode() + NEXT
OWN_FILE = __file__
CONTENT_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)").search
FIELDS = re.compile(r"\r\n([^:]+): *([^\r]*)").findall

decode_json = json.JSONDecoder().decode


def plain(value):
    """What json does not know, as Lambda writes it."""
    if type(value).__name__ == "Decimal":
        return str(value)
    raise TypeError("Object of type %s is not JSON serializable" % type(value).__name__)


# Newer runtimes leave what is not ASCII as it is.
encode_json = json.JSONEncoder(
    default=plain,
    ensure_ascii=os.environ.get("AWS_EXECUTION_ENV", "")
    in ("AWS_Lambda_python3.%d" % minor for minor in range(6, 12)),
).encode


class Fault(Exception):
    """An error that is told in the platform's words."""

    def __init__(self, kind, message, trace=None):
        Exception.__init__(self, message)
        self.kind = kind
        self.trace = trace or []


class Connection:
    def __init__(self):
        # Two pipes from the server, which cost less than its port.
        self.input, self.output = (int(number) for number in os.environ.pop("REDRIVE_RUNTIME_LINK").split(","))
        os.set_inheritable(self.input, False)
        os.set_inheritable(self.output, False)
        self.buffer = b""
        # Made once: room for every piece would cost more than what it holds.
        self.space = bytearray(65536)
        self.view = memoryview(self.space)
        self.spaces = (self.space,)

    def piece(self):
        count = os.readv(self.input, self.spaces)
        if count == 0:
            os._exit(0)  # The server is gone, and with it everybody to work for.
        return self.view[:count]

    def read_rest(self, body, size):
        """A body of which more is to come than a piece."""
        whole = bytearray(size)
        at = len(body)
        whole[:at] = body
        view = memoryview(whole)
        while at < size:
            count = os.readv(self.input, (view[at:],))
            if count == 0:
                os._exit(0)
            at += count
        return whole

    def read(self):
        """The next answer: its head, and its body."""
        buffer = self.buffer
        end = buffer.find(b"\r\n\r\n")
        while end < 0:
            buffer += self.piece()
            end = buffer.find(b"\r\n\r\n")
        head = buffer[:end]
        begin = end + 4
        stop = begin + int(CONTENT_LENGTH(head).group(1))
        if len(buffer) < stop:
            self.buffer = b""
            return head, self.read_rest(buffer[begin:], stop - begin)
        self.buffer = buffer[stop:]
        return head, buffer[begin:stop]

    def post(self, path, body, kind=None, behind=b""):
        head = "POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (
            PREFIX, path, API, len(body))
        if kind:
            kind = "".join(c for c in kind if " " < c < "\x7f")
            head += "Lambda-Runtime-Function-Error-Type: %s\r\n" % kind
        self.send(head.encode() + b"\r\n" + body + behind)

    def send(self, data):
        try:
            sent = os.write(self.output, data)
            while sent < len(data):
                sent += os.write(self.output, data[sent : sent + 1048576])
        except BrokenPipeError:
            os._exit(0)


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

    def __init__(self, headers):
        self.aws_request_id = headers["lambda-runtime-aws-request-id"]
        self.invoked_function_arn = headers.get("lambda-runtime-invoked-function-arn")
        self._deadline_ms = int(headers["lambda-runtime-deadline-ms"])
        client = headers.get("lambda-runtime-client-context")
        if client:
            self.client_context = ClientContext(decode_json(client))

    def get_remaining_time_in_millis(self):
        return max(0, self._deadline_ms - int(time.time() * 1000))

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


def frames_of(error):
    """The stack without the frames of this file and of the import machinery."""
    import traceback

    def is_ours(name):
        return name == OWN_FILE or name.startswith("<frozen importlib") or name.endswith("/importlib/__init__.py")

    return traceback.format_list([f for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)])


def document_of(error, request_id):
    if isinstance(error, Fault):
        kind, trace = error.kind, error.trace
    else:
        kind, trace = type(error).__name__, frames_of(error)
    return {"errorMessage": str(error), "errorType": kind, "requestId": request_id, "stackTrace": trace}


def print_error(document):
    lines = "[ERROR] %s: %s\n" % (document["errorType"], document["errorMessage"])
    if document["stackTrace"]:
        lines += "Traceback (most recent call last):\n" + "".join(document["stackTrace"])
    try:
        sys.stdout.write(lines if lines.endswith("\n") else lines + "\n")
    except (AttributeError, ValueError, OSError):
        pass  # The handler has closed it, or put something else in its place.
    flush()


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
        trace = '  File "%s" Line %s\n    %s\n' % (error.filename, error.lineno, (error.text or "").rstrip("\n"))
        raise Fault("Runtime.UserCodeSyntaxError", "Syntax error in module '%s': %s" % (shown, error), [trace])
    try:
        return getattr(module, function_name)
    except AttributeError:
        raise Fault("Runtime.HandlerNotFound", "Handler '%s' missing on module '%s'" % (function_name, shown))


def fail_init(connection, error):
    document = document_of(error, "")
    print_error(document)
    connection.post("init/error", json.dumps(document).encode(), document["errorType"])
    connection.read()
    os._exit(1)


def headers_of(head):
    return {name.lower(): value for name, value in FIELDS(head.decode("utf-8", "replace"))}


def run(handler, body, context):
    """The result as JSON."""
    try:
        event = decode_json(body.decode())
    except ValueError as error:
        raise Fault("Runtime.UnmarshalError", "Unable to unmarshal input: %s" % error)
    result = handler(event, context)
    try:
        return encode_json(result).encode("utf-8", "surrogatepass")
    except Exception as error:
        raise Fault("Runtime.MarshalError", "Unable to marshal response: %s" % error)


def serve(connection, handler):
    global current
    traced = None
    connection.send(NEXT)
    while True:
        head, body = connection.read()
        if not head.startswith(b"HTTP/1.1 200"):
            continue  # The answer to a result. If it was refused, the server knows why.
        headers = headers_of(head)
        current = context = Context(headers)
        request_id = context.aws_request_id
        trace = headers.get("lambda-runtime-trace-id")
        if trace:
            os.environ["_X_AMZN_TRACE_ID"] = trace
        elif traced:
            del os.environ["_X_AMZN_TRACE_ID"]
        traced = trace
        try:
            payload = run(handler, body, context)
        except Exception as error:
            document = document_of(error, request_id)
            print_error(document)
            body = json.dumps(document).encode()
            connection.post("invocation/" + request_id + "/error", body, document["errorType"], NEXT)
        else:
            flush()
            connection.send(RESPONSE % (request_id.encode(), len(payload), payload))
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
    connection = Connection()
    try:
        handler = load_handler()
    except Exception as error:
        fail_init(connection, error)
    serve(connection, handler)


if __name__ == "__main__":
    main()
