package lookups

import (
	"slices"
	"strconv"
	"strings"

	"moon/internal/pattern"
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/value"
)

// Lookups that make lists of lists.

// onceFlat takes lists inside of a list apart, one level deep.
func onceFlat(terms []any) []any {
	return gatherFlat(terms, 1, true)
}

// deepFlat takes all lists inside of a list apart, and drops nulls.
func deepFlat(terms []any) []any { return gatherFlat(terms, -1, false) }

func gatherFlat(terms []any, levels int, keepNulls bool) []any {
	out := make([]any, 0, len(terms))
	// It fails only if the function does.
	_ = filters.Flatten(terms, levels, keepNulls, func(item any) *value.Error {
		out = append(out, item)
		return nil
	})
	return out
}

func lookupFlattened(_ *call.Input, terms []any) ([]any, error) { return deepFlat(terms), nil }

func lookupDict(c *call.Input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		if _, ok := value.MapOf(term); !ok {
			return nil, value.Errorf(value.TypeError, "", "needs a map, not %s", value.KindOf(term))
		}
		out = append(out, filters.MakeNamedPairs(c.Rendering, term, "key", "value")...)
	}
	return out, nil
}

// shortSequence is start-end/stride:format, all but end optional.
var shortSequence = pattern.New(`^(?:(0?x?[0-9a-fA-F]+)-)?(0?x?[0-9a-fA-F]+)(?:/(-?(?:0x)?[0-9a-fA-F]+))?(?::(.+))?$`)

