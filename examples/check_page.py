"""Does what a page says, and compares what happens with what the page shows.

    /usr/bin/python3 examples/check_page.py README.md examples/poison-consumer/README.md ...

Blocks of `sh` are run, one after another, in one shell and in the page's directory; a block of `text`
behind one is what it prints. In it `…` stands for anything within a line, and a line of nothing
but `…` for any number of lines. A server of its own runs meanwhile. Blocks of other kinds are for
readers only. Pages wait more than they work: three are checked at a time.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(os.environ.get("REDRIVE_BINARY", ROOT / "build/release/redrive")).resolve()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "---- end of block ----"


def steps(text):
    """Pairs of what to run and what it prints (None: anything)."""
    found = []
    for kind, body in BLOCK.findall(text):
        if kind == "sh":
            found.append([body, None])
        elif kind == "text" and found and found[-1][1] is None:
            found[-1][1] = body
    return found


def pattern(expected):
    lines = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n")
    return re.compile("".join(lines))


def serve(directory):
    log = open(pathlib.Path(directory) / "server.log", "w+")
    server = subprocess.Popen(
        [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", f"{directory}/data"],
        stdout=subprocess.PIPE, stderr=log, text=True,
    )  # fmt: skip
    return server, server.stdout.readline().split()[-1]


def environment(directory, endpoint):
    tools = pathlib.Path(directory) / "tools"
    tools.mkdir()
    (tools / "redrive").symlink_to(BINARY)
    (tools / "python3").symlink_to("/usr/bin/python3")
    return {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def run(page, todo):
    """What each block printed, and whether all of them succeeded."""
    with tempfile.TemporaryDirectory() as directory:
        server, endpoint = serve(directory)
        try:
            script = "set -e\n" + "".join(f"{code}\necho '{END}'\n" for code, _ in todo)
            done = subprocess.run(
                ["bash", "-c", script], cwd=page.parent, env=environment(directory, endpoint),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
            )  # fmt: skip
        finally:
            server.terminate()
            server.wait(30)
    return done.stdout.split(END + "\n"), done.returncode == 0


def check(page):
    todo = steps(page.read_text())
    assert todo, f"{page}: nothing to do"
    printed, succeeded = run(page, todo)
    for (code, expected), output in zip(todo, printed):
        if expected is not None and not pattern(expected).fullmatch(output):
            print(f"{page}: not what it shows:\n{code}\nexpected\n{expected}\nbut it printed\n{output}")
            return False
    if not succeeded:
        print(f"{page}: a command failed:\n{todo[len(printed) - 1][0]}\n{printed[-1]}")
    else:
        print(f"{page}: {len(todo)} blocks as shown")
    return succeeded


if __name__ == "__main__":
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    with concurrent.futures.ThreadPoolExecutor(3) as hands:
        sys.exit(0 if all(list(hands.map(check, pages))) else 1)
