# Calls filters, tests and lookups for moon. Each line on standard input is a request or the answer to a question; each line on the
# original standard output is a question, a result or an error. What plugins print goes to standard error.
import base64
import hashlib
import importlib
import json
import os
import sys
import traceback
import types
from collections.abc import Mapping, MutableMapping, Iterator, KeysView, ValuesView, ItemsView, Sequence, Set

# The two ends of the conversation, out of the reach of plugins and of the programs that they start.
incoming = os.fdopen(os.dup(0), 'rb')
outgoing = os.fdopen(os.dup(1), 'wb')
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)


def say(message):
    outgoing.write(json.dumps(message, allow_nan=False).encode('ascii') + b'\n')
    outgoing.flush()


def hear():
    line = incoming.readline()
    if not line:
        raise Gone()
    return json.loads(line)


class Gone(BaseException):
    """moon has ended, or wants nothing more."""


class Stop(BaseException):
    """Ends a call whose answer moon has already: a plugin must not catch it as an Exception."""


def ask(**question):
    say({'ask': question})
    answer = hear()
    if answer.get('stop'):
        raise Stop()
    return answer


class Refused(Exception):
    """What a plugin gave cannot be a value of moon."""


OMIT = '__omit_place_holder__' + hashlib.sha1(os.urandom(16)).hexdigest()


# Values: JSON, in which {"!": [KIND, …]} stands for what JSON has not.

def text_of(encoded):
    return base64.b64decode(encoded).decode('utf-8', 'surrogateescape')


def bytes_of(text):
    try:
        return text.encode('utf-8', 'surrogateescape')
    except UnicodeEncodeError:
        return text.encode('utf-8', 'replace')


def value_of(v, final=False):
    """What moon has sent. What is final has been rendered, and is not to be rendered again."""
    if type(v) is str:
        return wrap_var(v) if final and ('{{' in v or '{%' in v) else v
    if type(v) is list:
        return [value_of(x, final) for x in v]
    if type(v) is not dict:
        return v
    special = v.get('!')
    if special is None:
        return {k: value_of(x, final) for k, x in v.items()}
    kind = special[0]
    if kind == 'map':
        return {value_of(k): value_of(x, final) for k, x in special[1]}
    if kind == 'float':
        return float(special[1])
    if kind == 'bytes':
        return text_of(special[1])
    if kind == 'omit':
        return OMIT
    if kind == 'undefined':
        return AnsibleUndefined(hint=special[2] or None, name=special[1] or None)
    if kind == 'lazy':
        return Entries(special[1])
    raise ValueError(kind)


def plain(v, depth=0):
    """A value as moon takes it."""
    if v is None or v is True or v is False:
        return v
    if depth > 200:
        raise Refused('a value that is nested more than 200 deep')
    if isinstance(v, str):
        v = str.__str__(v)
        if v == OMIT:
            return {'!': ['omit']}
        try:
            v.encode('utf-8')
        except UnicodeEncodeError:
            return {'!': ['bytes', base64.b64encode(bytes_of(v)).decode('ascii')]}
        return v
    if isinstance(v, int):
        return int(v)
    if isinstance(v, float):
        return float(v) if v - v == 0 else {'!': ['float', repr(float(v))]}
    if isinstance(v, bytes):
        return plain(v.decode('utf-8', 'surrogateescape'), depth)
    if isinstance(v, Undefined):
        name = getattr(v, '_undefined_name', None)
        return {'!': ['undefined', name if isinstance(name, str) else '', getattr(v, '_undefined_hint', None) or v._undefined_message]}
    if isinstance(v, Mapping):
        pairs = [(key_of(k, depth), plain(x, depth + 1)) for k, x in v.items()]
        if all(type(k) is str and k != '!' for k, _ in pairs):
            return dict(pairs)
        return {'!': ['map', pairs]}
    if isinstance(v, Set):  # as Ansible prints one; the order of a set is another one each time
        items = list(v)
        try:
            items.sort()
        except TypeError:
            items.sort(key=repr)
        return [plain(x, depth + 1) for x in items]
    if isinstance(v, (Sequence, Iterator, KeysView, ValuesView, ItemsView, range)):
        return [plain(x, depth + 1) for x in v]
    if isinstance(v, (datetime.date, datetime.time, datetime.timedelta)):
        return str(v)
    kind = type(v)
    raise Refused('an object of the type %s.%s, which is no text, number, list or map' % (kind.__module__, kind.__qualname__))


