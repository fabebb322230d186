package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/internal/suggest"
)

// Problem is something wrong with an action's arguments.
type Problem struct {
	Field   string // as written in the playbook, "file.mode" inside an object; "" for the arguments as a whole
	Message string // one sentence, lower case, no full stop
	Hint    string // the way out; may be empty
}

func (p Problem) String() string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + "; " + p.Hint
}

// validator is an argument struct with rules across fields. It may also settle what implied defaults mean.
type validator interface {
	validateArgs(given func(field string) bool) []Problem
}

// prepared is an argument struct that has values from the planner, which are taken out of the arguments.
type prepared interface {
	takeRendered(args map[string]any) map[string]any
}

// Decode turns rendered arguments into a pointer to the action's argument struct. Values are nil, bool, int, float64,
// string, []any, map[string]any, or have a String method; nil counts as not given. All problems are reported, and
// then the struct is not to be used.
func (a *Action) Decode(args map[string]any) (any, []Problem) {
	if a.Plugin != nil {
		return a.decodePlugin(args)
	}
	v := reflect.New(a.args)
	d := decoder{action: a.Name}
	if t, ok := reflect.TypeAssert[prepared](v); ok {
		args = t.takeRendered(args)
	}
	if a.Open {
		d.decodeOpen(a, v.Elem(), args)
	} else {
		d.decodeObject(a.fields(), v.Elem(), args, "")
	}
	// Combinations are checked only if each field is right by itself: otherwise one mistake is reported twice.
	if check, ok := reflect.TypeAssert[validator](v); ok && len(d.problems) == 0 {
		d.problems = check.validateArgs(func(name string) bool {
			f, _ := a.Field(name)
			_, _, ok := f.findGiven(args)
			return ok
		})
	}
	if check, ok := reflect.TypeAssert[interface{ attributeProblems() []Problem }](v); ok && len(d.problems) == 0 {
		d.problems = check.attributeProblems()
	}
	return v.Interface(), d.problems
}

type decoder struct {
	action   string
	problems []Problem
}

func (d *decoder) reportProblem(field, hint, format string, args ...any) {
	d.problems = append(d.problems, Problem{field, fmt.Sprintf(format, args...), hint})
}

// sourceAndDest are the actions whose missing arguments Ansible names in one sentence, as it looks at them before their modules do.
var sourceAndDest = []string{"fetch", "template", "assemble"}

// WordsFor is what Ansible's module says of a problem with arguments, for playbooks that look; "" if it has no fixed words for it.
func (a *Action) WordsFor(p Problem, args map[string]any) string {
	f, ok := a.Field(p.Field)
	if !ok {
		return ""
	}
	_, v, given := f.findGiven(args)
	text, isText := asText(v)
	switch {
	case !given && f.Required && slices.Contains(sourceAndDest, a.Name):
		return "src and dest are required"
	case !given && f.Required:
		return "missing required arguments: " + f.Name
	case given && isText && len(f.Enum) > 0 && !slices.Contains(f.Enum, text):
		return fmt.Sprintf("value of %s must be one of: %s, got: %s", f.Name, strings.Join(f.Enum, ", "), text)
	}
	return ""
}

// UnsupportedWords is what Ansible's module says of an argument that it does not have.
func UnsupportedWords(a *Action, key string) string {
	if a == nil {
		return ""
	}
	var known []string
	for _, f := range a.Fields() {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	}
	slices.Sort(known)
	return fmt.Sprintf("Unsupported parameters for (%s) module: %s. Supported parameters include: %s.", a.Name, key, strings.Join(known, ", "))
}

// findGiven finds the field's value under any of its names. A null is a value only where any value is.
func (f *Field) findGiven(args map[string]any) (name string, value any, ok bool) {
	if v, there := args[f.Name]; v != nil || there && f.Kind == Any {
		return f.Name, v, true
	}
	for _, name := range f.Aliases {
		if v, there := args[name]; v != nil || there && f.Kind == Any {
			return name, v, true
		}
	}
	return "", nil, false
}

// isNull reports whether the field is written, with a value that turned out to be null.
func (f *Field) isNull(args map[string]any) bool {
	return slices.ContainsFunc(append([]string{f.Name}, f.Aliases...), func(name string) bool { _, there := args[name]; return there })
}

