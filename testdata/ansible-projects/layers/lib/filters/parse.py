"""Merges lists of maps by their names."""


def _merge(into, entries):
    for entry in entries or []:
        name = entry['name']
        old = into.setdefault(name, {'name': name, 'weight': 0, 'state': 'present', 'options': {}})
        for key in ('weight', 'state', 'comment', 'value'):
            if key in entry:
                old[key] = entry[key]
        _merge(old['options'], entry.get('options'))


def parse_entries(*lists):
    merged = {}
    for entries in lists:
        _merge(merged, entries)
    return _listed(merged)


def _listed(merged):
    out = []
    for entry in sorted(merged.values(), key=lambda e: (e['weight'], e['name'])):
        if entry['state'] in ('absent', 'ignore'):
            continue
        entry = dict(entry)
        entry['options'] = _listed(entry['options'])
        out.append(entry)
    return out


class FilterModule(object):
    def filters(self):
        return {'parse_entries': parse_entries, 'is_shown': lambda e: bool(e.get('options'))}
