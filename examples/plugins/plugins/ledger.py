#!/usr/bin/env python3
"""A long-lived plugin: moon starts it once for a run, and each line is a message of JSON-RPC 2.0.

It keeps a file of accounts, ledger.json, and shows what a plugin can do: arguments with a schema, dry runs with a difference,
progress, cancelling, facts, and an inventory. It needs nothing but Python's own library.
"""
import json
import os
import sys
import threading
import time

CAPABILITIES = [
    {
        "kind": "execute", "name": "ledger.account", "doc": "Keeps one account in a ledger.", "check": "full", "diff": True,
        "schema": {
            "type": "object",
            "required": ["path", "name"],
            "properties": {
                "path": {"type": "string", "format": "path", "description": "The ledger, a file of JSON."},
                "name": {"type": "string", "pattern": "^[a-z]+$", "description": "Whose account it is."},
                "balance": {"type": "integer", "minimum": 0, "description": "What shall be in it.", "default": 0},
                "state": {"enum": ["present", "absent"], "description": "Whether it shall be there.", "default": "present"},
            },
        },
        "returns": {"accounts": "All accounts that there are now."},
    },
    {
        "kind": "execute", "name": "ledger.audit", "doc": "Takes its time to look at everything.", "where": "controller",
        "schema": {"type": "object", "properties": {"seconds": {"type": "number", "minimum": 0, "description": "How long it looks."}}},
    },
    {"kind": "inventory", "name": "ledger"},
    {"kind": "facts", "name": "ledger"},
]

said = threading.Lock()
cancelled = set()


def say(message):
    with said:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def progress(call, **news):
    say({"method": "progress", "params": {"id": call, **news}})


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return None


def account(call, params):
    args = params["task"]["args"]
    path = args["path"]
    before = read(path)
    accounts = json.loads(before or "{}")
    if args.get("state", "present") == "absent":
        accounts.pop(args["name"], None)
    else:
        accounts[args["name"]] = args.get("balance", 0)
    after = json.dumps(accounts, indent=2, sort_keys=True) + "\n"
    if after == before or (before is None and not accounts):
        return {"status": "ok", "data": {"accounts": accounts}}
    if not params.get("check"):
        progress(call, stream="stdout", data="writing " + os.path.basename(path) + "\n")
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(after)
        os.replace(path + ".new", path)
    return {
        "status": "changed", "msg": "the account of " + args["name"], "data": {"accounts": accounts},
        "diff": [{"path": path, "before": before, "after": after}],
    }


def audit(call, params):
    seconds = params["task"]["args"].get("seconds", 1)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if call in cancelled:
            return {"status": "failed", "msg": "it was told to stop"}
        progress(call, pct=round(100 * (1 - left / seconds)), msg="looking")
        time.sleep(min(left, 0.05))
    return {"status": "ok", "msg": "all is well"}


def execute(call, params):
    return {"ledger.account": account, "ledger.audit": audit}[params["task"]["name"]](call, params)


def inventory(call, params):
    accounts = json.loads(read(params["source"]) or "{}")
    return {"hosts": {name: {"balance": balance} for name, balance in accounts.items()}, "groups": {"rich": [n for n, b in accounts.items() if b > 999]}, "vars": {}}


METHODS = {
    "initialize": lambda call, params: {"name": "ledger", "version": "1.0", "protocol": 1, "concurrent": True, "capabilities": CAPABILITIES},
    "execute": execute,
    "inventory": inventory,
    "facts": lambda call, params: {"facts": {"ledger_host": params.get("host", "localhost")}},
}


def answer(message):
    call = message["id"]
    try:
        say({"id": call, "result": METHODS[message["method"]](call, message.get("params", {}))})
    except KeyError:
        say({"id": call, "error": {"code": -32601, "message": "there is no " + message["method"]}})
    except Exception as e:  # whatever goes wrong is the step's failure, and not the end of the plugin
        say({"id": call, "result": {"status": "failed", "msg": f"{type(e).__name__}: {e}"}})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "cancel":
            cancelled.add(message["params"]["id"])
        elif message["method"] == "initialize" or message.get("id") is None:
            answer(message)
        else:
            threading.Thread(target=answer, args=(message,), daemon=True).start()


if __name__ == "__main__":
    main()
