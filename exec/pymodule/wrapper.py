# Runs the module that is in the same file, with the arguments that come on standard input.
import runpy
import sys

pack = sys.path[0]
from ansible.module_utils import basic

basic._ANSIBLE_ARGS = getattr(sys.stdin, 'buffer', sys.stdin).read()
basic._ANSIBLE_PROFILE = 'legacy'
runpy.run_module(MODULE, init_globals={'_module_fqn': MODULE, '_modlib_path': pack}, run_name='__main__', alter_sys=True)
