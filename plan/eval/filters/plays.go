package filters

import (
	"crypto/sha1" // version 5 of UUIDs is made of it
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jmespath/go-jmespath"
	"gopkg.in/yaml.v3"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Filters and tests that came with plays. The step form has them as well.

func playFilters() map[string]*Filter {
	return map[string]*Filter{
		"human_readable": {Params: jinja.Takes("isbits? unit?"), Run: filterHumanReadable},
		"human_to_bytes": {Params: jinja.Takes("default_unit? isbits?"), Run: filterHumanToBytes},
		"pow":            {Params: jinja.Takes("y"), Run: filterPow},
		"random":         {Params: jinja.Takes("start? step? seed?"), Run: filterRandom},
		"shuffle":        {Params: jinja.Takes("seed?"), Run: filterShuffle},
		"log":            {Params: jinja.Takes("base?"), Run: filterLog},
		"root":           {Params: jinja.Takes("base?"), Run: filterRoot},
		"urldecode":      {Run: filterURLDecode},
		"urlsplit":       {Params: jinja.Takes("query?"), Run: filterURLSplit},
		"permutations":   {Params: jinja.Takes("length?"), Run: filterPermutations},
		"combinations":   {Params: jinja.Takes("length"), Run: filterCombinations},
		"strftime":       {Params: jinja.Takes("second? utc?"), Run: filterStrftime},
		"to_datetime":    {Params: jinja.Takes("format?"), Run: filterToDatetime},
		"fileglob":       {Run: filterFileGlob},
		"relpath":        {Params: jinja.Takes("start?"), Run: filterRelPath},
		"normpath":       {Run: onText(path.Clean)},
		"commonpath":     {Run: filterCommonPath},
		"to_uuid":        {Params: jinja.Takes("namespace?"), Run: filterUUID},
		"from_yaml_all":  {Run: FromYAMLAll},
		"json_query":     {Params: jinja.Takes("expr"), Run: filterJSONQuery},
	}
}

// filterFileGlob are the files that match a pattern, on the machine that moon runs on.
func filterFileGlob(c *call.Input) (any, error) {
	pattern, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	if c.World.Glob == nil {
		return nil, call.Unavailable("fileglob")
	}
	paths, err := c.World.Glob(c.Env, pattern)
	if paths, err = call.Ask("fileglob", pattern, paths, err); err != nil {
		return nil, err
	}
	return value.ListOf(paths), nil
}

func playTests() map[string]*Test {
	made := map[string]*Test{
		"finished":        ofResult("finished", false),
		"started":         ofResult("started", false),
		"vault_encrypted": ofText(func(s string) bool { return strings.HasPrefix(s, "$ANSIBLE_VAULT;") && strings.Contains(s, "\n") }),
		"url":             ofText(isURL),
		"urn":             ofText(func(s string) bool { return strings.HasPrefix(strings.ToLower(s), "urn:") }),
		"abs":             ofText(path.IsAbs),
		"nan": ofValue(func(v any) bool {
			n, ok := value.NumberOf(v)
			return ok && math.IsNaN(value.Float(n))
		}),
		"exists":      ofFile(os.Stat, func(os.FileInfo) bool { return true }),
		"link_exists": ofFile(os.Lstat, func(os.FileInfo) bool { return true }),
		"file":        ofFile(os.Stat, func(f os.FileInfo) bool { return f.Mode().IsRegular() }),
		"directory":   ofFile(os.Stat, func(f os.FileInfo) bool { return f.IsDir() }),
		"link":        ofFile(os.Lstat, func(f os.FileInfo) bool { return f.Mode()&os.ModeSymlink != 0 }),
		"mount":       {Run: isMount},
		"same_file": {Params: jinja.Takes("other"), Run: func(c *call.Input) (bool, error) {
			a, err := os.Stat(c.Print(c.Value))
			if err != nil {
				return false, nil //nolint:nilerr // what is not there is no file
			}
			b, err := os.Stat(c.ArgText(0, ""))
			return err == nil && os.SameFile(a, b), nil
		}},
	}
	for alias, name := range map[string]string{
		"is_file": "file", "is_dir": "directory", "is_link": "link", "is_abs": "abs", "is_mount": "mount", "is_same_file": "same_file",
	} {
		made[alias] = made[name]
	}
	return made
}

func ofText(f func(string) bool) *Test {
	return &Test{Run: func(c *call.Input) (bool, error) {
		s, ok := c.Value.(string)
		return ok && f(s), nil
	}}
}

// ofFile asks about a file of this machine, not of the host.
func ofFile(stat func(string) (os.FileInfo, error), f func(os.FileInfo) bool) *Test {
	return &Test{Run: func(c *call.Input) (bool, error) {
		name, err := c.ValueText()
		if err != nil {
			return false, err
		}
		found, err := stat(name)
		return err == nil && f(found), nil
	}}
}

func isMount(c *call.Input) (bool, error) {
	name, err := c.ValueText()
	if err != nil {
		return false, err
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return false, value.Errorf(value.Failure, "", "the mounts of this machine cannot be read")
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == path.Clean(name) {
			return true, nil
		}
	}
	return false, nil
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Scheme == "file" || u.Scheme == "mailto")
}

