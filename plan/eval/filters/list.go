package filters

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

func listFilters() map[string]*Filter {
	list := map[string]*Filter{
		"length":               {Gaps: true, Run: filterLength},
		"first":                {Run: filterFirst},
		"last":                 {Run: filterLast},
		"list":                 {Gaps: true, Run: filterList},
		"join":                 {Params: jinja.Takes("d? attribute?"), Run: filterJoin},
		"map":                  {Params: jinja.Takes("..."), Gaps: true, Run: filterMap},
		"select":               {Params: jinja.Takes("..."), Gaps: true, Run: picking(true, false)},
		"reject":               {Params: jinja.Takes("..."), Gaps: true, Run: picking(false, false)},
		"selectattr":           {Params: jinja.Takes("..."), Run: picking(true, true)},
		"rejectattr":           {Params: jinja.Takes("..."), Run: picking(false, true)},
		"sort":                 {Params: jinja.Takes("reverse? case_sensitive? attribute?"), Run: filterSort},
		"reverse":              {Run: filterReverse},
		"unique":               {Params: jinja.Takes("case_sensitive? attribute?"), Run: filterUnique},
		"min":                  {Params: jinja.Takes("case_sensitive? attribute?"), Run: extreme(-1)},
		"max":                  {Params: jinja.Takes("case_sensitive? attribute?"), Run: extreme(1)},
		"sum":                  {Params: jinja.Takes("attribute? start?"), Run: filterSum},
		"groupby":              {Params: jinja.Takes("attribute default? case_sensitive?"), Run: filterGroupBy},
		"flatten":              {Params: jinja.Takes("levels? skip_nulls?"), Run: filterFlatten},
		"union":                {Params: jinja.Takes("other"), Run: setFilter(true, true, true)},
		"intersect":            {Params: jinja.Takes("other"), Run: setFilter(false, true, false)},
		"difference":           {Params: jinja.Takes("other"), Run: setFilter(true, false, false)},
		"symmetric_difference": {Params: jinja.Takes("other"), Run: setFilter(true, false, true)},
		"zip":                  {Params: jinja.Takes("*"), Run: Zip(false)},
		"zip_longest":          {Params: jinja.Takes("* fillvalue?"), Run: Zip(true)},
		"product":              {Params: jinja.Takes("*"), Run: Product},
		"batch":                {Params: jinja.Takes("linecount fill_with?"), Run: filterBatch},
		"slice":                {Params: jinja.Takes("slices fill_with?"), Run: filterSlice},
		"extract":              {Params: jinja.Takes("container morekeys?"), Run: filterExtract},
		"subelements":          {Params: jinja.Takes("attribute skip_missing?"), Run: Subelements},
	}
	list["count"] = list["length"]
	return list
}

func filterLength(c *call.Input) (any, error) {
	switch v := c.Value.(type) {
	case string:
		return len([]rune(v)), nil
	case []any:
		return len(v), nil
	case value.Range:
		if v.Len <= math.MaxInt {
			return int(v.Len), nil
		}
		return nil, v.TooLong()
	case map[string]any:
		return len(v), nil
	case *value.Dict:
		return v.Len(), nil
	case value.Object:
		return len(v.Keys()), nil
	}
	return nil, value.Errorf(value.TypeError, "", "needs a string, a list or a map, not %s", value.KindOf(c.Value))
}

func filterFirst(c *call.Input) (any, error) {
	if r, ok := c.Value.(value.Range); ok {
		return r.From, nil
	}
	return pickItem(c, func(l []any) any { return l[0] })
}

func filterLast(c *call.Input) (any, error) {
	if r, ok := c.Value.(value.Range); ok {
		return r.At(r.Len - 1), nil
	}
	return pickItem(c, func(l []any) any { return l[len(l)-1] })
}

// pickItem takes an item of a list. That of an empty list is undefined, so that | first | default('none') works.
func pickItem(c *call.Input, f func(l []any) any) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, &value.Error{
			Kind: value.UndefinedError, Message: "the list is empty: there is no " + c.Name + " item",
			Hint: "give another value with `| default(…)`", Offset: -1,
		}
	}
	return f(items), nil
}

