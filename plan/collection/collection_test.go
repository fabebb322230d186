package collection

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// onDisk sees the files of this machine.
type onDisk struct{ said *diag.List }

func (onDisk) Directory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (onDisk) Regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (onDisk) Glob(dir, pattern string) []string {
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (d onDisk) Values(path string) playbook.Value {
	text, _ := os.ReadFile(path)
	v, _ := playbook.ParseVars(&playbook.File{Name: path, Path: path, Text: text}, d.said)
	return v
}

const tree = `
-- one/ansible_collections/my/tools/roles/web/tasks/main.yml --
-- one/ansible_collections/my/tools/roles/deep/inner/tasks/main.yml --
-- one/ansible_collections/my/tools/playbooks/site.yml --
-- one/ansible_collections/my/tools/playbooks/more/other.yaml --
-- one/ansible_collections/my/tools/plugins/modules/here.py --
-- one/ansible_collections/my/tools/plugins/modules/script.sh --
-- one/ansible_collections/my/tools/plugins/modules/plain --
-- one/ansible_collections/my/tools/plugins/modules/plain.py.orig --
-- one/ansible_collections/my/tools/plugins/modules/sub/far.py --
-- one/ansible_collections/my/tools/plugins/modules/doc.yml --
-- one/ansible_collections/my/tools/plugins/filter/__init__.py --
-- one/ansible_collections/my/tools/plugins/filter/texts.py --
-- one/ansible_collections/my/tools/plugins/filter/texts.yml --
-- one/ansible_collections/my/tools/plugins/module_utils/common.py --
-- one/ansible_collections/my/tools/meta/runtime.yml --
requires_ansible: '>=2.12'
plugin_routing:
  modules:
    moved: {redirect: other.place.landed, deprecation: {warning_text: it has moved}}
    gone: {tombstone: {removal_version: 3.0.0, warning_text: use here}}
    ping: {redirect: my.tools.pong}
    pong: {redirect: my.tools.ping}
    lost: {redirect: no.where.at_all}
    here: {action_plugin: my.tools.here}
action_groups:
  all:
    - here
    - other.place.landed
    - metadata: {extend_group: [other.place.some]}
-- two/other/place/plugins/modules/landed.py --
-- two/my/tools/plugins/modules/hidden.py --
-- core/modules/copy.py --
-- core/module_utils/basic.py --
-- core/plugins/filter/core.py --
-- core/config/ansible_builtin_runtime.yml --
plugin_routing: {modules: {here: {redirect: my.tools.here}}}
`

func newTree(t *testing.T) *Finder {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		path := filepath.Join(dir, strings.Replace(f.Name, "two/", "two/ansible_collections/", 1))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := &diag.List{}
	t.Cleanup(func() {
		if len(*said) > 0 {
			t.Errorf("reported: %v", *said)
		}
	})
	// A path may name ansible_collections or what it is in.
	return New(onDisk{said}, []string{filepath.Join(dir, "one"), filepath.Join(dir, "two", "ansible_collections")}, filepath.Join(dir, "core"))
}

func TestResolve(t *testing.T) {
	f := newTree(t)
	for _, c := range []struct{ kind, name, want string }{
		{"modules", "my.tools.here", "my.tools.here my/tools/plugins/modules/here.py"},
		{"modules", "my.tools.script", "my.tools.script my/tools/plugins/modules/script.sh"},
		{"modules", "my.tools.plain", "my.tools.plain my/tools/plugins/modules/plain"},
		{"modules", "my.tools.sub.far", "my.tools.sub.far my/tools/plugins/modules/sub/far.py"},
		{"modules", "my.tools.moved", "other.place.landed other/place/plugins/modules/landed.py it has moved"},
		{"modules", "my.tools.gone", "my.tools.gone has been removed: use here"},
		{"modules", "my.tools.ping", "the redirects of my.tools.ping lead in a circle: my.tools.ping → my.tools.pong → my.tools.ping"},
		{"modules", "my.tools.lost", "my.tools.lost is now no.where.at_all, and the collection no.where is not installed"},
		{"modules", "my.tools.hidden", "there is no module my.tools.hidden"},
		{"modules", "my.tools.doc", "there is no module my.tools.doc"},
		{"modules", "no.where.x", "the collection no.where is not installed"},
		{"modules", "ansible.builtin.copy", "ansible.builtin.copy core/modules/copy.py"},
		{"modules", "ansible.legacy.copy", "ansible.builtin.copy core/modules/copy.py"},
		{"modules", "ansible.builtin.here", "my.tools.here my/tools/plugins/modules/here.py"},
		{"module_utils", "my.tools.common", "my.tools.common my/tools/plugins/module_utils/common.py"},
		{"module_utils", "ansible.builtin.basic", "ansible.builtin.basic core/module_utils/basic.py"},
		{"filter", "ansible.builtin.core", "ansible.builtin.core core/plugins/filter/core.py"},
		{"filter", "my.tools.script", "there is no filter my.tools.script"},
	} {
		got := ""
		found, err := f.Resolve(Kind(c.kind), c.name)
		if err != nil {
			got = err.Error()
		} else {
			_, path, ok := strings.Cut(found.Path, "ansible_collections/")
			if !ok {
				path = "core" + strings.TrimPrefix(found.Path, found.Collection.Dir)
			}
			got = strings.Join(append([]string{found.Name, path}, found.Deprecated...), " ")
		}
		if got != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.kind, c.name, got, c.want)
		}
	}
}

