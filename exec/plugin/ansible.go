package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
)

// ansible is what is known of the Ansible that is installed here.
type ansible struct {
	asker *process.Asker
	look  sync.Once
	py    python
}

// python is an interpreter that can import Ansible's libraries.
type python struct {
	path    string // "": there is none
	version string // of Ansible
	tried   []string
}

// asModule finds out whether a file of library/ is a module as Ansible has them, and how that is run. ours says that it is none,
// but a plugin as moon has them. verified is the copy of it that was compared.
func (r *Registry) asModule(f *Found, verified string) (ours bool, err error) {
	text, err := readHead(verified)
	if err != nil {
		return false, &spec.PluginError{Text: "the plugin " + f.Shown + " cannot be read: " + err.Error()}
	}
	c := Described{Kind: Execute, Name: f.Name, Doc: "A module of library/."}
	wrong := func(why string) (bool, error) {
		return false, &spec.PluginError{Text: "the module " + f.Shown + " " + why}
	}
	executable := func() bool { info, err := os.Stat(f.Path); return err == nil && info.Mode()&0o111 != 0 }
	switch {
	case bytes.IndexByte(text, 0) >= 0: // a compiled one
		if !executable() {
			return wrong("is a program, and not executable")
		}
		f.speaks = spec.SpeaksFile
	case bytes.Contains(text, []byte("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>")), bytes.Contains(text, []byte("#<<INCLUDE_ANSIBLE_MODULE")),
		bytes.Contains(text, []byte("#Requires -Module Ansible")), bytes.Contains(text, []byte("#AnsibleRequires")):
		return wrong("is of a kind that moon cannot run: Ansible would put its arguments or its libraries into the text")
	case bytes.Contains(text, []byte("WANT_JSON")):
		f.speaks = spec.SpeaksFile
		if !executable() {
			if f.program = readInterpreter(text); f.program == nil {
				return wrong("is not executable, and its first line names nothing that runs it")
			}
		}
		if bytes.Contains(text, []byte("_ansible_check_mode")) {
			c.Check = spec.CheckFull
		}
	case bytes.Contains(text, []byte("ansible.module_utils")):
		py := r.findPython()
		if py.path == "" {
			return false, noAnsible("the module "+f.Shown+" needs", py)
		}
		f.speaks, f.program, c.Check, c.Diff = spec.SpeaksEnvelope, []string{py.path}, spec.CheckFull, true
	case !executable():
		return wrong("has neither WANT_JSON nor Ansible's libraries in it, and is not executable")
	default:
		return true, nil
	}
	f.said = Description{Name: f.Name, Protocol: Protocol, Capabilities: []Described{c}}
	return false, nil
}

// readHead returns the beginning of a file: as much as says what it is.
func readHead(path string) ([]byte, error) {
	f, err := fsys.OwnFiles{}.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// readInterpreter returns what the first line of a script names. Modules may name a python that is elsewhere here.
func readInterpreter(text []byte) []string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !ok || len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" && len(words) > 1 {
		return words[1:]
	}
	if _, err := os.Stat(words[0]); err != nil {
		words[0] = filepath.Base(words[0])
	}
	return words
}

// probe asks a python for its Ansible.
const probe = "import ansible.module_utils.basic, ansible.release; print(ansible.release.__version__)"

// findPython finds an interpreter with Ansible's libraries: the one that is usual here, the one that Ansible itself runs with, the
// system's.
func (a *ansible) findPython() python {
	a.look.Do(func() {
		candidates := []string{"python3"}
		if path, err := exec.LookPath("ansible-playbook"); err == nil {
			// Its first line names the Python of its virtual environment.
			if text, err := readHead(path); err == nil {
				if words := readInterpreter(text); words != nil {
					candidates = append(candidates, words[0])
				}
			}
		}
		candidates = append(candidates, "/usr/bin/python3")
		for _, name := range candidates {
			path, err := exec.LookPath(name)
			if err != nil || slices.Contains(a.py.tried, path) {
				continue
			}
			a.py.tried = append(a.py.tried, path)
			if version, ok := a.askPython(path, probe); ok {
				a.py.path, a.py.version = path, version
				return
			}
		}
	})
	return a.py
}

// askPython has a python print a line.
func (a *ansible) askPython(python, text string, args ...string) (string, bool) {
	var out bytes.Buffer
	words := a.asker.Output(context.Background(), append([]string{python, "-c", text}, args...), "/", "", &out, nil)
	return strings.TrimSpace(out.String()), words == ""
}

func noAnsible(who string, py python) error {
	tried := "there is no python3"
	if len(py.tried) > 0 {
		tried = strings.Join(py.tried, ", ") + " cannot import ansible.module_utils"
	}
	return &spec.PluginError{Text: who + " Ansible's libraries for Python, and " + tried, Hint: "install ansible-core for one of them"}
}

// controllerOnly are modules that are only documentation: Ansible does their work where it runs itself.
var controllerOnly = []string{
	"add_host", "assert", "debug", "fail", "fetch", "gather_facts", "group_by", "import_playbook", "import_role", "import_tasks", "include",
	"include_role",
	"include_tasks", "include_vars", "meta", "package", "pause", "raw", "reboot", "script", "set_fact", "set_stats", "shell", "template",
	"wait_for_connection",
}

// halfModules do a part of their work there. Called alone they do something else: copy moves what it should copy.
var halfModules = []string{"copy", "unarchive", "assemble", "service", "uri", "command", "yum"}

func checkModules(names []string) error {
	for _, name := range names {
		switch {
		case slices.Contains(controllerOnly, name):
			return fmt.Errorf("the module %s cannot be used by itself: Ansible does its work where Ansible runs", name)
		case slices.Contains(halfModules, name):
			return fmt.Errorf("the module %s cannot be used by itself: it does only a part of the work, and Ansible the rest", name)
		case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return fmt.Errorf("%q is not a module name: give names of ansible.builtin, without that prefix", name)
		}
	}
	return nil
}

// findModule returns a module that is installed with Ansible, if it may be used.
func (r *Registry) findModule(name string) (*spec.Action, error) {
	if !slices.Contains(r.search.Modules, name) {
		return nil, errors.New("there is no action `" + name + "`")
	}
	py := r.findPython()
	if py.path == "" {
		return nil, noAnsible("the module "+name+" of Ansible needs", py)
	}
	of := "ansible.modules." + name
	if there, ok := r.askPython(py.path, "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]) is not None)", of); !ok ||
		there != "True" {
		return nil, &spec.PluginError{Text: fmt.Sprintf("Ansible %s of %s has no module %s", py.version, py.path, name)}
	}
	p := &spec.Plugin{
		Action: name, Name: "ansible", Version: py.version, Program: []string{py.path, "-m", of}, Speaks: spec.SpeaksEnvelope,
		Check: spec.CheckFull, Diff: true, Doc: "A module of Ansible " + py.version + ".",
	}
	return p.Declare()
}
