package pysource

import "strings"

// Import is what one statement imports.
type Import struct {
	Level    int      // the dots before the name: 0 is an absolute name
	Module   string   // "" after from . import x
	Names    []string // of from … import; nil of a plain import, and "*" for all
	Required bool     // it stands at the top level: without it the file cannot be used
}

// is reports whether the token at an index is a mark or a name of that text.
func (f *File) is(i int, k kind, text string) bool {
	return 0 <= i && i < len(f.tokens) && f.tokens[i].kind == k && f.tokens[i].text == text
}

// Text is the literal that a name is set to at the top level. More than a literal, such as a text with % behind it, is not read.
func (f *File) Text(of string) (string, bool) { return f.assigned(of, false) }

// ClassText is the literal that a name is set to in a class.
func (f *File) ClassText(of string) (string, bool) { return f.assigned(of, true) }

// assigned is what a name is set to by a statement that is indented, or by one that is not.
func (f *File) assigned(of string, deep bool) (string, bool) {
	found, ok := "", false
	for i, t := range f.tokens {
		if !t.first || t.deep != deep || t.kind != name || t.text != of || !f.is(i+1, mark, "=") {
			continue
		}
		var parts []string
		at := i + 2
		for ; at < len(f.tokens) && f.tokens[at].kind != line; at++ {
			switch p := f.tokens[at]; {
			case p.kind == literal:
				parts = append(parts, p.text)
			case p.kind == mark && (p.text == "(" || p.text == ")"):
			default:
				parts = nil
				at = len(f.tokens)
			}
		}
		// The last one counts, as it does when the file is run.
		if len(parts) > 0 {
			found, ok = strings.Join(parts, ""), true
		}
	}
	return found, ok
}

// Imports are what it imports, wherever that stands: in functions and behind try as well.
func (f *File) Imports() []Import {
	var list []Import
	for i, t := range f.tokens {
		if t.kind != name || t.depth > 0 || t.text != "import" && t.text != "from" || !f.begins(i) {
			continue
		}
		required := t.first && !t.deep
		if t.text == "from" {
			if one, ok := f.fromImport(i + 1); ok {
				one.Required = required
				list = append(list, one)
			}
			continue
		}
		for at := i + 1; at < len(f.tokens); at++ {
			var module string
			module, at = f.dotted(at)
			if module == "" {
				break
			}
			list = append(list, Import{Module: module, Required: required})
			if f.is(at, name, "as") {
				at += 2
			}
			if !f.is(at, mark, ",") {
				break
			}
		}
	}
	return list
}

// begins reports whether a statement begins at a token: a logical line does, or what stands behind a colon or a semicolon.
func (f *File) begins(i int) bool {
	return f.tokens[i].first || f.is(i-1, mark, ":") || f.is(i-1, mark, ";")
}

// dotted reads a name with its dots, and returns where it ends.
func (f *File) dotted(at int) (text string, end int) {
	for at < len(f.tokens) && f.tokens[at].kind == name && f.tokens[at].text != "import" {
		text += f.tokens[at].text
		at++
		if !f.is(at, mark, ".") {
			break
		}
		text += "."
		at++
	}
	return text, at
}

// fromImport reads what stands behind from.
func (f *File) fromImport(at int) (one Import, ok bool) {
	for f.is(at, mark, ".") {
		one.Level++
		at++
	}
	one.Module, at = f.dotted(at)
	if !f.is(at, name, "import") {
		return one, false
	}
	at++
	if f.is(at, mark, "(") {
		at++
	}
	for ; at < len(f.tokens); at++ {
		t := f.tokens[at]
		if t.kind != name && (t.kind != mark || t.text != "*") {
			break
		}
		one.Names = append(one.Names, t.text)
		at++
		if f.is(at, name, "as") {
			at += 2
		}
		if !f.is(at, mark, ",") {
			break
		}
	}
	return one, len(one.Names) > 0
}

// Argument is an argument that a text declares, as modules do: NAME=dict(…) or 'NAME': {…}.
type Argument struct {
	Name  string
	NoLog bool // no_log=True is said of it
	Free  bool // a type or a default is said of it, and that it is required is not

	Choices []string // the texts that it may be
	Other   bool     // what it may be is said in another way than as texts
}

// Declared are the arguments that it declares, at any depth, in the order of their declarations. They are looked for once.
func (f *File) Declared() []Argument {
	if !f.asked {
		f.declared, f.asked = f.findDeclared(), true
	}
	return f.declared
}