func lookupSequence(c *call.Input, terms []any) ([]any, error) {
	if len(terms) == 0 {
		terms = []any{""}
	}
	out := []any{}
	for _, term := range terms {
		_, options := keyed(c.Print(term))
		// An equals sign makes it the long form, though `count=4` might look like the short one.
		if m := shortSequence.FindStringSubmatch(c.Print(term)); m != nil && !strings.Contains(c.Print(term), "=") {
			options = map[string]string{"end": m[2]}
			for i, name := range map[int]string{1: "start", 3: "stride", 4: "format"} {
				if m[i] != "" {
					options[name] = m[i]
				}
			}
		}
		made, err := countUp(c, options)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

func countUp(c *call.Input, options map[string]string) ([]any, error) {
	var failed error
	whole := func(name string, otherwise int) int {
		// Base 0: Ansible reads 0x1f there.
		n, err := strconv.ParseInt(readSetting(c, options, name, strconv.Itoa(otherwise)), 0, 64)
		if err != nil && failed == nil {
			failed = value.Errorf(value.TypeError, "", "needs a number for `%s`, not `%s`", name, readSetting(c, options, name, ""))
		}
		return int(n)
	}
	has := func(name string) bool { return readSetting(c, options, name, "") != "" }
	start, stride := whole("start", 1), whole("stride", 1)
	end := whole("end", 0)
	switch {
	case has("count") == has("end"):
		return nil, value.Errorf(value.TypeError, "", "needs either `count` or `end`")
	case has("count"):
		count := whole("count", 0)
		if count == 0 {
			// With count=0 there is nothing, in whichever direction.
			return []any{}, failed
		}
		// The end is inclusive here, unlike in range().
		end = start + (count-1)*stride
	}
	if failed != nil {
		return nil, failed
	}
	format := readSetting(c, options, "format", "%d")
	if stride == 0 || stride > 0 && end < start || stride < 0 && end > start {
		// Ansible gives nothing for it.
		if stride == 0 {
			return []any{}, nil
		}
		return nil, value.Errorf(value.Failure, "give a `stride` with the other sign", "cannot count from %d to %d in steps of %d", start,
			end, stride)
	}
	// Before the list is made.
	if (end-start)/stride > call.MaxRange {
		return nil, value.Errorf(value.Failure, "", "the sequence has more than %d items", call.MaxRange)
	}
	out := []any{}
	for i := start; stride > 0 && i <= end || stride < 0 && i >= end; i += stride {
		text, err := c.FormatPercent(format, []any{i}, false)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
		if err := c.Spend(1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func splitTerms(terms []any) ([]any, error) {
	if len(terms) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs at least one list")
	}
	lists := make([]any, len(terms))
	for i, term := range terms {
		list, ok := term.([]any)
		if !ok {
			// A single value counts as a list of one.
			list = []any{term}
		}
		lists[i] = list
	}
	return lists, nil
}

func lookupTogether(c *call.Input, terms []any) ([]any, error) {
	lists, err := splitTerms(terms)
	if err != nil {
		return nil, err
	}
	rows, err := filters.Zip(true)(&call.Input{Scope: c.Scope, Name: c.Name, Value: lists[0], Rest: lists[1:]})
	if err != nil {
		return nil, err
	}
	return rows.([]any), nil
}

func lookupNested(c *call.Input, terms []any) ([]any, error) {
	lists, err := splitTerms(terms)
	if err != nil {
		return nil, err
	}
	rows, err := filters.Product(&call.Input{Scope: c.Scope, Name: c.Name, Value: lists[0], Rest: lists[1:]})
	if err != nil {
		return nil, err
	}
	return rows.([]any), nil
}

func lookupIndexed(_ *call.Input, terms []any) ([]any, error) {
	// with_indexed_items flattens one level first.
	items := onceFlat(terms)
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = []any{i, item}
	}
	return out, nil
}

func lookupSubelements(c *call.Input, terms []any) ([]any, error) {
	if len(terms) < 2 || len(terms) > 3 {
		return nil, value.Errorf(value.TypeError, "", "needs a list, the name of a list inside of its items, and may have options")
	}
	if _, ok := value.MapOf(terms[0]); ok {
		// Ansible takes a map for the list of its values.
		terms = append([]any{value.ValuesOf(terms[0])}, terms[1:]...)
	}
	if items, ok := terms[0].([]any); ok { // results of a loop whose rounds were skipped in part
		terms = append([]any{slices.DeleteFunc(slices.Clone(items), isSkippedItem)}, terms[1:]...)
	}
	in := &call.Input{Scope: c.Scope, Name: c.Name, Value: terms[0], Args: []any{terms[1], call.Unset{}}}
	if len(terms) == 3 {
		options, ok := value.MapOf(terms[2])
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs a map of options, not %s", value.KindOf(terms[2]))
		}
		in.Args[1] = options
		// The flag may be a text such as `no`, which would hold.
		if skip, isText := options["skip_missing"].(string); isText {
			in.Args[1] = map[string]any{"skip_missing": value.SaysYes(skip)}
		}
	}
	made, err := filters.Subelements(in)
	if err != nil {
		return nil, err
	}
	rows := made.([]any)
	// Unlike the filter, the lookup takes the list out of its item.
	path := strings.Split(c.Print(terms[1]), ".")
	for i, row := range rows {
		pair := row.([]any)
		rows[i] = []any{withoutEntry(pair[0], path), pair[1]}
	}
	return rows, nil
}

// isSkippedItem reports whether an item is the result of a round that was skipped.
func isSkippedItem(item any) bool {
	skipped, ok := value.EntryOf(item, "skipped")
	return ok && value.Truthy(skipped)
}

// withoutEntry is a map without what stands under a path; the map itself keeps it.
func withoutEntry(m any, path []string) any {
	if _, ok := value.MapOf(m); !ok {
		return m
	}
	kept := value.NewDict(0)
	for _, key := range value.KeysOf(m) {
		v, _ := value.EntryOf(m, key)
		switch {
		case key != path[0]:
		case len(path) == 1:
			continue
		default:
			v = withoutEntry(v, path[1:])
		}
		kept.SetNamed(key, value.KeyOf(m, key), v)
	}
	if _, ordered := m.(*value.Dict); !ordered {
		plain, _ := value.MapOf(kept)
		return plain
	}
	return kept
}
