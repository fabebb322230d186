package filters

import (
	"crypto/md5"  // md5 and sha1 are what users of these filters compare with; nothing is protected by them
	"crypto/sha1" // see above
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

func dataFilters() map[string]*Filter {
	data := map[string]*Filter{
		"to_json":      {Params: jinja.Takes("indent? sort_keys? ensure_ascii? *"), Run: filterToJSON},
		"to_nice_json": {Params: jinja.Takes("indent? sort_keys? ensure_ascii? *"), Run: filterToNiceJSON},
		"from_json":    {Run: filterFromJSON},
		"to_yaml": {
			Params: jinja.Takes("indent? sort_keys? width? default_flow_style? explicit_start? allow_unicode? *"),
			Run:    filterToYAML,
		},
		"to_nice_yaml": {
			Params: jinja.Takes("indent? sort_keys? width? default_flow_style? explicit_start? allow_unicode? *"),
			Run:    filterToYAML,
		},
		"from_yaml":     {Run: filterFromYAML},
		"b64encode":     {Params: jinja.Takes("encoding?"), Run: filterB64Encode},
		"b64decode":     {Params: jinja.Takes("encoding?"), Run: filterB64Decode},
		"hash":          {Params: jinja.Takes("hashtype?"), Run: func(c *call.Input) (any, error) { return digest(c, c.ArgText(0, "sha1")) }},
		"password_hash": {Params: jinja.Takes("hashtype? salt? salt_size? rounds? ident?"), Run: filterPasswordHash},
		"combine":       {Params: jinja.Takes("* recursive? list_merge?"), Run: filterCombine},
		"dict2items":    {Params: jinja.Takes("key_name? value_name?"), Run: filterDictToItems},
		"items2dict":    {Params: jinja.Takes("key_name? value_name?"), Run: filterItemsToDict},
		"items":         {Run: filterItems},
		"dict":          {Run: filterDict},
		"dictsort":      {Params: jinja.Takes("case_sensitive? by? reverse?"), Run: filterDictSort},
	}
	for _, name := range []string{"md5", "sha1"} {
		data[name] = &Filter{Run: func(c *call.Input) (any, error) { return digest(c, name) }}
	}
	data["checksum"] = data["sha1"]
	data["tojson"] = data["to_json"]
	data["pprint"] = data["to_nice_json"]
	return data
}

func filterToJSON(c *call.Input) (any, error) {
	indent, err := c.ArgInt(0, 0)
	if err != nil {
		return nil, err
	}
	return writeJSON(c, indent)
}

func filterToNiceJSON(c *call.Input) (any, error) {
	indent, err := c.ArgInt(0, 4)
	if err != nil {
		return nil, err
	}
	return writeJSON(c, indent)
}

func writeJSON(c *call.Input, indent int) (any, error) {
	// Each level of depth costs the indent again, before Grow sees the text.
	if indent > 100 {
		return nil, value.Errorf(value.Failure, "", "the indent %d is too large", indent)
	}
	// Python puts no space behind a comma at the end of a line, but does within one.
	style := formOf(c.Shared).json(c, value.Layout{Indent: max(indent, 0), Spaced: indent <= 0})
	text := string(value.AppendJSON(nil, c.Value, style, 0))
	if err := c.Grow(len(text)); err != nil {
		return nil, err
	}
	return text, nil
}

func filterB64Encode(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

func filterB64Decode(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	// Ansible ignores line breaks within base64, and `base64` of coreutils makes them every 76 characters.
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' {
			return -1
		}
		return r
	}, s)
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(s)
	}
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not base64")
	}
	// Text is UTF-8 everywhere in moon; binary data would be damaged when it is printed or kept as JSON.
	if !utf8.Valid(b) {
		return nil, value.Errorf(value.Failure, "", "the decoded bytes are not UTF-8 text")
	}
	return string(b), nil
}

func digest(c *call.Input, name string) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	newHash := map[string]func() hash.Hash{
		"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	}[name]
	if newHash == nil {
		return nil, value.Errorf(value.TypeError, "", "knows md5, sha1, sha224, sha256, sha384 and sha512, not `%s`", name)
	}
	h := newHash()
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// filterCombine merges maps, later ones winning. list_merge says what happens to lists of the same key: replace, keep,
// append, prepend, append_rp, prepend_rp.
func filterCombine(c *call.Input) (any, error) {
	out := value.NewDict(0)
	merge := c.ArgText(1, "replace")
	// Checked before the maps: a wrong word must fail even if no key has two lists.
	if !slices.Contains([]string{"replace", "keep", "append", "prepend", "append_rp", "prepend_rp"}, merge) {
		return nil, value.Errorf(value.TypeError, "", "does not know the list_merge `%s`", merge)
	}
	var all []any
	for _, v := range append([]any{c.Value}, c.Rest...) {
		// Ansible flattens here, so that combine takes the list that a variable holds.
		if list, ok := v.([]any); ok {
			all = append(all, list...)
		} else {
			all = append(all, v)
		}
	}
	for _, v := range all {
		m, ok := value.MapOf(v)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs maps, not %s", value.KindOf(v))
		}
		if err := c.Spend(len(m)); err != nil {
			return nil, err
		}
		out = mergeMaps(c, out, v, merge)
	}
	return c.FinishMap(out), nil
}

