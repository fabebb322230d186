package playbook

import (
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
)

// importsParser reads what a playbook takes from others.
type importsParser struct{ *parser }

// read reads a map of variables and playbooks, or a list of maps.
func (p importsParser) read(e Entry) (list []Import) {
	switch e.Value.Kind() {
	case Map:
		for _, one := range e.Value.Entries() {
			m := Import{As: one.Key, Pos: one.Pos}
			if !p.variable(one) {
				continue
			}
			if one.Value.Kind() == Map {
				if !p.readKeys(one.Value, &m, "`imports:` in a map: the name is in front of it") {
					continue
				}
			} else {
				m.From = one.Value
			}
			list = p.accept(list, m, one)
		}
	case List:
		for _, v := range e.Value.Items() {
			m, one := Import{Pos: v.Pos()}, Entry{Key: "imports", Pos: v.Pos(), Value: v}
			if v.Kind() != Map {
				p.errorf(v.Pos(), 0, "- from: ../db/playbook.yml", "an entry of `imports:` must be a map with `from`; this is %s", v.Kind())
				continue
			}
			if p.readKeys(v, &m, "") {
				list = p.accept(list, m, one)
			}
		}
	default:
		p.reportKind(e, "a map of names and playbooks, or a list of maps with `from`")
	}
	return list
}

// accept adds an import whose playbook is written out and that has a name.
func (p importsParser) accept(list []Import, m Import, e Entry) []Import {
	path := m.From.Text()
	switch {
	case m.From.IsZero():
		p.errorf(m.Pos, 0, "from: ../db/playbook.yml", "an import has no `from:`")
	case m.From.Kind() != String || path == "":
		p.errorf(m.From.Pos(), 0, "write its path: ../db/playbook.yml", "`%s` must be imported from a playbook; this is %s", e.Key, m.From.Kind())
	case strings.Contains(path, "{{"):
		// Which playbooks run before which is decided before anything is planned.
		p.errorf(m.From.Pos(), utf8.RuneCountInString(path), "write its path", "the playbook of an import cannot be a template")
	case m.As == "" && len(m.Names) == 0:
		p.errorf(m.Pos, 0, "as: db, or names: [address]", "an import needs `as:` or `names:`")
	default:
		return append(list, m)
	}
	return list
}

// readKeys reads the map form of an import. inMap says why it cannot have `as`.
func (p importsParser) readKeys(v Value, m *Import, inMap string) bool {
	ok := true
	for _, e := range v.Entries() {
		switch {
		case e.Key == "from":
			m.From = e.Value
		case e.Key == "as" && inMap != "":
			p.errorf(e.Pos, len(e.Key), "remove it", "`as` of an entry of %s", inMap)
			ok = false
		case e.Key == "as":
			name := Entry{Key: e.Value.Text(), Pos: e.Value.Pos()}
			ok = p.variable(name) && ok
			m.As, m.Pos = name.Key, name.Pos
		case e.Key == "names":
			ok = p.readNames(e, m) && ok
		case e.Key == "optional":
			p.readOne(e, "a boolean", &m.Optional)
		case e.Key == "wait":
			p.readOne(e, "a duration", &m.Wait)
		default:
			var names []string
			for _, k := range ImportKeys {
				names = append(names, k.Name)
			}
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), suggest.DidYouMean(e.Key, names), "unknown key `%s` of an import", e.Key)
			ok = false
		}
	}
	return ok
}

func (p importsParser) readNames(e Entry, m *Import) bool {
	if e.Value.Kind() != List || e.Value.Len() == 0 {
		p.reportKind(e, "a list of names")
		return false
	}
	ok := true
	for _, v := range e.Value.Items() {
		name := Entry{Key: v.Text(), Pos: v.Pos()}
		ok = p.variable(name) && ok
		m.Names = append(m.Names, name)
	}
	return ok
}

// variable reports a name that no variable can have.
func (p importsParser) variable(e Entry) bool {
	if identifier.MatchString(e.Key) {
		return true
	}
	p.errorf(e.Pos, max(utf8.RuneCountInString(e.Key), 1), "letters, digits and _, not starting with a digit",
		"`%s` cannot be the name of a variable", e.Key)
	return false
}

// refuseTwice reports a variable that is imported and has another value, too: which of the two counts would be a guess.
func (p importsParser) refuseTwice(pb *Playbook) {
	taken := map[string]string{}
	for _, e := range pb.Vars.Entries() {
		taken[e.Key] = "is also in `vars:`"
	}
	for _, m := range pb.Imports {
		for _, e := range m.Variables() {
			if how := taken[e.Key]; how != "" {
				p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "give one of them another name", "the import `%s` %s", e.Key, how)
			}
			taken[e.Key] = "is given twice"
		}
	}
}

// ImportsOf reads only what a playbook takes from others: it is asked for before anything is planned. Mistakes are for who plans it.
func ImportsOf(f *File) []Import {
	var unread diag.List
	root, ok := readDocument(f, &unread)
	if !ok || root.Kind() != Map {
		return nil
	}
	for _, e := range root.Entries() {
		if e.Key == "imports" {
			return importsParser{&parser{dialect: stepForm, file: f, ds: &unread}}.read(e)
		}
	}
	return nil
}
