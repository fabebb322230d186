package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// rule is a target of a Makefile.
type rule struct {
	name   string
	deps   []string
	recipe []string
	about  string // the comment above it
}

// makefile is what is understood of one.
type makefile struct {
	rules   []*rule
	vars    map[string]string
	order   []string // of the variables
	phony   map[string]bool
	complex bool // it has more than rules and variables: recipes are left to make
}

var (
	makeVariable = pattern.New(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*(?:\?=|::?=|=)\s*(.*)$`)
	makeRule     = pattern.New(`^([^:=#\t][^:=]*?)\s*::?(?:\s+(.*)|)$`)
	makeComplex  = pattern.New(`^\s*(?:-?include|sinclude|ifeq|ifneq|ifdef|ifndef|define|override|undefine|vpath)\b|\$\((?:eval|call|foreach)\b|\+=`)
	tagName      = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	plainName    = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	risky        = pattern.New(`^(?:(?:dist|maintainer-?|real)?clean|mrproper|(?:un)?install|deploy|release|publish|push|destroy|reset|purge)(?:[-_].*)?$`)
)

// FromMakefile makes a playbook of the targets of a Makefile.
func FromMakefile(name, text string) (string, error) {
	m := readMakefile(text)
	var rules []*rule
	for _, r := range m.rules {
		if len(r.recipe) > 0 {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return "", errors.New("it has no target with a recipe")
	}
	ids := map[string]string{}
	for _, r := range rules {
		ids[r.name] = freeID(r.name, ids)
	}
	// What is needed stands above what needs it.
	var sorted []*rule
	for _, r := range rules {
		sorted = m.sortInto(sorted, r, nil)
	}
	var steps strings.Builder
	used := map[string]bool{}
	for _, r := range sorted {
		m.writeStep(&steps, r, ids, used)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of %s. moon run --list shows the targets; moon run TARGET runs one with what it needs, moon run all of them.\nname: %s\n\n", name, quoted("the targets of "+name))
	if len(used) > 0 {
		b.WriteString("vars:\n")
		for _, v := range m.order {
			if used[v] {
				fmt.Fprintf(&b, "  %s: %s\n", v, quoted(escape(m.vars[v])))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("steps:\n" + strings.TrimPrefix(steps.String(), "\n"))
	return b.String(), nil
}

// readMakefile takes a Makefile apart, as far as it is rules and variables.
func readMakefile(text string) *makefile {
	m := &makefile{vars: map[string]string{}, phony: map[string]bool{}}
	var open []*rule
	about := ""
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", "\x00")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok && len(open) > 0 {
			for _, r := range open {
				r.recipe = append(r.recipe, strings.ReplaceAll(recipe, "\x00", "\\\n"))
			}
			continue
		}
		line = strings.ReplaceAll(line, "\x00", " ")
		if makeComplex.MatchString(line) {
			m.complex = true
		}
		said, isComment := strings.CutPrefix(line, "#")
		switch v, r := makeVariable.FindStringSubmatch(line), makeRule.FindStringSubmatch(line); {
		case isComment:
			about = strings.TrimSpace(strings.TrimLeft(said, "#"))
			continue
		case strings.TrimSpace(line) == "":
		case v != nil:
			m.setVariable(v[1], v[2])
		case r != nil:
			open = m.addRules(r[1], r[2], about)
		}
		about = ""
	}
	return m
}

func (m *makefile) setVariable(name, value string) {
	if _, known := m.vars[name]; !known {
		m.order = append(m.order, name)
	}
	value, _, _ = strings.Cut(value, " #")
	m.vars[name] = strings.TrimSpace(value)
}

func (m *makefile) addRules(names, rest, about string) (open []*rule) {
	rest, help, _ := strings.Cut(rest, "#") // ## help, as many have it
	deps, inline, _ := strings.Cut(rest, ";")
	deps, _, _ = strings.Cut(deps, "|")
	if text := strings.TrimSpace(strings.TrimLeft(help, "#")); text != "" {
		about = text
	}
	for name := range strings.FieldsSeq(names) {
		switch {
		case name == ".PHONY":
			for dep := range strings.FieldsSeq(deps) {
				m.phony[dep] = true
			}
			continue
		case strings.HasPrefix(name, ".") && strings.ToUpper(name) == name, strings.ContainsAny(name, "%$("):
			// Settings of make, and rules for many files: what they stand for only make knows.
			open = append(open, &rule{})
			continue
		}
		r := m.find(name)
		if r == nil {
			r = &rule{name: name, about: about}
			m.rules = append(m.rules, r)
		}
		r.deps = append(r.deps, strings.Fields(deps)...)
		if inline = strings.TrimSpace(inline); inline != "" {
			r.recipe = append(r.recipe, inline)
		}
		open = append(open, r)
	}
	return open
}

func (m *makefile) find(name string) *rule {
	for _, r := range m.rules {
		if r.name == name {
			return r
		}
	}
	return nil
}

// sortInto adds a rule behind those that it needs. path holds those on the way to it: make drops circles.
func (m *makefile) sortInto(sorted []*rule, r *rule, path []*rule) []*rule {
	if slices.Contains(sorted, r) || slices.Contains(path, r) {
		return sorted
	}
	for _, dep := range r.deps {
		if d := m.find(dep); d != nil {
			sorted = m.sortInto(sorted, d, append(path, r))
		}
	}
	if len(r.recipe) == 0 {
		return sorted
	}
	return append(sorted, r)
}

// needed are the targets with a recipe that a rule needs, also by way of those without one.
func (m *makefile) needed(r *rule, path []*rule) (names []string) {
	for _, dep := range r.deps {
		switch d := m.find(dep); {
		case d == nil || slices.Contains(path, d) || d == r:
		case len(d.recipe) > 0:
			names = append(names, d.name)
		default:
			names = append(names, m.needed(d, append(path, r))...)
		}
	}
	return names
}

func (m *makefile) writeStep(b *strings.Builder, r *rule, ids map[string]string, used map[string]bool) {
	fmt.Fprintf(b, "\n  - id: %s\n", ids[r.name])
	switch {
	case r.about != "":
		fmt.Fprintf(b, "    name: %s\n", quoted(escape(r.about)))
	default:
		fmt.Fprintf(b, "    name: %s\n", quoted(escape(r.name)))
	}
	var needs []string
	for _, name := range m.needed(r, nil) {
		// In a circle one of them stands above, and cannot wait for the other.
		if at := strings.Index(b.String(), "- id: "+ids[name]+"\n"); at >= 0 && !slices.Contains(needs, ids[name]) && name != r.name {
			needs = append(needs, ids[name])
		}
	}
	if len(needs) > 0 {
		fmt.Fprintf(b, "    needs: [%s]\n", strings.Join(needs, ", "))
	}
	if tags := m.groups(r); len(tags) > 0 {
		fmt.Fprintf(b, "    tags: [%s]\n", strings.Join(tags, ", "))
	}
	if sources := m.sources(r); len(sources) > 0 && !m.phony[r.name] {
		fmt.Fprintf(b, "    sources: %s\n    generates: %s\n", quoted(sources), quoted([]string{r.name}))
	}
	if risky.MatchString(r.name) {
		fmt.Fprintf(b, "    confirm: %s\n", quoted("Run "+r.name+"?"))
	}
	lines, ok := m.translate(r, used)
	if !ok {
		fmt.Fprintf(b, "    # what make computes stays with make\n    shell: %s\n", quoted("make "+r.name))
		return
	}
	b.WriteString("    shell: |\n")
	if len(lines) > 1 {
		b.WriteString("      set -e\n")
	}
	for _, l := range lines {
		b.WriteString("      " + strings.ReplaceAll(l, "\n", "\n      ") + "\n")
	}
}

// groups are the targets without a recipe that need a rule: as a tag, each still names what it needs.
func (m *makefile) groups(r *rule) (tags []string) {
	for _, group := range m.rules {
		if len(group.recipe) == 0 && tagName.MatchString(group.name) && slices.Contains(m.needed(group, nil), r.name) {
			tags = append(tags, group.name)
		}
	}
	return tags
}

// sources are the files that a target is made from, if they are all known.
func (m *makefile) sources(r *rule) (files []string) {
	for _, dep := range r.deps {
		switch {
		case strings.ContainsAny(dep, "$%*"):
			return nil
		case !m.phony[dep] && m.find(dep) == nil:
			files = append(files, dep)
		}
	}
	return files
}

// translate gives a recipe as lines for the shell. ok is false if only make can say what they are.
func (m *makefile) translate(r *rule, used map[string]bool) (lines []string, ok bool) {
	if m.complex {
		return nil, false
	}
	mine := map[string]bool{}
	for _, l := range r.recipe {
		prefix := l[:len(l)-len(strings.TrimLeft(l, "@-+ \t"))]
		text, ok := m.expand(escape(l[len(prefix):]), r, mine, 0)
		if !ok {
			return nil, false
		}
		if text == "" {
			continue
		}
		if text[0] == '#' {
			lines = append(lines, text)
			continue
		}
		// Each line of a recipe has a shell of its own.
		if strings.HasPrefix(text, "cd ") && len(r.recipe) > 1 {
			text = "(" + text + ")"
		}
		if strings.Contains(prefix, "-") {
			text = "{ " + text + "; } || true"
		}
		lines = append(lines, text)
	}
	for name := range mine {
		used[name] = true
	}
	return lines, len(lines) > 0
}

// builtIn are variables that make has itself.
var builtIn = map[string]string{"MAKE": "make", "CC": "cc", "CXX": "c++", "RM": "rm -f", "CURDIR": "$(pwd)", "SHELL": "/bin/sh"}

// expand puts in what make would, as far as it is simple.
func (m *makefile) expand(text string, r *rule, used map[string]bool, depth int) (string, bool) {
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '$')
		if at < 0 || at == len(text)-1 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:at])
		next := text[at+1]
		text = text[at+2:]
		switch next {
		case '$':
			b.WriteString("$")
		case '@':
			b.WriteString(r.name)
		case '<':
			if len(r.deps) == 0 {
				return "", false
			}
			b.WriteString(r.deps[0])
		case '^':
			b.WriteString(strings.Join(r.deps, " "))
		case '(', '{':
			closing := strings.IndexByte(text, map[byte]byte{'(': ')', '{': '}'}[next])
			if closing < 0 {
				return "", false
			}
			value, ok := m.value(text[:closing], r, used, depth)
			if !ok {
				return "", false
			}
			b.WriteString(value)
			text = text[closing+1:]
		default:
			return "", false
		}
	}
	return b.String(), true
}

// value is what stands for a variable of make: one of the playbook, of make itself, or of the environment.
func (m *makefile) value(name string, r *rule, used map[string]bool, depth int) (string, bool) {
	if !plainName.MatchString(name) || depth > 20 {
		return "", false
	}
	value, known := m.vars[name]
	switch {
	case known && !strings.Contains(value, "$"):
		used[name] = true
		return "{{ " + name + " }}", true
	case known:
		// $(shell …) is what the shell has, too.
		if command, ok := strings.CutPrefix(value, "$(shell "); ok && strings.HasSuffix(command, ")") {
			inner, ok := m.expand(escape(strings.TrimSuffix(command, ")")), r, used, depth+1)
			return "$(" + inner + ")", ok && !strings.Contains(inner, "$(")
		}
		return m.expand(escape(value), r, used, depth+1)
	}
	if own, is := builtIn[name]; is {
		return own, true
	}
	return "${" + name + "}", true
}

// escape has a text stay as it is when templates are rendered.
func escape(text string) string {
	return strings.NewReplacer("{{", "{{ '{{' }}", "{%", "{{ '{%' }}", "{#", "{{ '{#' }}").Replace(text)
}

// freeID is an id like a name that no other has.
func freeID(name string, taken map[string]string) string {
	id := strings.Trim(strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name), "-")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "step-" + id
	}
	is := func(id string) bool {
		for _, other := range taken {
			if other == id {
				return true
			}
		}
		return false
	}
	for i, first := 2, id; is(id); i++ {
		id = fmt.Sprintf("%s-%d", first, i)
	}
	return id
}

// quoted is a value in JSON, which is YAML.
func quoted(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts and lists of them
	return strings.TrimSpace(b.String())
}
