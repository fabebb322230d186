#!/usr/bin/python
import json
import os
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kvstore import read, write


def main():
    module = AnsibleModule(
        argument_spec={'file': {'type': 'path', 'required': True}, 'pairs': {'type': 'dict', 'required': True}, 'token': {'no_log': True}},
        supports_check_mode=True)
    before = read(module.params['file'])
    after = dict(before, **module.params['pairs'])
    if after != before and not module.check_mode:
        write(module.params['file'], after)
    module.exit_json(changed=after != before, pairs=after, token=module.params['token'])


if __name__ == '__main__':
    main()
