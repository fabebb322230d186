package pymodule_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/exec/pymodule"
	"moon/exec/spec"
	"moon/exec/spec/documented"
)

// lay writes files below a directory.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var tree = map[string]string{
	"core/module_utils/basic.py":                  "from ansible.module_utils.common.text import to_text\nfrom ansible.module_utils.six.moves import x\n",
	"core/module_utils/common/__init__.py":        "",
	"core/module_utils/common/text.py":            "def to_text(): pass\n",
	"core/module_utils/six/__init__.py":           "",
	"core/module_utils/unused.py":                 "",
	"core/plugins/doc_fragments/files.py":         "class ModuleDocFragment(object):\n    DOCUMENTATION = r'''\noptions:\n  mode: {description: Bits., type: raw}\n  owner: {description: Who.}\n'''\n    SECOND = r'''\noptions:\n  extra: {type: int}\n'''\n",
	"coll/acme/web/plugins/modules/cloud/vm.py":   "DOCUMENTATION = '''\nextends_documentation_fragment: [ansible.builtin.files, acme.web.auth.token, files.second]\noptions:\n  owner: {description: Mine., required: yes}\n  list: {type: list, elements: int}\n'''\nfrom ansible_collections.acme.web.plugins.module_utils.api import call\nfrom ...module_utils.deep import near\nm = dict(token=dict(no_log=True), hidden=dict())\n",
	"coll/acme/web/plugins/module_utils/api.py":   "from .deep import near\nimport os\n",
	"coll/acme/web/plugins/module_utils/deep.py":  "near = 1\ntry:\n    from ansible_collections.no.thing.plugins.module_utils import x\nexcept ImportError:\n    pass\n",
	"coll/acme/web/plugins/doc_fragments/auth.py": "class ModuleDocFragment(object):\n    TOKEN = '''\noptions:\n  token: {description: A secret.}\n'''\n",
	"library/broken.py":                           "from ansible_collections.no.thing.plugins.module_utils import x\n",
	"library/words.py":                            "DOCUMENTATION = '''\noptions:\n  a: {choices: [x]}\n  b: {choices: [x]}\n  c: {choices: [x]}\n  d: {choices: [x]}\n'''\nfrom ansible.module_utils.basic import AnsibleModule\ns = dict(a=dict(choices=['x', 'y']), b=dict(type='str'), c=dict(choices=WORDS))\n",
	"library/any.py":                              "from ansible.module_utils.basic import AnsibleModule\n",
	"library/half_documented.py":                  "DOCUMENTATION = '''\nextends_documentation_fragment: no.such.fragment\noptions: {a: {}}\n'''\nfrom ansible.module_utils.basic import AnsibleModule\n",
}

func places(t *testing.T) (*pymodule.Places, string) {
	t.Helper()
	dir := lay(t, tree)
	return &pymodule.Places{Core: filepath.Join(dir, "core"), Version: "2.14.0", Collection: func(name string) (string, bool) {
		at := filepath.Join(dir, "coll", strings.ReplaceAll(name, ".", "/"))
		_, err := os.Stat(at)
		return at, err == nil
	}}, dir
}

func TestModuleOfACollection(t *testing.T) {
	p, dir := places(t)
	name := pymodule.NameIn("acme.web", "cloud.vm")
	m, err := p.Read(name, filepath.Join(dir, "coll/acme/web/plugins/modules/cloud/vm.py"), "acme.web.cloud.vm")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, member := range m.Members {
		names = append(names, member.Name)
	}
	want := []string{
		"ansible/module_utils/basic.py", "ansible/module_utils/common/__init__.py", "ansible/module_utils/common/text.py",
		"ansible/module_utils/six/__init__.py", "ansible_collections/acme/web/plugins/module_utils/api.py",
		"ansible_collections/acme/web/plugins/module_utils/deep.py", "ansible_collections/acme/web/plugins/modules/cloud/vm.py",
	}
	if !slices.Equal(names, want) {
		t.Errorf("it is packed with %q", names)
	}
	for option, is := range map[string]documented.Option{
		"owner": {Required: true, Doc: "Mine."}, "mode": {Type: "raw", Doc: "Bits."}, "token": {NoLog: true, Doc: "A secret."}, "extra": {Type: "int"},
	} {
		o, ok := documented.Find(m.Documented.Options, option)
		if !ok || o.Required != is.Required || o.Type != is.Type || o.NoLog != is.NoLog || o.Doc != is.Doc {
			t.Errorf("%s is %+v", option, o)
		}
	}
	if !slices.Contains(m.Documented.Declared, "hidden") {
		t.Errorf("besides it takes %q", m.Documented.Declared)
	}
	wrong := m.Documented.Check("vm", map[string]any{"list": "1,x", "extra": "y", "hidden": 1})
	if len(wrong) != 3 || wrong[0].Message != "`vm` needs `owner`" {
		t.Errorf("%+v", wrong)
	}
	if got := documented.Secrets(m.Documented.Options, map[string]any{"token": []any{"a", map[string]any{"b": 7}}, "owner": "c"}); !slices.Equal(got, []string{"a", "7"}) {
		t.Errorf("secret are %q", got)
	}

	// The pack is what the plan says, however often it is made.
	g := &spec.Plugin{Action: "vm", Module: name, Version: "2.14.0", Members: m.Members, Speaks: spec.SpeaksPython}
	g.Pack = pymodule.Seal(g)
	data, err := pymodule.Pack(g)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := pymodule.SealOf(data); err != nil || digest != g.Pack {
		t.Errorf("%s is not %s: %v", digest, g.Pack, err)
	}
	if _, err := pymodule.SealOf(data[:len(data)/2]); err == nil {
		t.Error("half a pack is one")
	}
}

func TestModulesWithoutDocumentation(t *testing.T) {
	p, dir := places(t)
	for _, name := range []string{"any", "half_documented"} {
		m, err := p.Read(pymodule.NameOf(name), filepath.Join(dir, "library", name+".py"), name)
		if err != nil || m.Documented != nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	_, err := p.Read(pymodule.NameOf("broken"), filepath.Join(dir, "library/broken.py"), "library/broken.py")
	if e, ok := err.(*spec.PluginError); !ok || !strings.Contains(e.Hint, "the collection no.thing") { //nolint:errorlint // nothing wraps it
		t.Errorf("it said %v", err)
	}
	p.Core = ""
	if _, err = p.Read(pymodule.NameOf("any"), filepath.Join(dir, "library/any.py"), "any"); err == nil || !strings.Contains(err.Error(), "ansible-core is not installed here") {
		t.Errorf("it said %v", err)
	}
}

// TestChoices takes the words that the module declares next to those that are documented. What it declares for any text takes any.
func TestChoices(t *testing.T) {
	p, dir := places(t)
	m, err := p.Read("ansible.modules.words", filepath.Join(dir, "library/words.py"), "library/words.py")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"a": {"x", "y"}, "b": nil, "c": {"x"}, "d": {"x"}}
	for _, o := range m.Documented.Options {
		if !slices.Equal(o.Choices, want[o.Name]) {
			t.Errorf("%s may be %v", o.Name, o.Choices)
		}
		delete(want, o.Name)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}
