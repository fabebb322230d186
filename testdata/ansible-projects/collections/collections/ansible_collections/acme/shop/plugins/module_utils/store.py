import json
import os


class Store:
    def __init__(self, path):
        self.path = path
        if not os.path.isdir(path):
            os.makedirs(path)

    def file(self, name):
        return os.path.join(self.path, name + '.json')

    def get(self, name):
        if not os.path.exists(self.file(name)):
            return None
        with open(self.file(name)) as f:
            return json.load(f)

    def put(self, name, product):
        if product is None:
            os.remove(self.file(name))
            return
        with open(self.file(name), 'w') as f:
            json.dump(product, f, sort_keys=True)
