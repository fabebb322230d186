import os

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        out = []
        for term in terms:
            path = self.find_file_in_search_path(variables, 'files', term)
            if not path:
                raise AnsibleError('no such list: %s' % term)
            with open(path) as f:
                out.extend([dict(name=line.split(':')[0], shell=line.strip().split(':')[1]) for line in f if ':' in line])
        return [u for u in out if u['shell'] == kwargs.get('shell', u['shell'])]
