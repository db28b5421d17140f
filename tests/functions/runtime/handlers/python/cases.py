"""Handlers that behave, and handlers that do not. Each test names one."""
import logging
import os
import subprocess
import sys
import time

calls = 0


class OrderRejected(Exception):
    pass


def echo(event, context):
    return event


def nothing(event, context):
    pass


def count(event, context):
    global calls
    calls += 1
    return {"calls": calls, "pid": os.getpid()}


def about(event, context):
    names = ("aws_request_id", "function_name", "function_version", "invoked_function_arn", "memory_limit_in_mb",
             "log_group_name", "log_stream_name")
    result = {name: getattr(context, name) for name in names}
    result["remaining"] = context.get_remaining_time_in_millis()
    result["custom"] = context.client_context.custom if context.client_context else None
    result["trace"] = os.environ.get("_X_AMZN_TRACE_ID")
    return result


def environment(event, context):
    return dict(os.environ)


def obeys(event, context):
    """What the event says, in this order; tells whether it was there before it was asked for."""
    began = time.monotonic_ns()
    remaining = context.get_remaining_time_in_millis()
    if "print" in event:
        print(event["print"])
    if "write" in event:
        os.write(2, event["write"].encode() + b"\n")
    time.sleep(event.get("sleep", 0))
    if "exit" in event:
        os._exit(event["exit"])
    if "raise" in event:
        raise OrderRejected(event["raise"])
    ahead = sys._getframe(2).f_locals["timeout"] is not None
    return {
        "n": event.get("n"),
        "began": began,
        "ended": time.monotonic_ns(),
        "ahead": ahead,
        "remaining": remaining,
        "size": len(event.get("filler", "")),
        "arn": context.invoked_function_arn,
        "trace": os.environ.get("_X_AMZN_TRACE_ID", ""),
        "custom": context.client_context.custom["n"] if context.client_context else None,
    }


def deaf(event, context):
    os.close(3)  # Where events come from.
    return os.getpid()


def rejects(event, context):
    check(event)


def check(event):
    raise OrderRejected("no such customer: " + str(event["customer"]))


def prints(event, context):
    print("first line")
    print("to stderr", file=sys.stderr)
    logging.getLogger().warning("careful %s", event["n"])
    return event["n"]


def floods(event, context):
    line = "x" * 1023 + "\n"
    for _ in range(100 * 1024):
        sys.stdout.write(line)
    print("the last line")
    return "done"


def sleeps(event, context):
    print("before")
    time.sleep(event["seconds"])
    return "slept"


def ignores_sigterm(event, context):
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return os.getpid()


def exits(event, context):
    print("about to go")
    sys.stdout.flush()
    os._exit(event["code"])


def quits(event, context):
    sys.exit(event["code"])


def kills_itself(event, context):
    os.kill(os.getpid(), 9)


def leaks(event, context):
    if event == "not yet":
        return
    held = []
    while True:
        held.append(bytearray(4 << 20))
        time.sleep(0.005)


def forks(event, context):
    """Leaves a child that would live for long, in its own session when asked."""
    child = subprocess.Popen(["sleep", event["seconds"]], start_new_session=event["apart"])
    if event["hang"]:
        print("child", child.pid)
        time.sleep(60)
    return child.pid


def returns_set(event, context):
    return {1, 2}


def huge(event, context):
    return "x" * event["bytes"]


def unicode(event, context):
    return {"text": event["text"], "length": len(event["text"])}


def looks_around(event, context):
    result = {}
    for path in event["paths"]:
        try:
            result[path] = sorted(os.listdir(path))
        except OSError as error:
            result[path] = type(error).__name__
    return result


def writes(event, context):
    result = {}
    for path in event["paths"]:
        try:
            with open(path, "w") as file:
                file.write("hello")
            result[path] = True
        except OSError:
            result[path] = False
    with open(os.path.join(os.environ["TMPDIR"], "own"), "w") as file:
        file.write("hello")
    return result


def identity(event, context):
    return {"uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(), "sid": os.getsid(0),
            "fds": sorted(int(name) for name in os.listdir("/proc/self/fd"))}


def steals(event, context):
    """Asks another worker's Runtime API for an event."""
    import socket
    with socket.create_connection(("127.0.0.1", event["port"]), timeout=2) as stolen:
        stolen.sendall(b"GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            return len(stolen.recv(1000))
        except OSError as error:
            return type(error).__name__


def port(event, context):
    return int(os.environ["AWS_LAMBDA_RUNTIME_API"].split(":")[1])


ring = {"kept": []}


def circles(event, context):
    """The same objects each time, of which one is inside itself, or is not."""
    ring["kept"][:] = [ring] if event["close"] else []
    return [ring, ring]
