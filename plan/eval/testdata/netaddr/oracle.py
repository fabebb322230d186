#!/usr/bin/python3
"""Asks the filters of the collection ansible.utils and writes what they answer to the file golden. Run it where the collection and
Python's netaddr are installed; ANSIBLE_COLLECTIONS_PATH says where the collection is:

    /usr/bin/python3 plan/eval/testdata/netaddr/oracle.py
"""

import json
import os

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

values = [
    "192.0.2.10", "192.0.2.10/24", "192.0.2.0/24", "192.0.2.255/24", "10.1.2.3/32", "10.1.2.2/31", "10.1.2.3/31", "10.1.2.4/30",
    "10.1.2.5/30", "10.1.2.6/30", "10.1.2.7/30", "8.8.8.8", "8.8.8.0/24", "127.0.0.1", "169.254.3.4/16", "224.0.0.5", "0.0.0.0",
    "255.255.255.0", "192.168.1.1/255.255.255.0", "192.168.1.1/0.0.0.255", "100.64.1.2", "2001:db8::5", "2001:db8::5/64",
    "2001:db8::/64", "2001:db8::/127", "::1", "fe80::1", "fe80::1/10", "ff02::1", "fd00::1/8", "2002:c000:20a::1", "2002:c000:20a::1/48",
    "::ffff:192.0.2.1", "::ffff:192.0.2.1/128", "2606:4700::1111", 3232235777, "3221225994", "3232235777/24", "x", "", "1.2.3.4.5",
    "192.0.2.10/33", "192.0.2.10/x", "2001:db8::/130", True, "host.example.com", "198.51.100.7", "172.16.0.0/12", "11.0.0.0/8",
]
queries = [
    "", "6to4", "address", "address/prefix", "bool", "broadcast", "cidr", "first_usable", "gateway", "host", "hostmask", "int", "ip",
    "ip/prefix", "ip_netmask", "ipv4", "ipv6", "last_usable", "link-local", "loopback", "multicast", "net", "next_usable", "netmask",
    "network", "network_netmask", "network_wildcard", "peer", "prefix", "previous_usable", "private", "public", "range_usable", "revdns",
    "size", "size_usable", "subnet", "type", "unicast", "version", "wildcard", "wrap", "1", "-1", "300", "192.0.2.0/24", "2001:db8::/32",
    "10.0.0.0/8", "nonsense",
]
cases = [(name, v, [q]) for name in ("ipaddr",) for v in values for q in queries]
cases += [(name, v, [q]) for name in ("ipv4", "ipv6") for v in values for q in ("", "address", "192.0.2.0/24", "1")]
cases += [("ipaddr", values, [q]) for q in ("", "address", "ipv4", "private", "192.0.2.0/24")]
cases += [("ipwrap", v, []) for v in values if v is not True and not isinstance(v, int)] + [("ipwrap", values, [])]
cases += [
    ("ipsubnet", v, a)
    for v in ("192.168.0.0/16", "192.168.144.5", "192.168.144.16/28", "2001:db8::/48", "x")
    for a in ([], ["20"], ["20", 0], ["20", -1], ["20", 5], ["20", 50], ["33"], ["18", 0], ["18", 1], ["18", -1], ["18", -5],
              ["192.168.0.0/16"], ["10.0.0.0/8"], ["8"], ["64"], ["64", 3], ["192.168.144.0/20"])
]
cases += [("nthhost", v, [n]) for v in ("10.0.0.0/8", "10.0.0.5/29", "2001:db8::/64", "10.0.0.1", "x") for n in (1, 0, 7, 300, -1, -3)]
cases += [("ipmath", v, [n]) for v in ("192.168.1.5", "192.168.1.5/24", "2001:db8::1", "0.0.0.0", "x") for n in (5, -5, 0, 256)]
cases += [
    (name, a, [b])
    for name in ("network_in_network", "network_in_usable")
    for a in ("192.168.0.0/24", "192.168.0.0/31", "2001:db8::/32", "192.168.0.1")
    for b in ("192.168.0.0", "192.168.0.1", "192.168.0.255", "192.168.0.0/30", "192.168.0.0/23", "10.0.0.1", "2001:db8::5", "192.168.0.1")
]
cases += [
    (name, v, [n])
    for name in ("next_nth_usable", "previous_nth_usable")
    for v in ("192.168.122.1/24", "192.168.122.254/24", "192.168.122.0/24", "192.168.122.5", "2001:db8::5/64", "10.0.0.0/31", "x")
    for n in (1, 2, 300, 0)
]
cases += [("reduce_on_network", ["192.168.0.34", "10.3.0.3", "192.168.2.34", "192.168.0.0/26", "2001:db8::1"], [n])
          for n in ("192.168.0.0/24", "10.0.0.0/8", "2001:db8::/32")]
cases += [("slaac", v, [m]) for v in ("fdcf:1894:23b5:d38c:0000:0000:0000:0000", "2001:db8::/64", "10.0.0.0/8")
          for m in ("c2:31:b3:83:bf:2b", "x", "5254.0012.3456")]
cases += [
    ("cidr_merge", v, a)
    for v in (["192.168.0.0/17", "192.168.128.0/17", "192.168.128.1"], ["192.168.0.1", "192.168.0.2", "192.168.0.3"], ["10.0.0.0/8", "10.1.0.0/16"],
              ["192.168.1.42", "192.168.42.1"], ["2001:db8::/33", "2001:db8:8000::/33", "10.0.0.1"], ["10.0.0.5/24"], [], ["x"])
    for a in ([], ["merge"], ["span"])
]
cases += [("ip4_hex", v, a) for v in ("192.168.1.5", "0.0.0.255") for a in ([], [":"])]
cases += [
    (name, v, [q])
    for name in ("hwaddr", "macaddr")
    for v in ("52:54:00:12:34:56", "52-54-00-12-34-56", "5254.0012.3456", "525400123456", "52:54:0:12:34:56", "x", "52:54:00:12:34", "525400:123456")
    for q in ("", "bare", "bool", "int", "cisco", "eui48", "linux", "pgsql", "unix", "win", "nonsense")
]

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "golden"), "w") as golden:
    for name, value, args in cases:
        given = {"value": value, "args": args}
        call = "".join(", args[%d]" % i for i in range(len(args)))[2:]
        templar = Templar(loader=DataLoader(), variables=given)
        one = {"filter": name} | given
        try:
            one["answer"] = templar.template("{{ [value | ansible.utils.%s(%s)] }}" % (name, call))[0]
            json.dumps(one)
        except Exception as e:
            one["error"] = True
        json.dump(one, golden)
        golden.write("\n")
