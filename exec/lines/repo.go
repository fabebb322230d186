package lines

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RepoFile is a file of package sources for yum and dnf, read and written as Python's RawConfigParser does: names are in small letters,
// comments are lost, and a value may continue in lines that are indented more than its name.
type RepoFile struct {
	defaults []Option
	sections []repoSection
}

type repoSection struct {
	name    string
	options []Option
}

// Option is a line of a section.
type Option struct{ Name, Value string }

// defaultSection holds options that count in all sections.
const defaultSection = "DEFAULT"

// repoReader is a file being read.
type repoReader struct {
	at      *repoSection
	option  int // of at; -1: none yet
	indent  int // of the line that the option is in
	ordered []*repoSection
}

// ReadRepoFile reads a file. The error says in which line it is wrong.
func ReadRepoFile(text string) (*RepoFile, error) {
	r := repoReader{option: -1}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := r.readLine(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	f := &RepoFile{}
	for _, s := range r.ordered {
		for i := range s.options { // blank lines count only within a value
			s.options[i].Value = strings.TrimRight(s.options[i].Value, " \t\n")
		}
		if s.name == defaultSection {
			f.defaults = s.options
			continue
		}
		f.sections = append(f.sections, *s)
	}
	return f, nil
}

func (r *repoReader) readLine(line string) error {
	text := strings.TrimSpace(line)
	comment := strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";")
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	switch {
	case comment:
		return nil
	case text == "":
		if r.option >= 0 {
			r.at.options[r.option].Value += "\n"
		}
		return nil
	case r.option >= 0 && indent > r.indent:
		r.at.options[r.option].Value += "\n" + text
		return nil
	}
	r.indent = indent
	// A name may hold a bracket itself: the last one ends it.
	if end := strings.LastIndex(text, "]"); text[0] == '[' && end > 1 {
		return r.beginSection(text[1:end])
	}
	if r.at == nil {
		return fmt.Errorf("there is no section before %q", text)
	}
	end := strings.IndexAny(text, "=:")
	if end < 1 {
		return fmt.Errorf("%q is neither a section nor NAME = VALUE", text)
	}
	name := strings.ToLower(strings.TrimSpace(text[:end]))
	if slices.ContainsFunc(r.at.options, func(o Option) bool { return o.Name == name }) {
		return fmt.Errorf("%s is there twice in [%s]", name, r.at.name)
	}
	r.at.options = append(r.at.options, Option{name, strings.TrimSpace(text[end+1:])})
	r.option = len(r.at.options) - 1
	return nil
}

func (r *repoReader) beginSection(name string) error {
	for _, s := range r.ordered {
		if s.name == name && name != defaultSection {
			return fmt.Errorf("the section [%s] is there twice", name)
		}
		if s.name == name {
			r.at, r.option = s, -1
			return nil
		}
	}
	r.at, r.option = &repoSection{name: name}, -1
	r.ordered = append(r.ordered, r.at)
	return nil
}

// Has reports whether there is a section.
func (f *RepoFile) Has(name string) bool {
	return slices.ContainsFunc(f.sections, func(s repoSection) bool { return s.name == name })
}

// IsEmpty reports whether there is no section left.
func (f *RepoFile) IsEmpty() bool { return len(f.sections) == 0 }

// Put gives a section these options and no others. It reports false if they are the same: then nothing changes, not even the order.
func (f *RepoFile) Put(name string, options []Option) bool {
	i := slices.IndexFunc(f.sections, func(s repoSection) bool { return s.name == name })
	if i >= 0 {
		if maps.Equal(optionMap(f.sections[i].options), optionMap(options)) {
			return false
		}
		f.sections = slices.Delete(f.sections, i, i+1)
	}
	// One that is replaced goes to the end, as one that is new does.
	f.sections = append(f.sections, repoSection{name, options})
	return true
}

func optionMap(options []Option) map[string]string {
	m := map[string]string{}
	for _, o := range options {
		m[o.Name] = strings.TrimRight(o.Value, " \t\n")
	}
	return m
}

// Remove removes a section, if there is one.
func (f *RepoFile) Remove(name string) {
	f.sections = slices.DeleteFunc(f.sections, func(s repoSection) bool { return s.name == name })
}

// String is the content of the file.
func (f *RepoFile) String() string {
	var b strings.Builder
	write := func(name string, options []Option) {
		fmt.Fprintf(&b, "[%s]\n", name)
		for _, o := range options {
			fmt.Fprintf(&b, "%s = %s\n", o.Name, strings.ReplaceAll(o.Value, "\n", "\n\t"))
		}
		b.WriteByte('\n')
	}
	if len(f.defaults) > 0 {
		write(defaultSection, f.defaults)
	}
	for _, s := range f.sections {
		write(s.name, s.options)
	}
	return b.String()
}
