package pymodule

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/exec/spec/documented"
)

// parseMap reads a map in YAML; nil if it is none. A module whose documentation cannot be read takes any arguments, as for Ansible.
func parseMap(text string) map[string]any {
	var m map[string]any
	if yaml.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	return m
}

func dumpMap(m map[string]any) string {
	text, err := yaml.Marshal(m)
	if err != nil {
		return ""
	}
	return string(text)
}

// addFragments adds what a documentation shares with others. whole is false if one of them is not there.
func (p *Places) addFragments(doc map[string]any, collection string) (whole bool) {
	for _, name := range oneOrMore(doc["extends_documentation_fragment"]) {
		fragment := p.fragment(strings.TrimSpace(name), collection)
		if fragment == nil {
			return false
		}
		mergeOptions(doc, fragment)
	}
	return true
}

// mergeOptions adds the options of a fragment. What the module says itself counts.
func mergeOptions(doc, fragment map[string]any) {
	added, _ := fragment["options"].(map[string]any)
	own, ok := doc["options"].(map[string]any)
	if !ok {
		own = map[string]any{}
		doc["options"] = own
	}
	for name, option := range added {
		theirs, _ := option.(map[string]any)
		mine, written := own[name].(map[string]any)
		if !written {
			own[name] = theirs
			continue
		}
		merged := maps.Clone(theirs)
		maps.Copy(merged, mine)
		own[name] = merged
	}
}

// fragment is the documentation by a name: files, ansible.builtin.files, community.general.auth.token.
func (p *Places) fragment(name, collection string) map[string]any {
	for _, as := range []struct{ name, attribute string }{{name, "DOCUMENTATION"}, splitLast(name)} {
		if as.name == "" {
			continue
		}
		for _, file := range p.fragmentFiles(as.name, collection) {
			s := p.load(file)
			if s.err != nil {
				continue
			}
			if text, ok := s.file.ClassText(strings.ToUpper(as.attribute)); ok {
				doc := parseMap(text)
				if doc != nil && !p.addFragments(doc, collection) {
					return nil
				}
				return doc
			}
		}
	}
	return nil
}

func splitLast(name string) struct{ name, attribute string } {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return struct{ name, attribute string }{}
	}
	return struct{ name, attribute string }{name[:at], name[at+1:]}
}

// fragmentFiles are the files in which a fragment may be. A full name says its collection.
func (p *Places) fragmentFiles(name, collection string) []string {
	words := strings.Split(name, ".")
	file := words[len(words)-1] + ".py"
	var files []string
	if len(words) >= 3 {
		of := words[0] + "." + words[1]
		if of == "ansible.builtin" || of == "ansible.legacy" {
			return p.coreFragment(file)
		}
		return p.collectionFragment(of, append(words[2:len(words)-1:len(words)-1], file))
	}
	if len(words) == 1 {
		for _, dir := range p.Fragments {
			files = append(files, filepath.Join(dir, file))
		}
		files = append(files, p.collectionFragment(collection, []string{file})...)
		files = append(files, p.coreFragment(file)...)
	}
	return files
}

func (p *Places) coreFragment(file string) []string {
	if p.Core == "" {
		return nil
	}
	return []string{filepath.Join(p.Core, "plugins", "doc_fragments", file)}
}

func (p *Places) collectionFragment(collection string, below []string) []string {
	if p.Collection == nil || collection == "" {
		return nil
	}
	dir, ok := p.Collection(collection)
	if !ok {
		return nil
	}
	return []string{filepath.Join(append([]string{dir, "plugins", "doc_fragments"}, below...)...)}
}

// readOptions reads what a documentation says of arguments.
func readOptions(doc map[string]any, secret map[string]bool) []documented.Option {
	var list []documented.Option
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		said, _ := doc[name].(map[string]any)
		o := documented.Option{
			Name: name, Aliases: oneOrMore(said["aliases"]), Choices: choicesOf(said["choices"]), NoLog: secret[name],
			Doc: firstSentence(oneOrMore(said["description"])),
		}
		o.Type, _ = said["type"].(string)
		o.Elements, _ = said["elements"].(string)
		o.Required, _ = said["required"].(bool)
		// A text of YAML 1.1, which is a truth value there.
		if word, ok := said["required"].(string); ok {
			o.Required = word == "yes" || word == "True" || word == "true"
		}
		if v := said["default"]; v != nil {
			o.Default = scalar(v)
		}
		for _, key := range []string{"suboptions", "options"} {
			if inner, ok := said[key].(map[string]any); ok {
				o.Options = readOptions(inner, secret)
			}
		}
		list = append(list, o)
	}
	// Those that must be given come first, as a person would list them.
	slices.SortStableFunc(list, func(a, b documented.Option) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return list
}

// oneOrMore is a text, or a list of texts.
func oneOrMore(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		all := make([]string, 0, len(v))
		for _, item := range v {
			all = append(all, scalar(item))
		}
		return all
	}
	return []string{scalar(v)}
}

// choicesOf are the words that are allowed: a list of them, or a map with their descriptions.
func choicesOf(v any) []string {
	if m, ok := v.(map[string]any); ok {
		return slices.Sorted(maps.Keys(m))
	}
	return oneOrMore(v)
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any, map[string]any:
		return strings.TrimSpace(dumpFlow(v))
	}
	return fmt.Sprint(v)
}

// dumpFlow is a list or map on one line.
func dumpFlow(v any) string {
	node := &yaml.Node{}
	if node.Encode(v) != nil {
		return ""
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(node)
	if err != nil {
		return ""
	}
	return string(text)
}

// firstSentence is what is shown of a description.
func firstSentence(paragraphs []string) string {
	if len(paragraphs) == 0 {
		return ""
	}
	text := strings.Join(strings.Fields(paragraphs[0]), " ")
	if at := strings.Index(text, ". "); at > 0 {
		text = text[:at+1]
	}
	return text
}

// plainReturns are the descriptions of what a module returns.
func plainReturns(doc map[string]any) map[string]any {
	m := map[string]any{}
	for name, said := range doc {
		about, _ := said.(map[string]any)
		m[name] = firstSentence(oneOrMore(about["description"]))
	}
	return m
}