func TestResolveIn(t *testing.T) {
	f := newTree(t)
	found, ok, err := f.ResolveIn(Modules, "landed", []string{"no.where", "my.tools", "other.place"})
	if !ok || err != nil || found.Name != "other.place.landed" {
		t.Errorf("%+v %t %v", found, ok, err)
	}
	if _, ok, err := f.ResolveIn(Modules, "absent", []string{"my.tools"}); ok || err != nil {
		t.Errorf("a name that nothing has: %t %v", ok, err)
	}
	var gone *Removed
	if _, ok, err := f.ResolveIn(Modules, "gone", []string{"my.tools"}); !ok || !errors.As(err, &gone) {
		t.Errorf("what is removed: %t %v", ok, err)
	}
	if _, ok, err := f.ResolveIn(Modules, "lost", []string{"my.tools"}); !ok || err == nil {
		t.Errorf("what has gone to where it is not: %t %v", ok, err)
	}
}

func TestContents(t *testing.T) {
	f := newTree(t)
	c, ok := f.Collection("my.tools")
	if !ok {
		t.Fatal("not found")
	}
	rel := func(path string, ok bool) string {
		if !ok {
			return ""
		}
		r, _ := filepath.Rel(c.Dir, path)
		return r
	}
	for _, pair := range [][2]string{
		{rel(c.Role("web")), "roles/web"},
		{rel(c.Role("deep.inner")), "roles/deep/inner"},
		{rel(c.Role("../web")), ""},
		{rel(c.Role("none")), ""},
		{rel(c.Playbook("site")), "playbooks/site.yml"},
		{rel(c.Playbook("site.yml")), "playbooks/site.yml"},
		{rel(c.Playbook("more.other")), "playbooks/more/other.yaml"},
		{rel(c.Playbook("none")), ""},
		{strings.Join(c.Plugins(Filter), " "), filepath.Join(c.Dir, "plugins/filter/texts.py")},
		{strings.Join(c.Runtime().Groups["all"], " "), "my.tools.here other.place.landed"},
		{strings.Join(c.Runtime().Extended["all"], " "), "other.place.some"},
		{c.Runtime().Routes[Modules]["here"].Action, "my.tools.here"},
		{c.Runtime().Requires, ">=2.12"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q, want %q", pair[0], pair[1])
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ full, collection, name string }{
		{"community.general.ini_file", "community.general", "ini_file"},
		{"my.tools.sub.far", "my.tools", "sub.far"},
		{"my.tools.web-server", "my.tools", "web-server"},
		{"tools.web", "", ""},
		{"web", "", ""},
		{"10.0.0.1", "", ""},
		{"./a.b.c", "", ""},
		{"a/b.c.d", "", ""},
	} {
		if in, name, ok := Split(c.full); in != c.collection || name != c.name || ok != (c.name != "") {
			t.Errorf("%s: %q %q %t", c.full, in, name, ok)
		}
	}
	for _, c := range []struct {
		own   string
		given []string
		want  []string
	}{
		{"", nil, nil},
		{"", []string{"a.b"}, []string{"a.b", Legacy}},
		{"", []string{"a.b", Builtin, "c.d"}, []string{"a.b", Builtin, "c.d"}},
		{"my.tools", nil, []string{"my.tools", Builtin}},
		{"my.tools", []string{"a.b", "my.tools"}, []string{"my.tools", "a.b", Builtin}},
	} {
		if got := Searched(c.own, c.given); !slices.Equal(got, c.want) {
			t.Errorf("%q %q: %q, want %q", c.own, c.given, got, c.want)
		}
	}
}