def ordinary(v):
    """A value as any reader of JSON takes it: what JSON has not becomes text."""
    if type(v) is list:
        return [ordinary(x) for x in v]
    if type(v) is not dict:
        return v
    special = v.get('!')
    if special is None:
        return {k: ordinary(x) for k, x in v.items()}
    if special[0] == 'map':
        return {k if type(k) is str else str(ordinary(k)): ordinary(x) for k, x in special[1]}
    if special[0] == 'float':
        return special[1]
    if special[0] == 'bytes':
        return text_of(special[1]).encode('utf-8', 'replace').decode('utf-8')
    raise Refused('a value without a form in an inventory')


def key_of(k, depth):
    if isinstance(k, (str, int, float)) or k is None:
        return plain(k, depth + 1)
    return plain(str(k), depth + 1)


class Entries(MutableMapping):
    """A map that moon has, such as hostvars, whose entries are asked for. What a plugin sets stays here."""

    def __init__(self, number, own=None):
        self._number, self._own, self._keys = number, dict(own or {}), None

    def __getitem__(self, key):
        if key not in self._own:
            answer = ask(of=self._number, key=key if isinstance(key, (str, int, float)) else str(key))
            if 'missing' in answer:
                raise KeyError(key)
            self._own[key] = value_of(answer['value'], True)
        return self._own[key]

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __setitem__(self, key, v):
        self._own[key] = v

    def __delitem__(self, key):
        raise TypeError('an entry of a map of moon cannot be removed')

    def _names(self):
        if self._keys is None:
            self._keys = value_of(ask(keys=self._number)['value'])
        return self._keys

    def __iter__(self):
        names = self._names()
        yield from names
        for key in self._own:
            if key not in names:
                yield key

    def __len__(self):
        return sum(1 for _ in self)

    def copy(self):
        return Entries(self._number, self._own)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def raw_get(self, key):  # of Ansible's HostVars
        return self[key]


class Names(dict):
    """Filters or tests of an environment, with the one that is called in front."""

    def __init__(self, rest):
        dict.__init__(self)
        self.rest = rest

    def __missing__(self, key):
        return self.rest[key]

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        return dict.__contains__(self, key) or key in self.rest


# Plugins.

later = {}  # parts of this program that are read when they are needed
modules = {}  # by path and digest
loaders = {}  # by directory


class Changed(Exception):
    pass


