package pysource

import "slices"

// Given are the names that a method of a class gives as the keys of a map, as FilterModule.filters does. whole says that there are no
// others: the method is nothing but such a map, or the class is not there. Otherwise only running it tells.
func (f *File) Given(class, method string) (names []string, whole bool) {
	from, to, ok := f.class(class)
	if !ok {
		return nil, !f.Mentions(class)
	}
	from, to, ok = f.method(from, to, method)
	if !ok {
		return nil, false // it may be inherited
	}
	at := from
	for at < to && (f.tokens[at].kind == literal || f.tokens[at].kind == line) {
		at++ // what is said of it
	}
	if names, end, ok := f.returned(at); ok && end >= to {
		return names, true
	}
	// A name that is set elsewhere, such as self.filter_map, or more than a map: what looks like one is all that can be read.
	for i := range f.tokens {
		if inside := from <= i && i < to; !inside && !f.isMapOf(i, from, to) {
			continue
		}
		if more, _, ok := f.keys(i); ok {
			names = append(names, more...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), false
}

// class is where the text of a class begins and ends, in tokens.
func (f *File) class(of string) (from, to int, ok bool) {
	for i, t := range f.tokens {
		if !t.first || t.deep || !f.is(i, name, "class") || !f.is(i+1, name, of) {
			continue
		}
		for to = i + 1; to < len(f.tokens) && (!f.tokens[to].first || f.tokens[to].deep); to++ {
		}
		return i + 2, to, true
	}
	return 0, 0, false
}

// method is where what a method does begins and ends. The method ends where the next one begins, which is not in it: no file has a
// function in this one.
func (f *File) method(from, to int, of string) (begin, end int, ok bool) {
	for i := from; i < to; i++ {
		if !f.tokens[i].first || !f.is(i, name, "def") || !f.is(i+1, name, of) {
			continue
		}
		for begin = i + 2; begin < to && (f.tokens[begin].depth > 0 || !f.is(begin, mark, ":")); begin++ {
		}
		begin++
		next := func(at int) bool {
			return f.tokens[at].first && (f.is(at, name, "def") || f.is(at, name, "class") || f.is(at, mark, "@"))
		}
		for end = begin; end < to && !next(end); end++ {
		}
		return begin, end, true
	}
	return 0, 0, false
}

// returned are the keys of the map that a statement returns which begins at a token, and where the next statement begins.
func (f *File) returned(at int) (names []string, end int, ok bool) {
	if at >= len(f.tokens) || !f.begins(at) || !f.is(at, name, "return") {
		return nil, at, false
	}
	names, end, ok = f.keys(at + 1)
	if !ok || end >= len(f.tokens) || f.tokens[end].kind != line {
		return nil, end, false
	}
	return names, end + 1, true
}

// keys are the keys of a literal map, {'a': …} or dict(a=…), that begins at a token. Its values may be anything.
func (f *File) keys(at int) (names []string, end int, ok bool) {
	sign := ":"
	word := literal
	switch {
	case f.is(at, mark, "{"):
	case f.is(at, name, "dict") && f.is(at+1, mark, "("):
		at++
		sign, word = "=", name
	default:
		return nil, at, false
	}
	inside := f.tokens[at].depth + 1
	fresh := true // a key is next
	for at++; at < len(f.tokens); at++ {
		t := f.tokens[at]
		switch {
		case t.kind == mark && t.depth == inside-1 || t.depth < inside: // the closing bracket
			return names, at + 1, true
		case t.depth > inside || t.kind == line:
		case t.kind == mark && t.text == ",":
			fresh = true
		case fresh:
			if t.kind != word || !f.is(at+1, mark, sign) || sign == "=" && f.is(at+2, mark, "=") {
				return nil, at, false
			}
			names, fresh = append(names, t.text), false
		}
	}
	return nil, at, false
}

// isMapOf reports whether a map that begins at a token is set to a name that a part of the text mentions: filter_map = {…}.
func (f *File) isMapOf(at, from, to int) bool {
	if !f.is(at-1, mark, "=") || at < 2 || f.tokens[at-2].kind != name {
		return false
	}
	for i := from; i < to; i++ {
		if f.is(i, name, f.tokens[at-2].text) {
			return true
		}
	}
	return false
}