// decodeOpen decodes an action whose keys are the user's own names; what it declares as fields is taken out of them.
func (d *decoder) decodeOpen(a *Action, v reflect.Value, args map[string]any) {
	// The map belongs to the caller.
	rest := maps.Clone(args)
	for _, f := range a.fields() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			delete(rest, name)
		}
	}
	if len(rest) == 0 {
		if d.action == "set_fact" {
			d.reportProblem("", "", "`%s` sets no variable", d.action)
		}
	}
	v.FieldByName("Values").Set(reflect.ValueOf(rest))
	known := maps.Clone(args)
	maps.DeleteFunc(known, func(name string, _ any) bool { _, ok := rest[name]; return ok })
	d.decodeObject(a.fields(), v, known, "")
}

func (d *decoder) decodeObject(fields []Field, v reflect.Value, args map[string]any, prefix string) {
	misspelt := map[string]bool{} // fields that an unknown name is probably meant to be
	for _, name := range slices.Sorted(maps.Keys(args)) {
		// A name that moon knows but does not support yet has a message of its own.
		if _, ok := findField(fields, name); !ok && !d.reportLater(name, args[name], prefix) {
			misspelt[d.reportUnknown(fields, name, prefix)] = true
		}
	}
	for i := range fields {
		f := &fields[i]
		name, value, ok := f.findGiven(args)
		switch {
		case ok:
			d.reportTwice(f, args, name, prefix)
			d.setField(f, v.FieldByIndex(f.index), value, prefix+name)
		case f.Required && f.isNull(args):
			d.reportProblem(prefix+f.Name, "", "`%s` needs `%s`, which is null", d.action, prefix+f.Name)
		// A field that is missing only because its name is misspelt is not reported a second time.
		case f.Required && !misspelt[f.Name]:
			d.reportProblem(prefix+f.Name, "", "`%s` needs `%s`", d.action, prefix+f.Name)
		case f.fill:
			d.setField(f, v.FieldByIndex(f.index), f.Default, prefix+f.Name)
		}
	}
}

// reportUnknown reports a name that is no field's, and gives the field that it is probably meant to be.
func (d *decoder) reportUnknown(fields []Field, name, prefix string) string {
	names := make([]string, 0, len(fields))
	all := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.Name)
		all = append(append(all, f.Name), f.Aliases...)
	}
	hint := suggest.DidYouMean(name, all)
	if hint == "" {
		hint = "it has " + strings.Join(names, ", ")
	}
	d.reportProblem(prefix+name, hint, "`%s` has no field `%s`", d.action, prefix+name)
	if meant, ok := findField(fields, suggest.Nearest(name, all)); ok {
		return meant.Name
	}
	return ""
}

func (d *decoder) reportTwice(f *Field, args map[string]any, first, prefix string) {
	for _, alias := range f.Aliases {
		if alias != first && args[alias] != nil {
			d.reportProblem(prefix+alias, "give one of them", "`%s` and `%s` are the same field", prefix+first, prefix+alias)
		}
	}
}

// setField decodes one value. name is what the user called the field.
func (d *decoder) setField(f *Field, to reflect.Value, value any, name string) {
	// A pointer tells a field that is not given from one with the zero value.
	if to.Kind() == reflect.Pointer && f.Kind != Object {
		p := reflect.New(to.Type().Elem())
		d.setField(f, p.Elem(), value, name)
		to.Set(p)
		return
	}
	switch f.Kind {
	case String, Path, ScriptLine, Expression:
		if s, ok := d.decodeText(f, value, name); ok {
			to.SetString(s)
		}
	case Bool:
		if b, ok := asBool(value); ok {
			to.SetBool(b)
		} else {
			d.reportType(name, "true or false", value)
		}
	case Int:
		if n, ok := asInt(value); ok {
			to.SetInt(int64(n))
		} else {
			d.reportType(name, "a whole number", value)
		}
	case Duration:
		if t, ok := asDuration(value); ok {
			to.SetInt(int64(t))
		} else {
			d.reportType(name, "a duration like 30s, 1m30s or a number of seconds", value)
		}
	case FileMode:
		d.decodeMode(to, value, name)
	case Strings, Paths, Conditions:
		if list, ok := asStrings(value); ok {
			to.Set(reflect.ValueOf(list))
		} else {
			d.reportType(name, "a "+f.Kind.String(), value)
		}
	case Map:
		if m, ok := asMap(value); ok {
			to.Set(reflect.ValueOf(m))
		} else {
			d.reportType(name, "a map", value)
		}
	case Any:
		// reflect has no value for nil; the field keeps its zero.
		if value != nil {
			to.Set(reflect.ValueOf(value))
		}
	case Object:
		m, ok := asMap(value)
		if !ok {
			d.reportType(name, "a map", value)
			return
		}
		p := reflect.New(to.Type().Elem())
		d.decodeObject(f.Fields, p.Elem(), m, name+".")
		to.Set(p)
	}
}

