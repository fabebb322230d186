package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"moon/internal/test/fakes"
)

// modules are tasks that ansible-playbook and moon each carry out on a scratch machine of its own, testdata/modules/NAME.txtar:
//
//	the comment       a shell script that prepares the machine; it runs in /work
//	slow              moon carries them out only with ANSIBLE=all
//	collections       the tasks are of collections: ansible-playbook is asked only where ANSIBLE_COLLECTIONS_PATH says where they are
//	tasks.yml         the tasks, each with a name of its own; each runs in check mode, then really, then really again
//	look              a shell script that tells what has come of them
//	differs           TASK FIELD: why moon's is another, a line each; * is any, several fields have commas
//	                  between, and TASK may end in /check, /first or /again
//	ansible/results   what ansible-playbook 2.14 has registered
//	ansible/look      what it has made
//	any other         a file in /work
type modules struct {
	name, path string
	archive    *txtar.Archive
	files      map[string]string
	tasks      []map[string]any
	slow       bool
	collected  bool
	look       string
	differs    []*excuse
	want       map[string]map[string]any // by task and phase
	order      []string
	wantLook   string
}

// excuse is a field that is wanted to be another than Ansible's.
type excuse struct {
	task, field, reason string
	used                bool
}

// phases are the times each task is carried out.
var phases = []string{"check", "first", "again"}

func allModules(t *testing.T) (all []*modules) {
	t.Helper()
	paths, err := filepath.Glob("testdata/modules/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	for _, path := range paths {
		all = append(all, readModules(t, path))
	}
	return all
}

func readModules(t *testing.T, path string) *modules {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &modules{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: archive, files: map[string]string{}, want: map[string]map[string]any{}}
	for _, f := range archive.Files {
		text := string(f.Data)
		switch f.Name {
		case "slow":
			m.slow = true
		case "collections":
			m.collected = true
		case "tasks.yml":
			if err := yaml.Unmarshal(f.Data, &m.tasks); err != nil {
				t.Fatalf("%s: %s", path, err)
			}
		case "look":
			m.look = text
		case "differs":
			for line := range strings.Lines(text) {
				what, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
				at := strings.LastIndexByte(what, ' ')
				if at < 0 || reason == "" {
					t.Fatalf("%s: %q is not TASK FIELD: reason", path, line)
				}
				m.differs = append(m.differs, &excuse{task: what[:at], field: what[at+1:], reason: reason})
			}
		case "ansible/results":
			for line := range strings.Lines(text) {
				key, value, _ := strings.Cut(line, ": {")
				var result map[string]any
				if err := json.Unmarshal([]byte("{"+value), &result); err != nil {
					t.Fatalf("%s: %s: %s", path, line, err)
				}
				m.want[key], _ = steadyResult(result).(map[string]any)
			}
		case "ansible/look":
			m.wantLook = steadyNames(text)
		default:
			m.files[f.Name] = text
		}
	}
	seen := map[string]bool{}
	for _, task := range m.tasks {
		name, _ := task["name"].(string)
		if name == "" || seen[name] {
			t.Fatalf("%s: the name %q is not a task's own", path, name)
		}
		seen[name] = true
		for _, phase := range phases {
			m.order = append(m.order, name+"/"+phase)
		}
	}
	return m
}