// mergeMaps puts the keys of b, a map of either kind, into a copy of a.
func mergeMaps(c *call.Input, a *value.Dict, b any, lists string) *value.Dict {
	return a.Merge(b, func(old, added any) any {
		_, isMap := value.MapOf(old)
		_, bothMaps := value.MapOf(added)
		oldList, isList := old.([]any)
		newList, bothLists := added.([]any)
		switch {
		// Without recursive=true Ansible replaces a map as a whole, which surprises, but playbooks rely on it.
		case c.ArgTruth(0) && isMap && bothMaps:
			return c.FinishMap(mergeMaps(c, value.DictOf(old), added, lists))
		case isList && bothLists:
			return mergedLists(oldList, newList, lists)
		}
		return added
	})
}

func mergedLists(old, added []any, how string) []any {
	switch how {
	case "keep":
		return old
	case "append":
		return slices.Concat(old, added)
	case "prepend":
		return slices.Concat(added, old)
	case "append_rp", "prepend_rp":
		// rp is "remove present": what both have stands once, where the newer list has it.
		ids := value.Identities(added)
		kept := slices.DeleteFunc(slices.Clone(old), func(v any) bool { return ids[value.Identity(v)] })
		if how == "append_rp" {
			return slices.Concat(kept, added)
		}
		return slices.Concat(added, kept)
	default:
		return added
	}
}

func filterDictToItems(c *call.Input) (any, error) {
	m, err := c.ValueMap()
	if err != nil {
		return nil, err
	}
	return MakeNamedPairs(c.Rendering, m, c.ArgText(0, "key"), c.ArgText(1, "value")), nil
}

// MakeNamedPairs gives the entries of a map of either kind, each a map of its key and its value under these names.
func MakeNamedPairs(r *call.Rendering, m any, keyName, valueName string) []any {
	names := value.KeysOf(m)
	out := make([]any, 0, len(names))
	for _, key := range names {
		item := value.NewDict(2)
		// KeyOf, because a key may be a number although it is found by its text.
		item.Set(keyName, value.KeyOf(m, key))
		v, _ := value.EntryOf(m, key)
		item.Set(valueName, v)
		out = append(out, r.FinishMap(item))
	}
	return out
}

func filterItemsToDict(c *call.Input) (any, error) {
	items, ok := c.Value.([]any)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a list of maps, not %s", value.KindOf(c.Value))
	}
	out := value.NewDict(len(items))
	for i, item := range items {
		m, ok := value.MapOf(item)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs a list of maps; item %d is %s", i+1, value.KindOf(item))
		}
		key, hasKey := m[c.ArgText(0, "key")]
		val, hasValue := m[c.ArgText(1, "value")]
		if !hasKey || !hasValue {
			return nil, value.Errorf(value.TypeError, "", "needs `%s` and `%s` in every item; item %d has not", c.ArgText(0, "key"),
				c.ArgText(1, "value"), i+1)
		}
		// Of two items with the same key the later wins, as in Python's dict().
		out.SetAny(key, val)
	}
	return c.FinishMap(out), nil
}

// filterDict makes a map of a list of pairs.
func filterDict(c *call.Input) (any, error) {
	pairs, ok := c.Value.([]any)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a list of pairs, not %s", value.KindOf(c.Value))
	}
	out := value.NewDict(len(pairs))
	for i, pair := range pairs {
		two, ok := pair.([]any)
		if !ok || len(two) != 2 {
			return nil, value.Errorf(value.TypeError, "a pair is a list of a key and a value", "needs a list of pairs; item %d is %s", i+1,
				value.KindOf(pair))
		}
		out.SetAny(two[0], two[1])
	}
	return c.FinishMap(out), nil
}

func filterItems(c *call.Input) (any, error) {
	if c.Value == nil {
		return []any{}, nil
	}
	m, err := c.ValueMap()
	if err != nil {
		return nil, err
	}
	return value.Pairs(m), nil
}

func filterDictSort(c *call.Input) (any, error) {
	m, err := c.ValueMap()
	if err != nil {
		return nil, err
	}
	place, ok := map[string]int{"key": 0, "value": 1}[c.ArgText(1, "key")]
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "sorts by `key` or `value`, not by `%s`", c.ArgText(1, ""))
	}
	out := value.Pairs(m)
	var failed *value.Error
	// Stable, and negated for reverse instead of turned round: Python's reverse=True keeps equal items in order.
	slices.SortStableFunc(out, func(a, b any) int {
		o, err := value.Compare(folded(a.([]any)[place], c.ArgTruth(0)), folded(b.([]any)[place], c.ArgTruth(0)))
		if err != nil {
			// A comparison cannot end a sort; the error is looked at behind it, and the order is thrown away.
			failed = err
		}
		if c.ArgTruth(2) {
			return -o
		}
		return o
	})
	if failed != nil {
		return nil, failed
	}
	return out, nil
}
