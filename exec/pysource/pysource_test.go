package pysource_test

import (
	"reflect"
	"testing"

	"moon/exec/pysource"
)

const text = `#!/usr/bin/python
# -*- coding: utf-8 -*-
"""DOCUMENTATION = 'not this'"""
from __future__ import annotations
import os, sys as system
DOCUMENTATION = r'''
a: "\d"
'''  # and a comment
EXAMPLES = ("one\n"
            'two')
COMPUTED = "a" % 1
FORMED = f"{x}"
from ansible.module_utils.basic import (AnsibleModule,
    env_fallback as fall)
from ..module_utils import a, b as c
from . import *
import ansible.module_utils.urls as urls, json
class ModuleDocFragment(object):
    DOCUMENTATION = r"""inner"""
    TLS = 'tls'
try:
    from ansible.module_utils.late import x
except ImportError: import y.z
text = "import no.such"; import semi
def main():
    # import comment.no
    from ansible.module_utils import inside
    spec = dict(name=dict(type='str', aliases=['n']), token=dict(no_log=True, type='str'),
                more={'key': {'no_log': True}, 'plain': dict(no_log=False)},
                must=dict(type='str', required=True), may={'required': False}, some=dict(required=sure, default='x'),
                one=dict(choices=['a', "b",], type='str'), two={'choices': ('c', 'd')}, these=dict(choices=WORDS + ['e']), sum=dict(choices=['f'] + MORE))
    m = AnsibleModule(argument_spec=spec, mutually_exclusive=[['a', 'b'], ("c", "d")], required_if=[('state', 'present', ['x'], True)])
    log(no_log=True)
`

func TestRead(t *testing.T) {
	f := pysource.Read([]byte(text))
	for name, want := range map[string]string{"DOCUMENTATION": "\na: \"\\d\"\n", "EXAMPLES": "one\ntwo"} {
		if got, ok := f.Text(name); !ok || got != want {
			t.Errorf("%s is %q, %t", name, got, ok)
		}
	}
	for _, name := range []string{"COMPUTED", "FORMED", "TLS", "spec"} {
		if got, ok := f.Text(name); ok {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got, ok := f.ClassText("DOCUMENTATION"); !ok || got != "inner" {
		t.Errorf("in the class it is %q, %t", got, ok)
	}
	want := []pysource.Import{
		{Module: "__future__", Names: []string{"annotations"}, Required: true},
		{Module: "os", Required: true},
		{Module: "sys", Required: true},
		{Module: "ansible.module_utils.basic", Names: []string{"AnsibleModule", "env_fallback"}, Required: true},
		{Level: 2, Module: "module_utils", Names: []string{"a", "b"}, Required: true},
		{Level: 1, Names: []string{"*"}, Required: true},
		{Module: "ansible.module_utils.urls", Required: true},
		{Module: "json", Required: true},
		{Module: "ansible.module_utils.late", Names: []string{"x"}},
		{Module: "y.z"},
		{Module: "semi"},
		{Module: "ansible.module_utils", Names: []string{"inside"}},
	}
	if got := f.Imports(); !reflect.DeepEqual(got, want) {
		t.Errorf("it imports\n%v\nand not\n%v", got, want)
	}
	declared := []pysource.Argument{
		{Name: "name", Free: true},
		{Name: "token", NoLog: true, Free: true},
		{Name: "more"},
		{Name: "key", NoLog: true},
		{Name: "plain"},
		{Name: "must"},
		{Name: "may", Free: true},
		{Name: "some"},
		{Name: "one", Free: true, Choices: []string{"a", "b"}},
		{Name: "two", Choices: []string{"c", "d"}},
		{Name: "these", Other: true},
		{Name: "sum", Choices: []string{"f"}, Other: true},
	}
	if got := f.Declared(); !reflect.DeepEqual(got, declared) {
		t.Errorf("it declares %v", got)
	}
	if got := f.CallLists("AnsibleModule", "mutually_exclusive"); !reflect.DeepEqual(got, [][]any{{[]any{"a", "b"}, []any{"c", "d"}}}) {
		t.Errorf("exclusive are %v", got)
	}
	if got := f.CallLists("AnsibleModule", "required_if"); !reflect.DeepEqual(got, [][]any{{[]any{"state", "present", []any{"x"}, true}}}) {
		t.Errorf("required are %v", got)
	}
}

// FuzzRead reads any text without a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("x = '''"))
	f.Add([]byte("from . import (a"))
	f.Add([]byte(`A = "\x4\777\u12"`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		file := pysource.Read(data)
		file.Text("A")
		file.ClassText("A")
		file.Imports()
		file.Declared()
		file.CallLists("f", "k")
	})
}