// playbook has each task in all its phases, and writes down what was registered.
func (m *modules) playbook(t *testing.T) []byte {
	t.Helper()
	var tasks []any
	var names []string
	for i, task := range m.tasks {
		for _, phase := range phases {
			one := maps.Clone(task)
			register := fmt.Sprintf("r%d_%s", i, phase)
			names = append(names, register)
			one["name"], one["register"], one["ignore_errors"] = fmt.Sprint(task["name"], "/", phase), register, true
			if phase == "check" {
				one["check_mode"] = true
			}
			tasks = append(tasks, one)
		}
	}
	tasks = append(tasks, map[string]any{"name": "results", "copy": map[string]any{"content": "{{ [" + strings.Join(names, ", ") + "] | to_json }}\n", "dest": "/work/results"}})
	text, err := json.MarshalIndent([]any{map[string]any{
		"hosts": "localhost", "connection": "local", "gather_facts": false, "tasks": tasks,
		"vars": map[string]any{"ansible_python_interpreter": "/usr/bin/python3"},
	}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// run has the tasks carried out by a program, and returns what was registered, and what has come of them.
func (m *modules) run(t *testing.T, command string) (results map[string]map[string]any, look, said string) {
	t.Helper()
	s := newScratch(t, false)
	for name, text := range m.files {
		s.write(t, name, []byte(text), 0o644)
	}
	s.write(t, "site.yml", m.playbook(t), 0o644)
	take := "modules"
	if strings.HasPrefix(command, "moon") || strings.Contains(command, " moon ") {
		s.setTake(t, take)
		defer s.keepRecorded(t, m.path, take)
	}
	if script := strings.TrimSpace(string(m.archive.Comment)); script != "" {
		s.must(t, "set -e\n"+script)
	}
	said, code := s.do(t, command)
	if code != 0 {
		t.Fatalf("%s: exit status %d\n%s", command, code, said)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "up/work/results"))
	if err != nil {
		t.Fatalf("%s\n%s", err, said)
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	results = map[string]map[string]any{}
	for i, key := range m.order {
		results[key], _ = steadyResult(list[i]).(map[string]any)
	}
	if m.look != "" {
		look, _ = s.do(t, m.look)
		look = strings.TrimSpace(steadyNames(look)) + "\n"
	}
	return results, look, said
}

// TestModules compares what moon registers and does with what ansible-playbook 2.14 does.
func TestModules(t *testing.T) {
	for _, m := range allModules(t) {
		t.Run(m.name, func(t *testing.T) {
			if m.slow && os.Getenv("ANSIBLE") != "all" {
				t.Skip("it takes seconds of both processors: ANSIBLE=all")
			}
			t.Parallel()
			got, look, said := m.run(t, "MOON_ANSIBLE_EXIT=1 moon run -o text -i localhost, site.yml")
			differences := map[string][]string{}
			for _, key := range m.order {
				m.compare(t, key, got[key], differences)
			}
			for _, words := range slices.Sorted(maps.Keys(differences)) {
				t.Errorf("%s  (%s)", words, strings.Join(differences[words], ", "))
			}
			if look != m.wantLook && m.excused("*", "look") == nil {
				t.Errorf("what came of it is\n%swith Ansible\n%s", look, m.wantLook)
			}
			for _, e := range m.differs {
				if !e.used {
					t.Errorf("%s %s is the same as Ansible's; it needs no excuse", e.task, e.field)
				}
			}
			if t.Failed() {
				t.Logf("moon said\n%s", said)
			}
		})
	}
}

// Modules of collections are not installed: ANSIBLE_COLLECTIONS_PATH says where they are, outside of /tmp, which a scratch machine has of
// its own.
//
// TestModulesItself asks ansible-playbook: with ANSIBLE=all whether it still answers what is written down, with ANSIBLE=golden
// to write it down; read the diff before committing it.
func TestModulesItself(t *testing.T) {
	how := os.Getenv("ANSIBLE")
	if how != "all" && how != "golden" {
		t.Skip("ansible-playbook takes a second for each task: ANSIBLE=all")
	}
	for _, m := range allModules(t) {
		t.Run(m.name, func(t *testing.T) {
			collections := os.Getenv("ANSIBLE_COLLECTIONS_PATH")
			if m.collected && collections == "" {
				t.Skip("ANSIBLE_COLLECTIONS_PATH does not say where the collections are")
			}
			t.Parallel()
			got, look, said := m.run(t, "ANSIBLE_COLLECTIONS_PATH="+collections+" ANSIBLE_LOCALHOST_WARNING=False ansible-playbook -i localhost, site.yml")
			var b strings.Builder
			for _, key := range m.order {
				text, err := json.Marshal(got[key])
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%s: %s\n", key, text)
				if how == "all" && !reflect.DeepEqual(got[key], m.want[key]) {
					t.Errorf("%s is\n%s\nnot %v\n%s", key, text, m.want[key], said)
				}
			}
			if how == "all" {
				if look != m.wantLook {
					t.Errorf("what came of it is\n%snot\n%s", look, m.wantLook)
				}
				return
			}
			recording.Lock() // what clients have answered may be written into it meanwhile
			defer recording.Unlock()
			archive, err := txtar.ParseFile(m.path)
			if err != nil {
				t.Fatal(err)
			}
			m.archive = archive
			m.archive.Files = slices.DeleteFunc(m.archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "ansible/") })
			m.archive.Files = append(m.archive.Files, txtar.File{Name: "ansible/results", Data: []byte(b.String())})
			if m.look != "" {
				m.archive.Files = append(m.archive.Files, txtar.File{Name: "ansible/look", Data: []byte(look)})
			}
			if err := os.WriteFile(m.path, txtar.Format(m.archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestModulesPage writes the reasons into the page about plays.
func TestModulesPage(t *testing.T) {
	var b strings.Builder
	for _, m := range allModules(t) {
		tasks := map[string][]string{}
		for _, e := range m.differs {
			one := "*" + e.task + "*"
			if e.task == "*" || strings.HasPrefix(e.task, "*/") {
				one = strings.TrimPrefix(strings.Replace(e.task, "*/check", "in check mode", 1), "*")
			}
			if e.field != "*" {
				one = strings.TrimSpace(one + " `" + strings.ReplaceAll(e.field, ",", "`, `") + "`")
			}
			tasks[e.reason] = append(tasks[e.reason], one)
		}
		if len(tasks) == 0 {
			continue
		}
		fmt.Fprintf(&b, "### %s\n\n", m.name)
		for _, reason := range slices.Sorted(maps.Keys(tasks)) {
			fmt.Fprintf(&b, "- %s: %s\n", reason, strings.Join(tasks[reason], "; "))
		}
		b.WriteString("\n")
	}
	text := strings.Join(fakes.ReadLines(t, fakes.AnsiblePage), "\n")
	before, got, after := fakes.CutMarked(t, fakes.AnsiblePage, text, "modules")
	want := "\n" + strings.TrimSpace(b.String()) + "\n"
	if got == want {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("%s: the list modules is not what the tests show; UPDATE=1 writes it:\n%s", fakes.AnsiblePage, want)
	}
	fakes.WriteLines(t, fakes.AnsiblePage, strings.Split(before+want+after, "\n"))
}

// compare looks for every field of Ansible's result in moon's, which may have more. The words of a failure are moon's own.
// The same difference of several phases is told once.
func (m *modules) compare(t *testing.T, key string, got map[string]any, differences map[string][]string) {
	t.Helper()
	want, ok := m.want[key]
	if !ok {
		t.Errorf("%s: what Ansible answers is not written down: ANSIBLE=golden", key)
		return
	}
	failed, _ := want["failed"].(bool)
	for _, field := range slices.Sorted(maps.Keys(want)) {
		if failed && field == "msg" {
			if text, _ := got["msg"].(string); text == "" {
				t.Errorf("%s has failed without a message", key)
			}
			continue
		}
		if failed && (field == "changed" || field == "exception" || strings.HasPrefix(field, "module_std")) {
			continue // of commands that fail Ansible says that they changed something
		}
		has, ok := got[field]
		if ok && contained(has, want[field]) {
			continue
		}
		if m.excused(key, field) != nil {
			continue
		}
		theirs, _ := json.Marshal(want[field])
		ours, _ := json.Marshal(has)
		if !ok {
			ours = []byte("missing")
		}
		more := ""
		if field == "failed" || field == "skipped" {
			more = fmt.Sprint(": ", got["msg"], want["msg"])
		}
		task, phase, _ := strings.Cut(key, "/")
		words := fmt.Sprintf("%s: %s is %.200s, Ansible has %.200s%s", task, field, ours, theirs, more)
		differences[words] = append(differences[words], phase)
	}
}

// contained reports whether a value is what is wanted; a map may have more.
func contained(has, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		has, ok := has.(map[string]any)
		for name := range want {
			ok = ok && contained(has[name], want[name])
		}
		return ok
	case []any:
		has, ok := has.([]any)
		ok = ok && len(has) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = contained(has[i], want[i])
		}
		return ok
	}
	return reflect.DeepEqual(has, want)
}

// excused finds why a field is another.
func (m *modules) excused(key, field string) *excuse {
	task, phase, _ := strings.Cut(key, "/")
	for _, e := range m.differs {
		if slices.Contains([]string{"*", task, key, "*/" + phase}, e.task) && (e.field == "*" || slices.Contains(strings.Split(e.field, ","), field)) {
			e.used = true
			return e
		}
	}
	return nil
}

// passing are the keys of results that are about the time or the place, or tell differences in each program's own way.
var passing = []string{"start", "end", "delta", "atime", "mtime", "ctime", "inode", "dev", "elapsed", "diff", "warnings", "deprecations", "invocation", "exception", "date", "cache_update_time", "stop", "attr_flags", "attributes", "version", "mimetype", "charset", "device_type", "fingerprint"}

// passingNames are the parts of names and texts that differ from run to run.
var passingNames = regexp.MustCompile(`\.[0-9]+\.[0-9]{4}-[0-9]{2}-[0-9]{2}@[0-9]{2}:[0-9]{2}:[0-9]{2}~|\.[0-9]{8}-[0-9]{6}~|SHA256:[A-Za-z0-9+/]{43}|ssh-ed25519 [A-Za-z0-9+/]{68}|(tmp|ansible\.)[a-zA-Z0-9_]{8,12}|\w{3}, \d\d \w{3} \d{4} [0-9:]{8} GMT`)

func steadyNames(text string) string { return passingNames.ReplaceAllString(text, "…") }

func steadyResult(value any) any {
	switch v := value.(type) {
	case string:
		return steadyNames(v)
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); slices.Contains(passing, key) || ok && strings.Contains(text, "/.ansible/tmp/") {
				delete(v, key)
				continue
			}
			v[key] = steadyResult(inner)
		}
	case []any:
		for i := range v {
			v[i] = steadyResult(v[i])
		}
	}
	return value
}
