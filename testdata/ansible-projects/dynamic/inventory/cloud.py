#!/usr/bin/python3
import json
import sys

hosts = {
    'i-01': {'region': 'eu', 'size': 'small', 'tags': {'role': 'web', 'env': 'prod'}},
    'i-02': {'region': 'us', 'size': 'large', 'tags': {'role': 'db', 'env': 'prod'}},
}
groups = {'_meta': {'hostvars': {}}, 'all': {'children': ['cloud']}, 'cloud': {'hosts': [], 'vars': {'ansible_connection': 'local', 'from_program': True}}}
for name, facts in sorted(hosts.items()):
    groups['_meta']['hostvars'][name] = facts
    groups['cloud']['hosts'].append(name)
    for key, value in [('region', facts['region'])] + sorted(facts['tags'].items()):
        groups.setdefault('tag_%s_%s' % (key, value) if key != 'region' else value, {'hosts': []})['hosts'].append(name)
if sys.argv[1:] == ['--list']:
    print(json.dumps(groups))
else:
    print(json.dumps({}))
