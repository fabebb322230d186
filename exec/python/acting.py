# Carries out the step of an action plugin for moon. It is a part of helper.py, read when the first such step comes. What the plugin does with
# its host goes through moon, which has the connection: Ansible's own code starts modules there, and only how it reaches the host is of here.
import contextlib
import shlex
import signal

CHUNK = 4 << 20  # bytes of a file at a time, as they go through moon


class Unable(Exception):
    """A file that could not be brought to the host or back."""


def take_in_actions():
    """Imports what only action plugins need. The names are those of this file."""
    from ansible.errors import AnsibleAction, AnsibleActionFail, AnsibleActionSkip, AnsibleConnectionFailure
    from ansible.playbook.play_context import PlayContext
    from ansible.playbook.task import Task
    from ansible.plugins import loader as plugin_loaders
    from ansible.plugins.connection import ConnectionBase
    from ansible.utils.display import Display

    class Step(Task):
        """A task as a plugin sees it: what it has of its play, moon has settled."""

        def get_search_path(self):
            return list(self.moon_search_path)

        def get_path(self):
            return self.moon_path

    class Carried(ConnectionBase):
        """The way to the host of a step: moon has the connection, and is the user that the step is to be."""

        has_pipelining = True
        transport = 'ssh'

        def _connect(self):
            self._connected = True
            return self

        def exec_command(self, cmd, in_data=None, sudoable=True):
            given = base64.b64encode(bytes_of(in_data) if isinstance(in_data, str) else in_data or b'').decode('ascii')
            got = ask(run=cmd, input=given)
            return got['rc'], base64.b64decode(got['stdout']), base64.b64decode(got['stderr'])

        def put_file(self, in_path, out_path):
            how = 'cat >'
            with open(in_path, 'rb') as f:
                while True:
                    chunk = f.read(CHUNK)
                    if not chunk and how == 'cat >>':
                        return
                    rc, _, said = self.exec_command('%s %s' % (how, shlex.quote(os.fspath(out_path))), chunk)
                    if rc != 0:
                        raise Unable('%s cannot be written: %s' % (out_path, said.decode('utf-8', 'replace').strip()))
                    how = 'cat >>'

        def fetch_file(self, in_path, out_path):
            with open(out_path, 'wb') as f:
                number = 0
                while True:
                    rc, chunk, said = self.exec_command(
                        'dd if=%s bs=%d skip=%d count=1' % (shlex.quote(os.fspath(in_path)), CHUNK, number))
                    if rc != 0:
                        raise Unable('%s cannot be read: %s' % (in_path, said.decode('utf-8', 'replace').strip()))
                    f.write(chunk)
                    if len(chunk) < CHUNK:
                        return
                    number += 1

        def close(self):
            self._connected = False

        def reset(self):
            pass

        def set_options(self, *args, **kwargs):
            pass

        def get_option(self, option, hostvars=None):
            return self.moon_options[option]

        def has_option(self, option):
            return option in self.moon_options

    globals().update({k: v for k, v in locals().items()})


def connection_of(request, context):
    c = Carried(context, None)
    c.transport = c._load_name = request['connection']['transport']
    c.moon_options = {'pipelining': True, 'remote_user': None, 'host': context.remote_addr, 'remote_addr': context.remote_addr}
    c._shell.set_options(var_options={})
    if request['connection']['becomes']:
        c._shell.set_option('remote_tmp', '/var/tmp')  # whom a step becomes may have no home
    return c


def context_of(request):
    context = PlayContext()
    context.check_mode, context.diff = request['check'], request['diff']
    context.remote_addr, context.remote_user = request['connection']['address'], None
    context.connection = request['connection']['transport']
    context.become = False  # moon has become whom the step is to be
    return context


def step_of(request, loader, variables):
    t = Step()
    t._loader, t._squashed, t._finalized = loader, True, True
    t.action, t.name, t.args = request['action'], request['title'], value_of(request['args'], True)
    t.check_mode, t.diff, t.no_log = request['check'], request['diff'], request['no_log']
    t.environment, t.vars, t.become = [], {}, False
    t.moon_search_path, t.moon_path = variables.get('ansible_search_path') or [], request['origin']
    role_path = variables.get('role_path')
    if role_path:
        name = variables.get('ansible_role_name') or os.path.basename(role_path)
        t._role = types.SimpleNamespace(_role_path=role_path, _role_name=name, get_name=lambda include_role_fqcn=True: name)
    return t