func (f *File) findDeclared() []Argument {
	var list []Argument
	index := map[int]int{} // by the token of the bracket
	needed := map[int]bool{}
	var open []int
	for i, t := range f.tokens {
		if t.kind != mark && t.kind != name && t.kind != literal {
			continue
		}
		switch {
		case t.kind == mark && strings.Contains("([{", t.text):
			if who := f.declares(i); who != "" {
				index[i] = len(list)
				list = append(list, Argument{Name: who})
			}
			open = append(open, i)
		case t.kind == mark && strings.Contains(")]}", t.text) && len(open) > 0:
			open = open[:len(open)-1]
		case len(open) > 0 && (f.is(i+1, mark, "=") || f.is(i+1, mark, ":")):
			at, ok := index[open[len(open)-1]]
			switch {
			case !ok:
			case t.text == "no_log":
				list[at].NoLog = list[at].NoLog || f.is(i+2, name, "True")
			case t.text == "required":
				needed[at] = !f.is(i+2, name, "False")
				list[at].Free = true
			case t.text == "type" || t.text == "default":
				list[at].Free = true
			case t.text == "choices":
				list[at].Choices, list[at].Other = f.choices(i + 2)
			}
		}
	}
	for at := range needed {
		list[at].Free = list[at].Free && !needed[at]
	}
	return list
}

// choices are the texts in a list at an index. other reports that there is something else.
func (f *File) choices(at int) (words []string, other bool) {
	if !f.is(at, mark, "[") && !f.is(at, mark, "(") {
		return nil, true
	}
	for at++; at < len(f.tokens); at++ {
		switch t := f.tokens[at]; {
		case t.kind == literal && (f.is(at+1, mark, ",") || f.is(at+1, mark, "]") || f.is(at+1, mark, ")")):
			words = append(words, t.text)
		case t.kind == mark && t.text == ",":
		default:
			closed := t.kind == mark && (t.text == "]" || t.text == ")") && (f.is(at+1, mark, ",") || f.is(at+1, mark, ")") || f.is(at+1, mark, "}"))
			return words, !closed
		}
	}
	return nil, true
}

// declares is the argument that the bracket at an index belongs to; "" if it belongs to none.
func (f *File) declares(i int) string {
	switch {
	case f.is(i, mark, "(") && f.is(i-1, name, "dict"):
		i -= 2
	case f.is(i, mark, "{"):
		i--
	default:
		return ""
	}
	if i < 1 {
		return ""
	}
	switch who := f.tokens[i-1]; {
	case f.is(i, mark, "=") && who.kind == name && who.depth > 0,
		f.is(i, mark, ":") && who.kind == literal:
		return who.text
	}
	return ""
}

// Mentions reports whether a name occurs in it, or a text that is nothing else.
func (f *File) Mentions(word string) bool {
	for _, t := range f.tokens {
		if (t.kind == name || t.kind == literal) && t.text == word {
			return true
		}
	}
	return false
}

// CallLists are the literal lists and lists of lists of texts that a call of a function is given by a keyword: that of
// AnsibleModule(…, mutually_exclusive=[['a', 'b']]). What is more than literals is not read.
func (f *File) CallLists(function, keyword string) [][]any {
	var all [][]any
	for i := range f.tokens {
		if !f.is(i, name, function) || !f.is(i+1, mark, "(") {
			continue
		}
		inside := f.tokens[i+1].depth + 1
		for at := i + 2; at < len(f.tokens) && f.tokens[at].depth >= inside; at++ {
			if f.tokens[at].depth != inside || !f.is(at, name, keyword) || !f.is(at+1, mark, "=") {
				continue
			}
			if list, _, ok := f.list(at + 2); ok {
				all = append(all, list)
			}
		}
	}
	return all
}

// list reads a literal list or tuple of texts, numbers, words such as True, and lists.
func (f *File) list(at int) (items []any, end int, ok bool) {
	if !f.is(at, mark, "[") && !f.is(at, mark, "(") {
		return nil, at, false
	}
	at++
	for at < len(f.tokens) {
		t := f.tokens[at]
		switch {
		case t.kind == mark && (t.text == "]" || t.text == ")"):
			return items, at + 1, true
		case t.kind == mark && t.text == ",":
			at++
		case t.kind == literal:
			items = append(items, t.text)
			at++
		case t.kind == name && (t.text == "True" || t.text == "False"):
			items = append(items, t.text == "True")
			at++
		case t.kind == mark && (t.text == "[" || t.text == "("):
			inner, next, fits := f.list(at)
			if !fits {
				return nil, at, false
			}
			items = append(items, inner)
			at = next
		default:
			return nil, at, false
		}
	}
	return nil, at, false
}