func (d *decoder) reportType(name, want string, value any) {
	d.reportProblem(name, "", "`%s` must be %s, found %s", name, want, nameValue(value))
}

func (d *decoder) decodeText(f *Field, value any, name string) (string, bool) {
	s, ok := asText(value)
	if !ok && f.JSON {
		s, ok = asJSON(value)
	}
	if !ok {
		d.reportType(name, "text", value)
		return "", false
	}
	// Some words of an enumeration are other words for the same.
	if same, ok := f.same[s]; ok {
		s = same
	} else if len(f.Enum) > 0 && !slices.Contains(f.Enum, s) {
		d.reportProblem(name, suggest.DidYouMean(s, f.Enum), "`%s` must be one of %s, found %s", name, strings.Join(f.Enum, ", "),
			nameValue(value))
		return "", false
	}
	return s, true
}

func (d *decoder) decodeMode(to reflect.Value, value any, name string) {
	text, ok := "", false
	if n, whole := asInt(value); whole {
		// A number has lost its spelling; the only reading that never surprises is its digits as octal.
		text, ok = strconv.Itoa(n), true
		if s, isText := value.(string); isText {
			text = s
		}
		// YAML has converted an octal mode if the number has digits that are not octal: 0600 has become 384.
		if _, isText := value.(string); !isText && n > 0 && n <= 0o7777 && strings.ContainsAny(text, "89") {
			d.reportProblem(name, fmt.Sprintf("if it is the decimal form of an octal mode, write \"%04o\"", n),
				"`%s` must be octal digits like 0644, found %s", name, nameValue(value))
			return
		}
	} else if s, isText := asText(value); isText {
		_, isBool := value.(bool)
		text, ok = s, !isBool
	}
	if !ok {
		d.reportType(name, "like 0644 or u+x", value)
		return
	}
	m, err := ParseMode(text)
	if err != nil {
		d.reportProblem(name, "", "`%s` %v", name, err)
		return
	}
	to.Set(reflect.ValueOf(m))
}

// nameValue names a value as a person would.
func nameValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case string:
		if len(v) > 40 {
			v = v[:40] + "…"
		}
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	if s, ok := asText(value); ok {
		return s
	}
	return "a value of another kind"
}

// asJSON writes a list or map on one line. What HTML would want escaped stays as it is.
func asJSON(value any) (string, bool) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err == nil
}

func asText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case fmt.Stringer:
		return v.String(), true
	}
	return "", false
}

func asBool(value any) (b, ok bool) {
	if b, ok := value.(bool); ok {
		return b, true
	}
	s, _ := asText(value)
	switch strings.ToLower(s) {
	// The words of YAML 1.1, as Ansible takes them.
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

func asInt(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case float64:
		// Beyond 2^53 a float no longer holds every whole number.
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case bool:
		return 0, false
	}
	s, ok := asText(value)
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, ok && err == nil
}

// asDuration reads 30s, 1m30s, and numbers of seconds. A negative duration is none.
func asDuration(value any) (time.Duration, bool) {
	if _, isBool := value.(bool); isBool {
		return 0, false
	}
	s, ok := asText(value)
	if !ok {
		return 0, false
	}
	s = strings.TrimSpace(s)
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		d := seconds * float64(time.Second)
		return time.Duration(d), d >= 0 && d < math.MaxInt64
	}
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	return d, err == nil && d >= 0
}

func asStrings(value any) ([]string, bool) {
	if s, ok := asText(value); ok {
		return []string{s}, true
	}
	items, ok := value.([]any)
	if !ok {
		return nil, false
	}
	list := make([]string, len(items))
	for i, item := range items {
		if list[i], ok = asText(item); !ok {
			return nil, false
		}
	}
	return list, true
}
