# Runs the module that is in the same file, with the arguments that come on standard input. What Python has compiled of the file is kept
# next to it, for as long as the file is the same: to compile takes as long as most modules run.
import sys

pack = sys.path[0]


def run():
    from ansible.module_utils import basic

    basic._ANSIBLE_ARGS = getattr(sys.stdin, 'buffer', sys.stdin).read()
    basic._ANSIBLE_PROFILE = 'legacy'
    import runpy

    runpy.run_module(MODULE, init_globals={'_module_fqn': MODULE, '_modlib_path': pack}, run_name='__main__', alter_sys=True)


class Kept(object):
    # An importer of what is in the file: names of modules -> (whether it is a package, its code).

    def __init__(self, loader, machinery):
        import marshal
        import os

        self.loader, self.machinery, self.marshal, self.os = loader, machinery, marshal, os
        self.path = pack[:-len('.zip')] + '.' + sys.implementation.cache_tag + '.code'
        self.codes, self.new, self.absent = {}, False, set()
        try:
            with open(self.path, 'rb') as f:
                self.codes = marshal.load(f)
        except Exception:
            pass  # it is not there yet, or of a Python that was something else: it is made again

    def find_spec(self, name, path=None, target=None):
        is_package, code = self.find(name)
        if code is None:
            return None
        where = pack + '/' + name.replace('.', '/')
        spec = self.machinery.ModuleSpec(name, self, origin=where + ('/__init__.py' if is_package else '.py'), is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations.append(where)
        return spec

    def find(self, name):
        if name in self.codes:
            return self.codes[name]
        if name in self.absent:
            return False, None
        try:
            # As the path of a package may lead out of the file, only what is in it under its full name is taken.
            loader = type(self.loader)(pack + '/' + name.rpartition('.')[0].replace('.', '/')) if '.' in name else self.loader
            last = name.rpartition('.')[2]
            found = loader.is_package(last), loader.get_code(last)
        except ImportError:
            self.absent.add(name)
            return False, None
        self.codes[name], self.new = found, True
        return found

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.codes[module.__spec__.name][1], module.__dict__)

    def is_package(self, name):
        return self.find(name)[0]

    def get_code(self, name):
        return self.find(name)[1]

    def get_source(self, name):
        return self.get_data(self.get_filename(name)).decode('utf-8')

    def get_filename(self, name):
        return pack + '/' + name.replace('.', '/') + ('/__init__.py' if self.find(name)[0] else '.py')

    def get_data(self, path):
        return self.loader.get_data(path)

    def keep(self):
        # Another process may write the same; whoever reads finds the one or the other, whole.
        if not self.new:
            return
        part = self.path + '.%d' % self.os.getpid()
        try:
            fd = self.os.open(part, self.os.O_WRONLY | self.os.O_CREAT | self.os.O_EXCL, 0o600)
            with self.os.fdopen(fd, 'wb') as f:
                self.marshal.dump(self.codes, f)
            self.os.rename(part, self.path)
        except Exception:
            pass  # it is compiled again the next time


try:
    import importlib.machinery

    kept = Kept(__loader__, importlib.machinery)
except Exception:  # a Python too old for it
    kept = None
    run()
if kept is not None:
    sys.meta_path.insert(0, kept)
    try:
        run()
    finally:
        kept.keep()