// units from the largest down.
const units = "YZEPTGMKB"

func unitSize(letter byte) float64 {
	return math.Pow(1024, float64(len(units)-1-strings.IndexByte(units, letter)))
}

func filterHumanReadable(c *call.Input) (any, error) {
	n, ok := value.NumberOf(c.Value)
	if s, isText := c.Value.(string); isText {
		f, err := strconv.ParseFloat(s, 64)
		n, ok = f, err == nil
	}
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a number, not %s", value.KindOf(c.Value))
	}
	letter := byte('B')
	wanted := strings.ToUpper(c.ArgText(1, ""))
	for i := range len(units) {
		// The largest unit that the number reaches, or the one that was asked for by its first letter.
		if wanted == "" && value.Float(n) >= unitSize(units[i]) || wanted != "" && wanted[0] == units[i] {
			letter = units[i]
			break
		}
	}
	unit := "Bytes"
	switch {
	case c.ArgTruth(0) && letter == 'B':
		unit = "bits"
	case c.ArgTruth(0):
		unit = string(letter) + "b"
	case letter != 'B':
		unit = string(letter) + "B"
	}
	return fmt.Sprintf("%.2f %s", value.Float(n)/unitSize(letter), unit), nil
}

func filterHumanToBytes(c *call.Input) (any, error) {
	s := strings.TrimSpace(c.Print(c.Value))
	end := 0
	for end < len(s) && (isDigit(s[end]) || s[end] == '.') {
		end++
	}
	amount, err := strconv.ParseFloat(s[:end], 64)
	unit := strings.TrimSpace(s[end:])
	if unit == "" {
		unit = c.ArgText(0, "")
	}
	letter := strings.ToUpper(unit)
	suffix := "B"
	if c.ArgTruth(1) {
		suffix = "b"
	}
	// Ansible is strict here: B is bytes and b is bits, and the other one is an error rather than a factor of eight.
	known := unit == "" || strings.Contains(units, letter[:1]) &&
		(len(unit) == 1 && (letter != "B" || unit == suffix) || len(unit) == 2 && letter[0] != 'B' && unit[1:] == suffix ||
			len(unit) > 2 && humanWord(letter, c.ArgTruth(1)))
	if err != nil || !known {
		return nil, value.Errorf(value.Failure, "write a size such as `10M` or `1.5 GB`", "cannot read the size `%s`", s)
	}
	size := 1.0
	if unit != "" {
		size = unitSize(letter[0])
	}
	return int(math.RoundToEven(amount * size)), nil
}

// humanWord reports whether a unit is written out: Bytes, kilobytes, megabits.
func humanWord(unit string, bits bool) bool {
	what := "BYTE"
	if bits {
		what = "BIT"
	}
	unit = strings.TrimSuffix(unit, "S")
	return unit == what || strings.HasSuffix(unit, what) && slices.Contains(
		[]string{"KILO", "MEGA", "GIGA", "TERA", "PETA", "EXA", "ZETTA", "YOTTA"}, strings.TrimSuffix(unit, what))
}

// readNumber gives the value, which must be a number.
func readNumber(c *call.Input) (any, error) {
	n, ok := value.NumberOf(c.Value)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a number, not %s", value.KindOf(c.Value))
	}
	return n, nil
}

func readFloat(c *call.Input) (float64, error) {
	n, err := readNumber(c)
	return value.Float(n), err
}