def load(request):
    """The module of a file, which is run only if it is the text that was meant."""
    path, digest = request['path'], request['digest']
    if (path, digest) in modules:
        return modules[path, digest]
    for member in request.get('members') or ():
        with open(member['path'], 'rb') as f:
            if hashlib.sha256(f.read()).hexdigest() != member['digest']:
                raise Changed(member['path'])
    with open(path, 'rb') as f:
        text = f.read()
    if hashlib.sha256(text).hexdigest() != digest:
        raise Changed(path)
    name = request.get('module')
    if not name:
        name = 'moon_%s_%d' % (os.path.splitext(os.path.basename(path))[0], len(modules))
    m = types.ModuleType(name)
    m.__file__ = path
    if request.get('module'):
        m.__package__ = name.rpartition('.')[0]
        importlib.import_module(m.__package__)  # for imports from next to it
    sys.modules[name] = m
    try:
        exec(compile(text, path, 'exec', dont_inherit=True), m.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    modules[path, digest] = m
    return m


def given(request):
    """What a file of filters or tests has, by name."""
    kind = request['kind']
    m = load(request)
    of = getattr(m, 'FilterModule' if kind == 'filter' else 'TestModule')()
    return getattr(of, kind + 's')()


def templar_in(directory, variables):
    if directory not in loaders:
        loaders[directory] = DataLoader()
        loaders[directory].set_basedir(directory)
    return Templar(loader=loaders[directory], variables=variables)


def call(request):
    kind, name = request['kind'], request['given']
    final = kind == 'lookup'
    args, kwargs = [value_of(v, final) for v in request['args']], {k: value_of(v, final) for k, v in request['named']}
    variables = Entries(0, request.get('variables'))
    if kind == 'lookup':
        return look_up(request, args, kwargs, variables)
    functions = given(request)
    if name not in functions:
        raise Refused('no %s `%s`' % (kind, name))
    f, subject = functions[name], value_of(request['value'])
    if any(hasattr(f, mark) for mark in wants_more):
        v = call_within(kind, name, f, subject, args, kwargs, templar_in(request['dir'], variables).environment, variables)
    else:
        v = f(subject, *args, **kwargs)
    if kind == 'test':
        return bool(v)
    return list(v) if isinstance(v, Iterator) else v


# By these Jinja knows, in its versions, a function that wants the environment or the context as well.
wants_more = ('jinja_pass_arg', 'contextfilter', 'evalcontextfilter', 'environmentfilter', 'contextfunction', 'environmentfunction')


def call_within(kind, name, f, subject, args, kwargs, env, variables):
    """Calls what wants Jinja's environment or context, which see the variables of moon."""
    context = env.context_class(env, variables, None, {})
    if kind == 'filter':
        env.filters = Names(env.filters)
        env.filters[name] = f
        return env.call_filter(name, subject, args, kwargs, context=context, eval_ctx=context.eval_ctx)
    env.tests = Names(env.tests)
    env.tests[name] = f
    if 'context' in env.call_test.__func__.__code__.co_varnames:
        return env.call_test(name, subject, args, kwargs, context=context, eval_ctx=context.eval_ctx)
    return env.call_test(name, subject, args, kwargs)  # of an old Jinja


def look_up(request, terms, options, variables):
    m = load(request)
    lookup_loader._load_config_defs(request['given'].rpartition('.')[2], m, request['path'])
    templar = templar_in(request['dir'], variables)
    plugin = m.LookupModule(loader=templar._loader, templar=templar)
    plugin._load_name = request['given'].rpartition('.')[2]
    plugin._original_path = request['path']
    plugin._redirected_names = [request['name']]
    plugin.ansible_name = request['given']
    plugin.ansible_aliases = [request['given']]
    found = plugin.run(terms, variables=variables, **options)
    if isinstance(found, (str, bytes)) or not isinstance(found, (Sequence, Iterator, Set)):
        raise Refused('%s, and not a list' % type(found).__name__)
    return found


def list_hosts(request):
    """What an inventory plugin finds, as a program prints it for --list."""
    m, name, source = load(request), request['given'].rpartition('.')[2], request['source']
    inventory_loader._load_config_defs(name, m, request['path'])
    plugin = m.InventoryModule()
    plugin._load_name = name
    plugin._original_path = request['path']
    plugin._redirected_names = [request['name']]
    plugin.ansible_name = request['given'] if '.' in request['given'] else (request['module'] or name)
    plugin.ansible_aliases = [name, request['name']]
    loader = DataLoader()
    loader.set_basedir(request['dir'])
    if not plugin.verify_file(source):
        raise Refused('it does not take %s: its verify_file says no, often because of how the file is called' % source)
    inventory = InventoryData()
    plugin.parse(inventory, loader, source, cache=False)
    inventory.reconcile_inventory()
    groups = {}
    for g in inventory.groups.values():
        groups[g.name] = {
            'hosts': [h.name for h in g.hosts], 'children': [c.name for c in g.child_groups], 'vars': written(g.vars),
        }
    hostvars = {}
    for h in inventory.hosts.values():
        hostvars[h.name] = written({k: v for k, v in h.vars.items() if k not in ('inventory_file', 'inventory_dir')})
    return dict(groups, _meta={'hostvars': hostvars})


def written(v):
    """A value in an inventory. What a plugin calls unsafe is no template there either."""
    if isinstance(v, Mapping):
        return {k: written(x) for k, x in v.items()}
    if isinstance(v, (list, tuple, Set)):
        return [written(x) for x in v]
    if isinstance(v, str) and is_unsafe(v) and ('{{' in v or '{%' in v or '{#' in v):
        return '{%% raw %%}%s{%% endraw %%}' % v if 'endraw' not in v else '{{ %s }}' % json.dumps(str(v))
    return v


def place_of(error, path):
    """The line of a plugin's file in which an error was raised; 0 if it was raised elsewhere."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else 0


def failure(error, request):
    kind, text = 'failed', str(error)
    if isinstance(error, Changed):
        return {'kind': 'changed', 'text': text}
    if isinstance(error, Refused):
        return {'kind': 'refused', 'text': text}
    if isinstance(error, (UndefinedError, AnsibleUndefinedVariable)):
        kind = 'undefined'
    elif isinstance(error, AnsibleError):
        text = str(getattr(error, 'message', None) or text)  # without the place in a file of YAML
    elif isinstance(error, SyntaxError) and error.filename == request.get('path'):
        return {'kind': kind, 'text': '%s: %s' % (type(error).__name__, error.msg), 'line': error.lineno or 0}
    else:
        text = '%s: %s' % (type(error).__name__, text) if text else type(error).__name__
    return {'kind': kind, 'text': text, 'line': place_of(error, request.get('path'))}


def answer(request):
    if request['do'] == 'act':
        if 'act_apart' not in globals():
            exec(compile(later['acting'], '<moon>', 'exec'), globals())
        return act_apart(request)
    return answer_with({
        'names': lambda r: sorted(str(k) for k in given(r)),
        'inventory': lambda r: ordinary(plain(list_hosts(r))),
        'call': call,
    }[request['do']], request)


def answer_with(do, request):
    try:
        return {'result': plain(do(request))}
    except Stop:
        return {'stopped': True}
    except MemoryError:
        return {'error': {'kind': 'failed', 'text': 'it takes more memory than it may'}}
    except RecursionError as error:
        return {'error': {'kind': 'failed', 'text': 'RecursionError: it calls itself without end', 'line': place_of(error, request.get('path'))}}
    except Exception as error:
        return {'error': failure(error, request)}
    except SystemExit as error:
        return {'error': {'kind': 'failed', 'text': 'it exits', 'line': place_of(error, request.get('path'))}}


def begin():
    say({'booted': True})
    settings = hear()
    later['acting'] = settings['acting']
    for name, text in (settings['environment'] or {}).items():
        os.environ[name] = text
    if settings['memory']:
        import resource
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        memory = settings['memory'] if most == resource.RLIM_INFINITY else min(settings['memory'], most)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if settings['path'] not in sys.path:
        sys.path.insert(0, settings['path'])
    try:
        import ansible
        from ansible.release import __version__
        where = os.path.dirname(os.path.realpath(ansible.__file__))
        if where != os.path.realpath(settings['core']):
            raise ImportError('it has the one in %s' % where)
        take_in_ansible()
    except Exception as error:
        say({'unfit': '%s: %s' % (type(error).__name__, error)})
        sys.exit(0)
    os.chdir(settings['dir'])
    say({'ready': __version__})


def take_in_ansible():
    """Imports what plugins and this file need. The names are those of this file."""
    import datetime
    from ansible.errors import AnsibleError, AnsibleUndefinedVariable
    from ansible.parsing.dataloader import DataLoader
    from ansible.plugins import loader
    from ansible.template import Templar
    from ansible.utils.unsafe_proxy import wrap_var
    from jinja2.exceptions import UndefinedError
    from jinja2.runtime import Undefined
    try:
        from ansible.template import AnsibleUndefined
    except ImportError:
        AnsibleUndefined = None
    if hasattr(loader, 'init_plugin_loader'):  # later versions do not do so by themselves
        loader.init_plugin_loader()
    lookup_loader, inventory_loader = loader.lookup_loader, loader.inventory_loader
    from ansible.inventory.data import InventoryData
    try:
        from ansible.utils.unsafe_proxy import AnsibleUnsafe

        def is_unsafe(v):
            return isinstance(v, AnsibleUnsafe)
    except ImportError:  # later versions mark what is a template, and not what is none
        def is_unsafe(v):
            return True
    globals().update({k: v for k, v in locals().items() if k != 'loader'})


try:
    begin()
    while True:
        said = answer(hear())
        if said is not None:
            say(said)
except (Gone, BrokenPipeError):
    sys.exit(0)  # what Ansible has made for itself is removed
