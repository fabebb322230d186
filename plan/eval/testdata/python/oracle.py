#!/usr/bin/python3
"""Renders the cases with Ansible's own templates and writes the file golden. Run it where ansible-core is installed:

    /usr/bin/python3 plan/eval/testdata/python/oracle.py

A line of several expressions with a space or a bar between them is one case for each.
"""

import json
import os
import re

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

variables = {
    "name": "web", "text": "hello world", "digits": "5", "yes_text": "yes",
    "n": 5, "zero": 0, "half": 1.5, "three": 3.0, "flag": True, "off": False, "nothing": None,
    "lst": ["a", "b", "c"], "nums": [3, 1, 2], "empty": [], "line1": "one line", "multi": "one\ntwo\n",
    "cfg": {"deep": {"x": 1}, "host": "h1", "ports": [80, 443]},
    "users": [
        {"admin": True, "age": 30, "groups": ["a", "b"], "name": "ann"},
        {"admin": False, "age": 20, "groups": ["b"], "name": "bob"},
        {"admin": True, "age": 25, "groups": [], "name": "cid", "nick": "c"},
    ],
    "done": {"changed": True, "failed": False, "rc": 0, "stdout": "ok\n"},
    "sk": {"changed": False, "failed": False, "skipped": True},
}

here = os.path.dirname(os.path.abspath(__file__))
os.environ["TZ"] = "UTC"
templar = Templar(loader=DataLoader(), variables=variables)
templar.environment.add_extension("jinja2.ext.loopcontrols")
with open(os.path.join(here, "cases")) as cases, open(os.path.join(here, "golden"), "w") as golden:
    for case in cases:
        case = case.rstrip("\n")
        if not case or case.startswith("#"):
            continue
        each = [case] if "{%" in case else re.split(r"(?<=\}\})[ |](?=\{\{)", case)
        for one in each:
            try:
                said = {"text": str(templar.template(one, convert_data=False))}
            except Exception as e:
                said = {"error": type(e).__name__}
            json.dump({"case": one} | said, golden, ensure_ascii=False)
            golden.write("\n")
