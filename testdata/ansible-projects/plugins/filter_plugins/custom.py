from __future__ import absolute_import, division, print_function

from ansible.errors import AnsibleFilterError


def to_ini(data, sort=True):
    out = []
    for section in (sorted(data) if sort else data):
        out.append('[%s]' % section)
        for key, value in sorted(data[section].items()):
            out.append('%s=%s' % (key, str(value).lower() if isinstance(value, bool) else value))
    return '\n'.join(out) + '\n'


def bytes_of(text):
    units = {'K': 1024, 'M': 1024 ** 2, 'G': 1024 ** 3}
    try:
        return int(float(text[:-1]) * units[text[-1]])
    except (KeyError, ValueError):
        raise AnsibleFilterError('no size: %s' % text)


class FilterModule(object):
    """Filters"""

    def filters(self):
        return {'to_ini': to_ini, 'bytes_of': bytes_of, 'keep': lambda hosts, hostvars, key: [h for h in hosts if hostvars[h].get(key)]}