// readAttribute follows a path such as `user.name` or `tags.0` into an item.
func readAttribute(c *call.Input, item any, path any) (any, error) {
	if i, ok := path.(int); ok {
		// map(attribute=0) is a position in Jinja.
		path = strconv.Itoa(i)
	}
	at := item
	for key := range strings.SplitSeq(value.Text(path), ".") {
		v, err := readPart(c, at, key, value.Text(path))
		if err != nil {
			return nil, err
		}
		at = v
	}
	return at, nil
}

// readPart gives the part of a value under one key of a path.
func readPart(c *call.Input, of any, key, path string) (any, error) {
	switch of := of.(type) {
	case map[string]any, *value.Dict:
		// A key that is missing falls through to the error below, which default= of map and groupby provides for.
		if v, ok := value.EntryOf(of, key); ok {
			return v, nil
		}
	case value.Object:
		// Only this entry: the others of hostvars may be unknown, or have mistakes.
		v, ok, err := c.ReadEntry(of, key)
		if err != nil {
			return nil, err
		}
		if ok {
			return c.Settle(v, key)
		}
	case []any:
		if i, err := strconv.Atoi(key); err == nil && value.FromEnd(i, len(of)) >= 0 && value.FromEnd(i, len(of)) < len(of) {
			return of[value.FromEnd(i, len(of))], nil
		}
	}
	return nil, &value.Error{
		Kind: value.UndefinedError, Name: path, Message: "filter `" + c.Name + "`: " + value.KindOf(of) + " has no `" + key + "`",
		Hint: "choose the items that have it with `| selectattr('" + path + "', 'defined')`", Offset: -1,
	}
}

// readSortKey gives the value an item is judged by: the item itself, or an attribute of it.
func readSortKey(c *call.Input, item any, i int) (any, error) {
	if !c.Has(i) || c.Args[i] == nil {
		return item, nil
	}
	return readAttribute(c, item, c.Args[i])
}

func filterJoin(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	total := 0
	for i, item := range items {
		v, err := readSortKey(c, item, 1)
		if err != nil {
			return nil, err
		}
		parts[i] = c.Print(v)
		total += len(parts[i]) + len(c.ArgText(0, ""))
	}
	// Counted before the text is made, since a short list may name one long text many times.
	if err := c.Grow(total); err != nil {
		return nil, err
	}
	return strings.Join(parts, c.ArgText(0, "")), nil
}

