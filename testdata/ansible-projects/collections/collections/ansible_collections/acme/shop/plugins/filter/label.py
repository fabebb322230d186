class FilterModule(object):
    def filters(self):
        return {'label': lambda product, unit='EUR': '%s for %d %s' % (product['name'], product['price'], unit)}
