"""Hooks of schemathesis for packaging/api-test.sh: most random calls reach the machine and the folder of the test.

A call that must be refused stays wrong: only texts are replaced, and only by texts.
"""

import itertools
import os
import random

import schemathesis

FOLDER = os.environ["API_TEST_FOLDER"]
KNOWN = ["a.txt", "a.txt", "folder", "folder/b.txt", "binary", "missing", ""]
# The rules of the test allow only these commands. Any other one is refused, and would run in the sandbox.
COMMANDS = ["echo hello", "echo x >folder/new.txt", "cat"]
TEXTS = {"old_string": ["hello", "l"], "oldString": ["hello", "l"], "expected_sha256": [""], "chunk_b64": ["aGVsbG8="], "mode": ["0640"], "pattern": ["*", "l+"]}
ids = {"file_id": [], "command_id": []}
calls = itertools.count()
rare = lambda: random.random() < 0.15


def path(text):
    if rare():
        return text  # anywhere: the rules of the test refuse what lies outside
    if rare():
        return f"{FOLDER}/{text.replace('/', '')[:60]}"
    return f"{FOLDER}/{random.choice(KNOWN)}"


def place(fields):
    """Names the machine, its folder and things that exist in the arguments of a call."""
    for name in ("target", "session"):
        inner = fields.get(name)
        if isinstance(inner, dict) and all(isinstance(inner.get(k, ""), str) for k in ("node_id", "node_name", "network_name")):
            if not rare():
                inner.pop("network_name", None)
                inner.pop("node_id", None)
                inner["node_name"] = "box"
            place(inner)
    for name, text in fields.items():
        if not isinstance(text, str) or rare():
            continue
        if name in ("path", "workdir"):
            fields[name] = path(text)
        elif name == "command":
            fields[name] = random.choice(COMMANDS)
        elif ids.get(name):
            fields[name] = random.choice(ids[name])
        elif name in TEXTS:
            fields[name] = random.choice(TEXTS[name])
    for name in ("shell", "username"):
        if isinstance(fields.get(name), str) and not rare():
            del fields[name]
    if "session" in fields and "idle_timeout" not in fields:
        fields["idle_timeout"] = 0
    elif isinstance(fields.get("idle_timeout"), (int, float)) and fields["idle_timeout"] > 0.1 and not rare():
        fields["idle_timeout"] = 0.1
    if isinstance(fields.get("ops"), list):
        for inner in fields["ops"]:
            if isinstance(inner, dict):
                place(inner)
                if "op" not in inner and not rare():
                    inner.update(op=random.choice(["stat", "list", "mkdir", "write", "edit", "delete"]), path=path("x"))


def choose(fields):
    """Leaves only one of the arguments that exclude each other, so that more calls are complete."""
    for left, right in (("command_id", "session"), ("file_id", "target"), ("chunk", "chunk_b64"), ("edits", "old_string")):
        if left in fields and right in fields and not rare():
            del fields[random.choice([left, right])]
    if "file_id" in fields and not rare():
        for name in ("path", "offset", "encoding", "mode", "expected_sha256"):
            fields.pop(name, None)


def has_null(value):
    if isinstance(value, dict):
        return any(v is None or has_null(v) for v in value.values())
    return isinstance(value, list) and any(map(has_null, value))


@schemathesis.hook
def filter_body(ctx, body):
    """A null for an optional argument counts as missing (docs/api.md), which the checks would take for a fault."""
    return not has_null(body)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    meta = getattr(case, "meta", None)
    if isinstance(case.body, dict):
        place(case.body)
        if meta is not None and meta.generation.mode.is_positive:
            choose(case.body)
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and len(key) < 150 and not rare():  # else most calls would repeat an earlier key
        case.headers["Idempotency-Key"] = f"{key}-{next(calls)}"


@schemathesis.hook
def after_call(ctx, case, response):
    try:
        data = response.json()["data"]
    except Exception:
        return
    for name, known in ids.items():
        if isinstance(data, dict) and isinstance(data.get(name), str):
            known.append(data[name])
            del known[:-20]