func filterMap(c *call.Input) (any, error) {
	// Jinja looks whether there is anything before it walks, so null gives nothing instead of an error.
	if c.Value == nil {
		return []any{}, nil
	}
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	// As in Jinja, attribute and default belong to map only if no filter is named: map('map', attribute='x') hands them on.
	named := maps.Clone(c.Named)
	path, byAttribute := named["attribute"]
	byAttribute = byAttribute && len(c.Rest) == 0
	otherwise, hasDefault := named["default"]
	if byAttribute {
		delete(named, "attribute")
		delete(named, "default")
	}
	if byAttribute && len(named) > 0 || !byAttribute && len(c.Rest) == 0 {
		return nil, value.Errorf(value.TypeError, "write `map('upper')` or `map(attribute='name')`",
			"needs the name of a filter or an attribute")
	}
	out := make([]any, len(items))
	for i, item := range items {
		gap, missing := item.(value.Fault)
		switch {
		case !byAttribute:
			name := value.Text(c.Rest[0])
			if f, e := Find(c.Shared, name); missing && (e != nil || !f.Guards) {
				return nil, gap.Err
			}
			out[i], err = applyFilter(c, name, item, c.Rest[1:], named)
			if name == "extract" {
				out[i], err = orGap(out[i], err)
			}
		case missing:
			return nil, gap.Err
		default:
			out[i], err = readAttribute(c, item, path)
			// Only for what is missing: an open value or a mistake in an attribute is not provided for.
			if hasDefault && value.IsUndefined(err) {
				out[i], err = otherwise, nil
			}
			out[i], err = orGap(out[i], err)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// orGap puts what has no value in its place in a list, which filters with Gaps take.
func orGap(v any, err error) (any, error) {
	if found, ok := value.AsError(err); ok && value.IsUndefined(err) {
		return value.Fault{Err: found, Absent: true}, nil
	}
	return v, err
}

// picking is select, reject, selectattr and rejectattr.
func picking(keep, byAttribute bool) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		items, err := c.ValueItems()
		if err != nil {
			return nil, err
		}
		args := c.Rest
		var path any
		if byAttribute {
			if len(args) == 0 {
				return nil, value.Errorf(value.TypeError, "", "needs the name of an attribute")
			}
			path, args = args[0], args[1:]
		}
		out := make([]any, 0, len(items))
		for _, item := range items {
			v := item
			var missing error
			if gap, is := item.(value.Fault); is {
				missing = gap.Err
			}
			if byAttribute && missing == nil {
				// Not an error yet: selectattr('x', 'defined') asks for the absence.
				v, missing = readAttribute(c, item, path)
			}
			var ok bool
			switch {
			case len(args) > 0:
				ok, err = applyTest(c, value.Text(args[0]), v, missing, args[1:], c.Named)
			default:
				// Without a test a missing attribute is an error, as Ansible's strict undefined values have no truth.
				ok, err = value.Truthy(v), missing
			}
			if err != nil {
				return nil, err
			}
			if ok == keep {
				out = append(out, item)
			}
		}
		return out, nil
	}
}

// folded makes strings compare without case, as Jinja does unless an argument says otherwise.
func folded(v any, caseSensitive bool) any {
	if s, ok := v.(string); ok && !caseSensitive {
		return strings.ToLower(s)
	}
	return v
}

// filterList makes a list, also of one: a template may change it without that the other changes.
func filterList(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	return value.Copied(items), nil
}

func filterSort(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	type keyed struct {
		item any
		keys []any
	}
	var paths []string
	if c.Has(2) && c.Args[2] != nil {
		// Jinja sorts by several attributes with a comma between them.
		paths = strings.Split(c.ArgText(2, ""), ",")
	}
	list := make([]keyed, len(items))
	for i, item := range items {
		list[i].item = item
		if paths == nil {
			list[i].keys = []any{folded(item, c.ArgTruth(1))}
		}
		for _, path := range paths {
			v, err := readAttribute(c, item, strings.TrimSpace(path))
			if err != nil {
				return nil, err
			}
			list[i].keys = append(list[i].keys, folded(v, c.ArgTruth(1)))
		}
	}
	var failed *value.Error
	// Stable, and reversed by the sign: Python keeps equal items in their order also with reverse=True.
	slices.SortStableFunc(list, func(a, b keyed) int {
		for i := range a.keys {
			o, err := value.Compare(a.keys[i], b.keys[i])
			if err != nil && failed == nil {
				failed = err
			}
			// 2 is NaN, which has no order: the next key decides.
			if o == 0 || o == 2 && err == nil {
				continue
			}
			if c.ArgTruth(0) {
				return -o
			}
			return o
		}
		return 0
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i].item
	}
	return out, nil
}

func filterReverse(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	// A variable holds the list.
	out := slices.Clone(items)
	slices.Reverse(out)
	if value.IsString(c.Value) {
		var b strings.Builder
		for _, r := range out {
			b.WriteString(value.Text(r))
		}
		return b.String(), nil
	}
	return out, nil
}

func filterUnique(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	matchCase := formOf(c.Shared).matchCase
	if c.Has(0) {
		matchCase = c.ArgTruth(0)
	}
	seen := make(map[string]bool, len(items))
	out := make([]any, 0, len(items))
	for _, item := range items {
		v, err := readSortKey(c, item, 1)
		if err != nil {
			return nil, err
		}
		// Jinja's unique does not look at case, and Ansible's is Jinja's. In the step form whoever wants to lose items can say so.
		id := value.Identity(folded(v, matchCase))
		if !seen[id] {
			seen[id] = true
			out = append(out, item)
		}
	}
	return out, nil
}

func extreme(sign int) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		items, err := c.ValueItems()
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			// For its error: of an empty list min and max are undefined in Jinja, like first.
			return pickItem(c, nil)
		}
		var best, bestKey any
		for i, item := range items {
			key, err := readSortKey(c, item, 1)
			if err != nil {
				return nil, err
			}
			key = folded(key, c.ArgTruth(0))
			if i > 0 {
				o, err := value.Compare(key, bestKey)
				if err != nil {
					return nil, err
				}
				// Of equal items the first wins, as in Python.
				if o*sign <= 0 || o == 2 {
					continue
				}
			}
			best, bestKey = item, key
		}
		return best, nil
	}
}