def speak_through_moon(warnings):
    """What a plugin says to people is the step's: it has no terminal."""
    display = Display()
    display.verbosity = 0
    display.display = lambda msg, *args, **kwargs: ask(print=str(msg)) and None
    display.warning = lambda msg, *args, **kwargs: warnings.append(str(msg))
    display.error = display.display
    display.deprecated = lambda msg, *args, **kwargs: None  # what its author has to know


def act(request):
    """Has an action plugin carry out a step. What it gives is a result as modules have it."""
    variables = Entries(0, request['variables'])
    if request['python']:
        variables['ansible_python_interpreter'] = request['python']
    facts = variables.get('ansible_facts')
    if not isinstance(facts, MutableMapping):
        facts = variables['ansible_facts'] = {}
    if request['discovered'] and not request['python']:
        facts['discovered_interpreter_python'] = request['discovered']
    warnings = []
    speak_through_moon(warnings)
    for directory in request['library']:
        plugin_loaders.module_loader.add_directory(directory)
    templar = templar_in(request['dir'], variables)
    plugin_loaders.action_loader._load_config_defs(request['given'].rpartition('.')[2], load(request), request['path'])
    context = context_of(request)
    plugin = load(request).ActionModule(
        task=step_of(request, templar._loader, variables), connection=connection_of(request, context), play_context=context,
        loader=templar._loader, templar=templar, shared_loader_obj=plugin_loaders)
    plugin._load_name = request['given'].rpartition('.')[2]
    plugin._original_path, plugin._redirected_names = request['path'], [request['name']]
    plugin.ansible_name, plugin.ansible_aliases = request['given'], [request['given']]
    result = run_plugin(plugin, variables)
    result['_ansible_warned'] = warnings  # people are to see them, and what was registered does not have them
    return ordinary(plain(result))


def run_plugin(plugin, variables):
    try:
        result = plugin.run(task_vars=variables)
    except AnsibleActionSkip as e:
        result = dict(e.result or {}, skipped=True, msg=str(e.message))
    except AnsibleAction as e:
        result = dict(e.result or {}, failed=True, msg=str(e.message))
    except (AnsibleConnectionFailure, Unable) as e:
        result = {'failed': True, 'msg': str(e)}
    finally:
        with contextlib.suppress(Exception):
            plugin.cleanup()
    if not isinstance(result, Mapping):
        raise Refused('%s, and not a map' % type(result).__name__)
    result = dict(result)
    # Which Python was found is no fact that the plugin gives.
    facts = result.get('ansible_facts')
    if isinstance(facts, Mapping) and plugin._discovered_interpreter_key in facts:
        facts = dict(facts)
        result['_ansible_discovered'] = facts.pop(plugin._discovered_interpreter_key)
        result['ansible_facts'] = facts
        if not facts:
            del result['ansible_facts']
    return result


def end_with(parent):
    """Ends this process when its parent does, as that ends with moon: a step that is lost must not go on by itself."""
    with contextlib.suppress(ImportError, OSError, AttributeError):  # where there is no such thing, it ends when it next asks
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def act_apart(request):
    """Does it in a process of its own, as Ansible does: plugins keep things in their modules, and set what is the process's."""
    if 'Carried' not in globals():
        take_in_actions()
    helper = os.getpid()
    child = os.fork()
    if child == 0:
        end_with(helper)
        code = 1
        try:
            say(answer_with(act, request))
            code = 0
        except (Gone, BrokenPipeError):
            pass
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return None  # it has said its answer
    how = 'by signal %d' % os.WTERMSIG(status) if os.WIFSIGNALED(status) else 'with status %d' % os.WEXITSTATUS(status)
    return {'error': {'kind': 'failed', 'text': 'its process ended ' + how}}
