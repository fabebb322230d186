#!/usr/bin/python
# -*- coding: utf-8 -*-
DOCUMENTATION = '''
---
module: counter
short_description: counts
options:
  path: {description: file, required: true}
  step: {description: by how much, type: int, default: 1}
'''
from ansible.module_utils.basic import *  # noqa


def main():
    module = AnsibleModule(argument_spec=dict(path=dict(required=True, type='path'), step=dict(default=1, type='int')), supports_check_mode=True)
    path = module.params['path']
    value = 0
    try:
        with open(path) as f:
            value = int(f.read())
    except FileNotFoundError:
        pass
    except IOError:
        module.fail_json(msg='that is a directory', rc=21)
    value += module.params['step']
    if not module.check_mode:
        with open(path, 'w') as f:
            f.write(str(value))
    module.exit_json(changed=True, value=value, ansible_facts={'counted': value})


main()
