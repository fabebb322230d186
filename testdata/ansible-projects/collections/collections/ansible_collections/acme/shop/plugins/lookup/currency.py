from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        return [{'eu': 'EUR', 'us': 'USD'}[term] for term in terms]