func filterSum(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	// Python adds to 0, so that a list of texts is an error unless start says otherwise.
	var total any = 0
	if c.Has(1) {
		total = c.Args[1]
	}
	for _, item := range items {
		v, err := readSortKey(c, item, 0)
		if err != nil {
			return nil, err
		}
		// The operator of the rendering, which counts work: sum(start=[]) copies a growing list.
		sum, e := c.Calculate("+", total, v)
		if e != nil {
			return nil, e
		}
		total = sum
	}
	return total, nil
}

// filterGroupBy gives pairs of key and items, ordered by key; see get for their names grouper and list.
func filterGroupBy(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	type group struct {
		key   any
		items []any
	}
	groups := map[string]*group{}
	var all []*group
	for _, item := range items {
		key, err := readAttribute(c, item, c.Args[0])
		if err != nil && c.Has(1) && value.IsUndefined(err) {
			key, err = c.Args[1], nil
		}
		if err != nil {
			return nil, err
		}
		// Keys are equal without case, but a group has the key of its first item as it is written.
		id := value.Identity(folded(key, c.ArgTruth(2)))
		if groups[id] == nil {
			groups[id] = &group{key: key}
			all = append(all, groups[id])
		}
		groups[id].items = append(groups[id].items, item)
	}
	var failed *value.Error
	// Jinja sorts first and groups then; grouping by identity leaves fewer keys to compare, and items in their order.
	slices.SortStableFunc(all, func(a, b *group) int {
		o, err := value.Compare(folded(a.key, c.ArgTruth(2)), folded(b.key, c.ArgTruth(2)))
		failed = cmp.Or(failed, err)
		return o
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(all))
	for i, g := range all {
		out[i] = []any{g.key, g.items}
	}
	return out, nil
}

func filterFlatten(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	levels, err := c.ArgInt(0, -1)
	if err != nil {
		return nil, err
	}
	// Ansible drops nulls unless skip_nulls=false says otherwise.
	keepNulls := c.Has(1) && !c.ArgTruth(1)
	out := []any{}
	e := Flatten(items, levels, keepNulls, func(item any) *value.Error {
		out = append(out, item)
		return c.Spend(1)
	})
	if e != nil {
		return nil, e
	}
	return out, nil
}

// Flatten takes lists inside of a list apart, so many levels deep, or all of them if levels is negative. It gives each item to take
// before it looks at the next: lists that hold the same list twice grow exponentially.
func Flatten(items []any, levels int, keepNulls bool, take func(item any) *value.Error) *value.Error {
	for _, item := range items {
		var err *value.Error
		if nested, ok := item.([]any); ok && levels != 0 {
			err = Flatten(nested, levels-1, keepNulls, take)
		} else if item != nil || keepNulls {
			err = take(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setFilter combines two lists as sets: what is only left, in both, only right.
func setFilter(onlyLeft, inBoth, onlyRight bool) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		left, err := c.ValueItems()
		if err != nil {
			return nil, err
		}
		right, err := value.ItemsOf(c.Args[0])
		if err != nil {
			return nil, err
		}
		// By identity, since lists and maps can be items too, which no set of Python's could hold.
		isLeft, isRight := value.Identities(left), value.Identities(right)
		out := make([]any, 0, len(left))
		seen := map[string]bool{}
		add := func(id string, item any) {
			if !seen[id] {
				seen[id] = true
				out = append(out, item)
			}
		}
		// In the order of the lists: a set without order would give another plan each time.
		for _, item := range left {
			if id := value.Identity(item); isRight[id] && inBoth || !isRight[id] && onlyLeft {
				add(id, item)
			}
		}
		if onlyRight {
			for _, item := range right {
				if id := value.Identity(item); !isLeft[id] {
					add(id, item)
				}
			}
		}
		return out, nil
	}
}

// readLists gives the value and the positional arguments, which must all be lists.
func readLists(c *call.Input) ([][]any, error) {
	var all [][]any
	for _, v := range append([]any{c.Value}, c.Rest...) {
		items, err := value.ItemsOf(v)
		if err != nil {
			return nil, err
		}
		all = append(all, items)
	}
	return all, nil
}

// Zip is zip and zip_longest.
func Zip(longest bool) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		lists, err := readLists(c)
		if err != nil {
			return nil, err
		}
		n := len(lists[0])
		for _, l := range lists {
			if longest {
				n = max(n, len(l))
			} else {
				n = min(n, len(l))
			}
		}
		out := make([]any, n)
		for i := range out {
			row := make([]any, len(lists))
			for j, l := range lists {
				if i < len(l) {
					row[j] = l[i]
				} else {
					// fillvalue: with `*` all positional arguments are in Rest, so it is the only declared one.
					row[j] = c.Arg(0)
				}
			}
			out[i] = row
		}
		return out, nil
	}
}

// Product is product: every way to take one item of each list.
func Product(c *call.Input) (any, error) {
	lists, err := readLists(c)
	if err != nil {
		return nil, err
	}
	rows := []any{[]any{}}
	for _, l := range lists {
		// Before the rows are made: each list multiplies them.
		if err := c.Spend(len(rows) * (len(l) + 1)); err != nil {
			return nil, err
		}
		next := make([]any, 0, len(rows)*len(l))
		for _, row := range rows {
			for _, item := range l {
				next = append(next, append(slices.Clone(row.([]any)), item))
			}
		}
		rows = next
	}
	return rows, nil
}

func filterBatch(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	n, err := c.ArgInt(0, 0)
	if err != nil || n < 1 || n > call.MaxRange {
		return nil, value.Errorf(value.TypeError, "", "needs a number of items from 1 to %d", call.MaxRange)
	}
	out := []any{}
	for row := range slices.Chunk(items, n) {
		// A chunk is a part of the list itself, which a variable holds.
		row = slices.Clone(row)
		for c.Has(1) && c.Args[1] != nil && len(row) < n {
			row = append(row, c.Args[1])
		}
		out = append(out, row)
	}
	return out, nil
}

// filterSlice deals a list out into so many columns.
func filterSlice(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	n, err := c.ArgInt(0, 0)
	if err != nil || n < 1 || n > call.MaxRange {
		return nil, value.Errorf(value.TypeError, "", "needs a number of slices from 1 to %d", call.MaxRange)
	}
	out := make([]any, n)
	size, extra, from := len(items)/n, len(items)%n, 0
	for i := range out {
		to := from + size
		// The first columns take what does not divide evenly.
		if i < extra {
			to++
		}
		column := slices.Clone(items[from:to])
		if c.Has(1) && c.Args[1] != nil && i >= extra && extra > 0 {
			column = append(column, c.Args[1])
		}
		// A nil slice would be a list for Go and null for JSON.
		if column == nil {
			column = []any{}
		}
		out[i], from = column, to
	}
	return out, nil
}

// filterExtract is key | extract(container): map('extract', hostvars, 'address').
func filterExtract(c *call.Input) (any, error) {
	keys := []any{c.Value}
	if more, ok := c.Arg(1).([]any); ok {
		keys = append(keys, more...)
	} else if c.Has(1) {
		keys = append(keys, c.Args[1])
	}
	at := c.Args[0]
	// Through readPart, so that of hostvars only the host that is asked for is read.
	for _, key := range keys {
		v, err := readPart(c, at, value.Text(key), value.Text(key))
		if err != nil {
			return nil, err
		}
		at = v
	}
	return at, nil
}

// Subelements pairs every item with every item of a list inside of it.
func Subelements(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	skip := c.ArgTruth(1)
	// As with_subelements has it: a map of flags instead of a flag.
	if options, ok := value.MapOf(c.Arg(1)); ok {
		skip = value.Truthy(options["skip_missing"])
	}
	out := []any{}
	for _, item := range items {
		v, err := readAttribute(c, item, c.Args[0])
		if err != nil && skip {
			continue
		}
		if err != nil {
			return nil, err
		}
		inner, ok := v.([]any)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs a list at `%s`, not %s", c.ArgText(0, ""), value.KindOf(v))
		}
		for _, sub := range inner {
			out = append(out, []any{item, sub})
		}
		if err := c.Spend(len(inner)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
