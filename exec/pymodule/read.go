package pymodule

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/pysource"
	"moon/exec/spec"
	"moon/exec/spec/documented"
)

// Module is a module in Python as its file and its parts say.
type Module struct {
	Name       string // its full name in Python
	Doc        string // one sentence
	Documented *documented.Module
	Returns    map[string]any
	Members    []spec.Member
	Digest     string // of its file
	GivesFacts bool   // its text has ansible_facts in it
}

// InPython reports whether a text is that of a module in Python which uses Ansible's libraries.
func InPython(text []byte) bool {
	for _, one := range pysource.Read(text).Imports() {
		if within(one.Module, utilsPackage) || within(one.Module, collectionsPackage) || one.Level > 1 ||
			one.Module == "ansible" && slices.Contains(one.Names, "module_utils") {
			return true
		}
	}
	return false
}

// NameOf is the full name in Python of a module that is in no collection.
func NameOf(module string) string { return "ansible.modules." + module }

// NameIn is the full name of a module in a collection. It may be in a directory: cloud.vm.
func NameIn(collection, module string) string {
	return collectionsPackage + "." + collection + ".plugins.modules." + module
}

// Read reads a module and finds its parts. shown is its path as people see it.
func (p *Places) Read(name, path, shown string) (*Module, error) {
	parts, err := p.gather(name, path, shown)
	if err != nil {
		return nil, err
	}
	s := p.load(path)
	m := &Module{Name: name, Members: parts, Digest: s.digest, GivesFacts: s.file.Mentions("ansible_facts")}
	collection := ""
	if words := strings.Split(name, "."); words[0] == collectionsPackage && len(words) > 3 {
		collection = words[1] + "." + words[2]
	}
	p.document(m, s.file, path, collection)
	return m, nil
}

// document reads what a module says of its arguments. One without documentation takes any.
func (p *Places) document(m *Module, f *pysource.File, path, collection string) {
	text, ok := f.Text("DOCUMENTATION")
	if !ok {
		if text, ok = besideText(path); !ok {
			return
		}
	}
	doc := parseMap(text)
	m.Doc, _ = doc["short_description"].(string)
	if returns, ok := f.Text("RETURN"); ok {
		m.Returns = plainReturns(parseMap(returns))
	}
	whole := p.addFragments(doc, collection)
	options, listed := doc["options"].(map[string]any)
	if doc == nil || !whole || !listed {
		return // it is not known what else it takes
	}
	secret, free, declared := p.declared(m.Members, f, path)
	list := readOptions(options, secret)
	for i := range list {
		// Where the two disagree it is what the module declares that counts in the run.
		list[i].Required = list[i].Required && !free[list[i].Name]
		list[i].Choices = choicesIn(f, list[i])
	}
	m.Documented = &documented.Module{Options: list, Declared: declared, Rules: rulesOf(f)}
}

// besideText is the documentation that is a file of its own next to the module.
func besideText(path string) (string, bool) {
	for _, ext := range []string{".yml", ".yaml"} {
		if text, err := ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ext); err == nil {
			doc, _ := parseMap(string(text))["DOCUMENTATION"].(map[string]any)
			return dumpMap(doc), doc != nil
		}
	}
	return "", false
}

// declared are the arguments that the module and its parts declare, which of them are secret, and which the module itself does not need.
func (p *Places) declared(parts []spec.Member, own *pysource.File, path string) (secret, free map[string]bool, names []string) {
	secret, free = map[string]bool{}, map[string]bool{}
	needed := map[string]bool{} // one of its name is
	common := own.Mentions("add_file_common_args")
	for _, part := range parts {
		s := p.load(part.Path)
		// What basic declares are the arguments of files, and modules say whether they take them.
		if s.file == nil || part.Name == "ansible/module_utils/basic.py" && !common {
			continue
		}
		for _, a := range s.file.Declared() {
			names = append(names, a.Name)
			if part.Path == path {
				needed[a.Name] = needed[a.Name] || !a.Free
				free[a.Name] = !needed[a.Name]
			}
			if a.NoLog && (part.Path == path || !secret[a.Name]) {
				secret[a.Name] = true
			}
		}
	}
	slices.Sort(names)
	return secret, free, slices.Compact(names)
}

// choicesIn are what an argument may be. Several that a module declares may have the name, and only one of them the choices that are
// documented.
func choicesIn(f *pysource.File, o documented.Option) []string {
	var words []string
	declared := false
	for _, a := range f.Declared() {
		if a.Name != o.Name {
			continue
		}
		if a.Other {
			return o.Choices
		}
		declared = true
		words = append(words, a.Choices...)
	}
	if declared && len(words) == 0 {
		return nil
	}
	for _, word := range words {
		if !slices.Contains(o.Choices, word) {
			o.Choices = append(slices.Clip(o.Choices), word)
		}
	}
	return o.Choices
}

// rulesOf are the rules that the module gives its AnsibleModule as literals.
func rulesOf(f *pysource.File) documented.Rules {
	lists := func(keyword string) (all [][]string) {
		for _, list := range f.CallLists("AnsibleModule", keyword) {
			if flat := texts(list); len(flat) == len(list) && len(flat) > 1 {
				all = append(all, flat)
				continue
			}
			for _, item := range list {
				inner, _ := item.([]any)
				if flat := texts(inner); len(flat) == len(inner) && len(flat) > 1 {
					all = append(all, flat)
				}
			}
		}
		return all
	}
	r := documented.Rules{
		Exclusive: lists("mutually_exclusive"), Together: lists("required_together"), OneOf: lists("required_one_of"),
	}
	for _, list := range f.CallLists("AnsibleModule", "required_if") {
		for _, item := range list {
			if need, ok := needOf(item); ok {
				r.If = append(r.If, need)
			}
		}
	}
	return r
}

// needOf reads ["state", "present", ["name"], True].
func needOf(item any) (need documented.Need, ok bool) {
	words, _ := item.([]any)
	if len(words) < 3 {
		return need, false
	}
	need.Option, ok = words[0].(string)
	value := texts(words[1:2])
	names, isList := words[2].([]any)
	need.Needs = texts(names)
	if !ok || !isList || len(value) != 1 || len(need.Needs) == 0 || len(need.Needs) != len(names) {
		return need, false
	}
	need.Value = value[0]
	if len(words) > 3 {
		need.Any, _ = words[3].(bool)
	}
	return need, true
}

func texts(list []any) []string {
	var all []string
	for _, item := range list {
		switch item := item.(type) {
		case string:
			all = append(all, item)
		case bool:
			all = append(all, map[bool]string{true: "true", false: "false"}[item])
		}
	}
	return all
}