// readFloatArg gives argument i, which must be a number.
func readFloatArg(c *call.Input, i int, otherwise float64) (float64, error) {
	if !c.Has(i) {
		return otherwise, nil
	}
	n, ok := value.NumberOf(c.Args[i])
	if !ok {
		return 0, value.Errorf(value.TypeError, "", "needs a number, not %s", value.KindOf(c.Args[i]))
	}
	return value.Float(n), nil
}

func filterPow(c *call.Input) (any, error) {
	x, err := readFloat(c)
	if err != nil {
		return nil, err
	}
	y, err := readFloatArg(c, 0, 1)
	if err != nil {
		return nil, err
	}
	return math.Pow(x, y), nil
}

func filterLog(c *call.Input) (any, error) {
	x, err := readFloat(c)
	if err != nil {
		return nil, err
	}
	base, err := readFloatArg(c, 0, math.E)
	if err != nil {
		return nil, err
	}
	if x <= 0 || base <= 0 || base == 1 {
		return nil, value.Errorf(value.Failure, "", "there is no such logarithm")
	}
	// The quotient is not exact: log(1000) / log(10) is 2.9999999999999996.
	switch base {
	case 10:
		return math.Log10(x), nil
	case 2:
		return math.Log2(x), nil
	}
	return math.Log(x) / math.Log(base), nil
}

func filterRoot(c *call.Input) (any, error) {
	x, err := readFloat(c)
	if err != nil {
		return nil, err
	}
	base, err := readFloatArg(c, 0, 2)
	if err != nil {
		return nil, err
	}
	if base == 0 || x < 0 {
		return nil, value.Errorf(value.Failure, "", "there is no such root")
	}
	if base == 2 {
		return math.Sqrt(x), nil
	}
	return math.Pow(x, 1/base), nil
}

func filterURLDecode(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	text, err := url.QueryUnescape(s)
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not that of a URL")
	}
	return text, nil
}

func filterURLSplit(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not a URL")
	}
	parts := map[string]any{
		"scheme": u.Scheme, "netloc": u.Host, "hostname": nil, "port": nil, "username": nil, "password": nil,
		"path": u.EscapedPath(), "query": u.RawQuery, "fragment": u.EscapedFragment(),
	}
	// mailto:a@b has no slashes; Go keeps its rest apart, to Python it is the path.
	if u.Opaque != "" {
		parts["path"] = u.Opaque
	}
	// Python gives hostname in lower case, and null if there is none.
	if host := strings.ToLower(u.Hostname()); host != "" {
		parts["hostname"] = host
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		parts["port"] = port
	}
	if u.User != nil {
		parts["username"] = u.User.Username()
		if password, ok := u.User.Password(); ok {
			parts["password"] = password
		}
		// Go's Host lacks the user, which is part of Python's netloc.
		parts["netloc"] = u.User.String() + "@" + u.Host
	}
	part := c.ArgText(0, "")
	if part == "" {
		return parts, nil
	}
	v, ok := parts[part]
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "knows %s, not `%s`", strings.Join(value.SortedKeys(parts), ", "), part)
	}
	return v, nil
}

func filterPermutations(c *call.Input) (any, error) { return chooseItems(c, true) }

func filterCombinations(c *call.Input) (any, error) { return chooseItems(c, false) }

// chooseItems gives the ways to take some of the items: in every order, or in theirs.
func chooseItems(c *call.Input, ordered bool) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	n, err := c.ArgInt(0, len(items))
	if err != nil {
		return nil, err
	}
	out := []any{}
	used := make([]bool, len(items))
	var take func(row []any, from int) *value.Error
	take = func(row []any, from int) *value.Error {
		// The number of rows grows with the factorial; each costs before it is made.
		if err := c.Spend(1 + len(row)); err != nil {
			return err
		}
		if len(row) == n {
			out = append(out, slices.Clone(row))
			return nil
		}
		for i := range items {
			// Combinations only look behind the item before, so that each set comes once.
			if used[i] || !ordered && i < from {
				continue
			}
			used[i] = true
			err := take(append(row, items[i]), i+1)
			used[i] = false
			if err != nil {
				return err
			}
		}
		return nil
	}
	// As in itertools: more than there are gives nothing.
	if n < 0 || n > len(items) {
		return out, nil
	}
	if err := take(make([]any, 0, n), 0); err != nil {
		return nil, err
	}
	return out, nil
}

