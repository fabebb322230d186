package pymodule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/exec/pysource"
	"moon/exec/spec"
)

// collector finds what a module needs, and what that needs.
type collector struct {
	places *Places
	shown  string
	parts  map[string]spec.Member // by member
	missed error
}

// always is needed by every module: its wrapper hands the arguments over to it. The others are what newer versions of it load by
// their names.
var always = []string{
	"ansible.module_utils.basic", "ansible.module_utils._internal._json._profiles._module_legacy_c2m",
	"ansible.module_utils._internal._json._profiles._module_legacy_m2c",
}

// gather collects the parts of a module: itself, and all that it imports of Ansible's libraries and of collections.
func (p *Places) gather(module, path, shown string) ([]spec.Member, error) {
	c := &collector{places: p, shown: shown, parts: map[string]spec.Member{}}
	s := p.load(path)
	if s.err != nil {
		return nil, s.err
	}
	c.parts[memberOf(module, false)] = spec.Member{Name: memberOf(module, false), Path: path, Digest: s.digest}
	c.follow(s.file, module, false)
	for i, name := range always {
		c.add(name, i == 0)
	}
	if c.missed != nil {
		return nil, c.missed
	}
	return c.list(), nil
}

// Imported are the files that a file imports of collections, and what those do: as far as they are there. name is its own in Python.
func (p *Places) Imported(name, path string) []spec.Member {
	c := &collector{places: p, parts: map[string]spec.Member{}}
	s := p.load(path)
	if s.err != nil {
		return nil
	}
	c.follow(s.file, name, false)
	if within(name, collectionsPackage) { // Python runs the files of the packages around it
		c.around(name)
	}
	return c.list()
}

// list are the parts, in order.
func (c *collector) list() []spec.Member {
	return slices.SortedFunc(maps.Values(c.parts), func(a, b spec.Member) int { return strings.Compare(a.Name, b.Name) })
}

const sixPackage = "ansible.module_utils.six"

// memberOf is the name of a module's file in a pack.
func memberOf(name string, isPackage bool) string {
	path := strings.ReplaceAll(name, ".", "/")
	if isPackage {
		return path + "/__init__.py"
	}
	return path + ".py"
}

// follow adds what a file imports. name is its own, which relative imports begin at.
func (c *collector) follow(f *pysource.File, name string, isPackage bool) {
	for _, one := range f.Imports() {
		from := absolute(one, name, isPackage)
		if !within(from, utilsPackage) && !within(from, collectionsPackage) {
			if from == "ansible" && slices.Contains(one.Names, "module_utils") {
				c.add(utilsPackage, one.Required)
			}
			continue
		}
		if one.Names == nil {
			c.add(from, one.Required)
			continue
		}
		for _, word := range one.Names {
			// What is imported may be a file of the package or a name in its file; only in the first case is there a file.
			if word != "*" && c.exists(from+"."+word) {
				c.add(from+"."+word, one.Required)
				continue
			}
			c.add(from, one.Required)
		}
	}
}

func (c *collector) exists(name string) bool {
	_, _, ok := c.places.find(name)
	return ok
}

// absolute is the full name that an import is of.
func absolute(one pysource.Import, name string, isPackage bool) string {
	if one.Level == 0 {
		return one.Module
	}
	words := strings.Split(name, ".")
	up := one.Level
	if isPackage {
		up-- // its own directory is the package
	}
	if up >= len(words) {
		return "" // Python will say so
	}
	words = words[:len(words)-up]
	if one.Module != "" {
		words = append(words, one.Module)
	}
	return strings.Join(words, ".")
}

// add adds a module or package of Python by its full name, and the packages that it is in. Only what a file cannot do without must be
// there: the rest stands in functions, or behind try.
func (c *collector) add(name string, required bool) {
	if within(name, sixPackage) {
		name = sixPackage // it makes its inner modules when it is imported
	}
	path, isPackage, ok := c.places.find(name)
	if !ok {
		if name == utilsPackage || within(name, collectionsPackage) && strings.Count(name, ".") < 3 {
			return // a package whose file is made
		}
		if required && c.missed == nil {
			c.missed = c.missing(name)
		}
		return
	}
	member := memberOf(name, isPackage)
	if _, there := c.parts[member]; there {
		return
	}
	s := c.places.load(path)
	if s.err != nil {
		if c.missed == nil {
			c.missed = s.err
		}
		return
	}
	c.parts[member] = spec.Member{Name: member, Path: path, Digest: s.digest}
	c.follow(s.file, name, isPackage)
	c.around(name)
}

// around adds the packages that a file is in, whose own files Python runs first.
func (c *collector) around(name string) {
	for at := strings.LastIndexByte(name, '.'); at > 0; at = strings.LastIndexByte(name[:at], '.') {
		if outer := name[:at]; outer != utilsPackage && c.exists(outer) {
			c.add(outer, false)
		}
	}
}

func (c *collector) missing(name string) error {
	hint := ""
	switch {
	case within(name, collectionsPackage) && strings.Count(name, ".") >= 2:
		words := strings.Split(name, ".")
		hint = "it belongs to the collection " + words[1] + "." + words[2] + ", which must be installed here"
	case c.places.Core == "":
		return NoCore(c.shown)
	default:
		hint = "module_utils are looked for next to the module's library/ and the playbook, and in ansible-core " + c.places.Version
	}
	return &spec.PluginError{Text: fmt.Sprintf("the module %s imports `%s`, which is not there", c.shown, name), Hint: hint}
}

// NoCore is said of a module that needs Ansible's libraries where there are none.
func NoCore(shown string) error {
	return &spec.PluginError{
		Text: "the module " + shown + " needs Ansible's libraries for modules in Python, and ansible-core is not installed here",
		Hint: "install ansible-core on this machine; hosts need only Python",
	}
}
