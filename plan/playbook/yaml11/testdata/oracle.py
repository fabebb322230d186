#!/usr/bin/python3
"""Writes the file golden: what the loader of ansible-core makes of plain scalars. Run it where ansible-core is installed:

    /usr/bin/python3 plan/playbook/yaml11/testdata/oracle.py
"""

import json
import os

from ansible.parsing.dataloader import DataLoader

forms = """
1:30 0o17 1e3 1.5e3 08 017 1_000 0b11 .5 1e+3 1.5e+3 1:30:15.5 0x1F -017 +5 1. 1_0.5_0 .inf .NaN 0x 190:20:30 1:60
12:30:45 -1:30 2001-12-14 99999999999999999999 0xFFFFFFFFFFFFFFFFFF 0o7 1e5 y 0_7 00 0 -0 1__0 _1 0b1_1 0x_1
685.230_15e+03 1.5E3 1.5E-3 .5e+1 -.5 +.inf 22:22 00:30 1:5 1:05.5 09:30 1_ 0b 0777 ~ = 1.2.3 +0b11 8_8:30 00:00:01 0:0
.e+3 5.e+3 0B11 0X1f 1_000.5 0_ 0b_ 0x_ 01:30 1:30. ._ .5_ -0x1F -0b11 0_8 -.inf .INF .nan +.5 1.e5 0.1e-5 on Off NO Yes
N n 9223372036854775808 -9223372036854775809 01777777777777777777777 1e400 1.0e+400 1:30:60 +1:30 190:20:30.15 0:30
10:00 1:2:3:4 99999999999999999:00
"""

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden"), "w") as golden:
    for form in forms.split():
        try:
            value = DataLoader().load("a: " + form + "\n")["a"]
            said = [{"AnsibleUnicode": "str"}.get(type(value).__name__, type(value).__name__), str(value)]
        except Exception as e:
            said = ["error", type(e).__name__]
        print(json.dumps([form] + said), file=golden)
