#!/usr/bin/python
DOCUMENTATION = r'''
module: product
short_description: A product of the shop
options:
  name: {description: Its name., required: true, type: str}
  price: {description: What it costs., type: int}
  tags: {description: Words., type: list, elements: str, default: []}
  store: {description: Where products are kept., required: true, type: path}
  state: {description: Whether it is there., choices: [present, absent], default: present, type: str}
'''
import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.acme.shop.plugins.module_utils.store import Store


def main():
    module = AnsibleModule(
        argument_spec=dict(
            name=dict(required=True), price=dict(type='int'), tags=dict(type='list', elements='str', default=[]),
            store=dict(type='path', required=True), state=dict(choices=['present', 'absent'], default='present')),
        required_if=[('state', 'present', ['price'])], supports_check_mode=True)
    store = Store(module.params['store'])
    product = None
    if module.params['state'] == 'present':
        product = dict(name=module.params['name'], price=module.params['price'], tags=module.params['tags'])
    before = store.get(module.params['name'])
    if before != product and not module.check_mode:
        store.put(module.params['name'], product)
    module.exit_json(changed=before != product, product=product, diff=dict(before=before or '', after=product or ''))


if __name__ == '__main__':
    main()