func filterRelPath(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	from, err := filepath.Abs(c.ArgText(0, "."))
	if err != nil {
		return nil, err
	}
	to, err := filepath.Abs(s)
	if err != nil {
		return nil, err
	}
	return filepath.Rel(from, to)
}

func filterCommonPath(c *call.Input) (any, error) {
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs at least one path")
	}
	common := strings.Split(path.Clean(c.Print(items[0])), "/")
	for _, item := range items[1:] {
		parts := strings.Split(path.Clean(c.Print(item)), "/")
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	// Absolute paths begin with an empty part: if that is all they share, it is the root.
	if len(common) == 1 && common[0] == "" {
		return "/", nil
	}
	return strings.Join(common, "/"), nil
}

// uuidNamespace is the one of Ansible.
var uuidNamespace = []byte{0x36, 0x1e, 0x6d, 0x51, 0xfa, 0xec, 0x44, 0x4a, 0x90, 0x79, 0x34, 0x13, 0x86, 0xda, 0x8e, 0x2e}

// filterUUID makes the same UUID of the same text.
func filterUUID(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	space := uuidNamespace
	if c.Has(0) {
		space = nil
		if _, err := fmt.Sscanf(strings.ReplaceAll(c.ArgText(0, ""), "-", ""), "%x", &space); err != nil || len(space) != 16 {
			return nil, value.Errorf(value.TypeError, "", "needs a UUID as the namespace")
		}
	}
	h := sha1.New() // see above
	h.Write(space)
	h.Write([]byte(s))
	id := h.Sum(nil)[:16]
	// Version 5 and the variant of RFC 4122 replace some bits of the digest.
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}

// FromYAMLAll is from_yaml_all.
func FromYAMLAll(c *call.Input) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return c.Value, nil
	}
	all := []any{}
	for d := yaml.NewDecoder(strings.NewReader(s)); ; {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err != nil && err.Error() == "EOF" {
			return all, nil
		}
		if err != nil {
			return nil, value.Errorf(value.Failure, "", "the text is not YAML: %s",
				strings.TrimPrefix(value.Sentence(err.Error()), "yaml: "))
		}
		var v any
		// An empty document counts, and is null.
		if len(doc.Content) > 0 {
			if v, err = decodeYAML(c, doc.Content[0], 0); err != nil {
				return nil, err
			}
		}
		all = append(all, v)
	}
}

// filterJSONQuery is community.general's json_query.
func filterJSONQuery(c *call.Input) (any, error) {
	query, err := jmespath.Compile(quoteLiterals(c.ArgText(0, "")))
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the query is wrong: %s",
			strings.TrimPrefix(value.Sentence(err.Error()), "SyntaxError: "))
	}
	// Plain copies, so that floats may write into what it gives.
	found, err := query.Search(floats(value.Plain(c.Value)))
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the query does not work: %s", value.Sentence(err.Error()))
	}
	if found == nil {
		return nil, nil
	}
	v, err := value.FromReflect(found)
	if err != nil {
		return nil, err
	}
	return wholeNumbers(v), nil
}

// quoteLiterals makes JSON of what stands between backticks and is none: playbooks write `web` there, and mean the text.
func quoteLiterals(query string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(query, "`")
		end := strings.IndexByte(rest, '`')
		// A backtick in quotes, or one that is escaped, is left to the library, which knows what it is.
		if !found || end < 0 || strings.Count(before, "'")%2 != 0 || strings.HasSuffix(rest[:end], `\`) {
			return b.String() + query
		}
		literal := strings.TrimSpace(rest[:end])
		if !json.Valid([]byte(literal)) && !strings.ContainsAny(literal, `"\`) {
			literal = strconv.Quote(literal)
		}
		b.WriteString(before + "`" + literal + "`")
		query = rest[end+1:]
	}
}

// floats makes the numbers of a value what the library knows.
func floats(v any) any {
	return value.MapLeaves(v, func(v any) any {
		if i, ok := v.(int); ok {
			return float64(i)
		}
		return v
	})
}

// wholeNumbers makes integers of the floats that are. Beyond 2**53 not every whole number is a float: those stay what they became.
func wholeNumbers(v any) any {
	return value.MapLeaves(v, func(v any) any {
		if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int(f)
		}
		return v
	})
}
