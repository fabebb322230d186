package documented

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Misfit is something wrong with arguments, in moon's words and in Ansible's, which playbooks may look for.
type Misfit struct {
	Problem
	Words string
}

// Specified says what is wrong with the arguments of a role, by the options that its argument_specs list. Unlike the module of a task, for
// which a text is good enough that reads as a number, the role gets its variables as they are, and Ansible looks at them with
// aliases resolved and defaults filled in: so does this, level by level.
func Specified(options, values map[string]any) []Misfit {
	s := specified{}
	s.checkLevel(nil, options, values, nil)
	if len(s.unknown) > 0 {
		s.found = append(s.found, s.refuseUnknown())
	}
	return s.found
}

type specified struct {
	found   []Misfit
	unknown []unknownField // is said last, and in one sentence
}

type unknownField struct {
	at             []string
	known, aliases []string // what there is
}

func (s *specified) report(at []string, words, format string, args ...any) {
	s.found = append(s.found, Misfit{Problem{strings.Join(at, "."), fmt.Sprintf(format, args...), ""}, words})
}

// foundIn is the end of a sentence of Ansible's about something inside of other options.
func foundIn(above []string) string {
	if len(above) == 0 {
		return ""
	}
	return " found in " + strings.Join(above, " -> ")
}

// inside is such an end in moon's words.
func inside(above []string) string {
	if len(above) == 0 {
		return ""
	}
	return " in `" + strings.Join(above, ".") + "`"
}

// option is what a specification says of one argument.
func option(options map[string]any, name string) map[string]any {
	o, _ := options[name].(map[string]any)
	return o
}

// checkLevel checks the arguments that are beside each other, and then what is inside of them. rules are what the option around them says
// of them together; a role has none.
func (s *specified) checkLevel(rules, options, given map[string]any, above []string) {
	names := slices.Sorted(maps.Keys(options))
	values := fillIn(options, given)
	s.findUnknown(options, given, above)
	s.checkExclusive(rules, given, above)
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := values[name]
		return ok || !isTrue(option(options, name)["required"])
	})
	if len(missing) > 0 {
		s.report(append(slices.Clip(above), missing[0]), "missing required arguments: "+strings.Join(missing, ", ")+foundIn(above),
			"%s must be set%s", quoteAll(missing, "and"), inside(above))
	}
	for _, name := range names {
		s.checkType(name, option(options, name), values, above)
	}
	for _, name := range names {
		s.checkWords(name, option(options, name), values, above)
	}
	s.checkTogether(rules, values, above)
	s.checkNeeded(rules, values, above)
	for _, name := range names {
		s.checkInside(name, option(options, name), values, above)
	}
}

// fillIn are arguments with the defaults of those that are not given, under the names that their aliases stand for.
func fillIn(options, given map[string]any) map[string]any {
	values := maps.Clone(given)
	if values == nil {
		values = map[string]any{}
	}
	for name := range options {
		o := option(options, name)
		for _, alias := range wordsOf(o["aliases"]) {
			if v, ok := given[alias]; ok {
				values[name] = v
			}
		}
		if _, ok := values[name]; !ok && o["default"] != nil {
			values[name] = o["default"]
		}
	}
	return values
}

func (s *specified) findUnknown(options, given map[string]any, above []string) {
	known := slices.Sorted(maps.Keys(options))
	var aliases []string
	for _, name := range known {
		aliases = append(aliases, wordsOf(option(options, name)["aliases"])...)
	}
	slices.Sort(aliases)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) && !slices.Contains(aliases, name) {
			s.unknown = append(s.unknown, unknownField{append(slices.Clip(above), name), known, aliases})
		}
	}
}

func (s *specified) refuseUnknown() Misfit {
	names := make([]string, len(s.unknown))
	for i, u := range s.unknown {
		names[i] = strings.Join(u.at, ".")
	}
	last := s.unknown[len(s.unknown)-1]
	hint := suggestWord(last.at[len(last.at)-1], last.known)
	if hint == "" {
		hint = "there is " + quoteAll(last.known, "and")
	}
	supported := strings.Join(last.known, ", ")
	if len(last.aliases) > 0 {
		supported += " (" + strings.Join(last.aliases, ", ") + ")"
	}
	return Misfit{
		Problem{names[0], "there is no option " + quoteAll(names, "and"), hint},
		strings.Join(names, ", ") + ". Supported parameters include: " + supported + ".",
	}
}

// checkType checks what a value is, and replaces it with what Ansible reads it as: a text with commas is a list.
func (s *specified) checkType(name string, o, values map[string]any, above []string) {
	v, typ := values[name], typeOf(o["type"])
	if v == nil {
		return
	}
	at := append(slices.Clip(above), name)
	if why := unlike(typ, v); why != "" {
		words := fmt.Sprintf("argument '%s' is of type %s", name, pythonType(v))
		if len(above) > 0 {
			words += " found in '" + strings.Join(above, " -> ") + "'."
		}
		s.report(at, words+" and we were unable to convert to "+typ+": "+why, "`%s` must be %s, found %s", strings.Join(at, "."), wantedWord(typ),
			describe(v))
		return
	}
	if typ != "list" {
		return
	}
	items := elements(v)
	values[name] = items
	if o["elements"] == nil {
		return
	}
	inner, fitting := typeOf(o["elements"]), []any{}
	for _, item := range items {
		why := unlike(inner, item)
		if why == "" {
			fitting = append(fitting, item)
		} else {
			words := fmt.Sprintf("Elements value for option '%s'", name)
			if len(above) > 0 {
				words += " found in '" + strings.Join(above, " -> ") + "'"
			}
			s.report(at, fmt.Sprintf("%s is of type %s and we were unable to convert to %s: %s", words, pythonType(item), inner, why),
				"`%s` must be a list of %s, found %s in it", strings.Join(at, "."), pluralWord(inner), describe(item))
		}
	}
	values[name] = fitting // Ansible looks no further at the others
}

func typeOf(v any) string {
	if word, ok := v.(string); ok && word != "" {
		return word
	}
	return "str"
}

// specifiedTypes are those that Ansible knows.
var specifiedTypes = []string{"bits", "bool", "bytes", "dict", "float", "int", "json", "jsonarg", "list", "path", "raw", "str"}

func wantedWord(typ string) string {
	if !slices.Contains(specifiedTypes, typ) {
		return "of the type `" + typ + "`, which there is not: types are " + strings.Join(specifiedTypes, ", ")
	}
	return typeWord(typ)
}

// unlike is why Ansible does not take a value for a type; "" if it does. A float is not a whole number, even if
// its fraction is 0.
func unlike(typ string, v any) string {
	if !slices.Contains(specifiedTypes, typ) {
		return "'NoneType' object is not callable"
	}
	word, isText := v.(string)
	_, isNumber := number(v)
	_, isBool := v.(bool)
	_, isFloat := v.(float64)
	converted := map[string]string{
		"bits": "a Bit value", "bytes": "a Byte value", "int": "an int", "json": "a json string", "jsonarg": "a json string",
	}[typ]
	if converted == "" {
		converted = "a " + typ
	}
	refused := pythonType(v) + " cannot be converted to " + converted
	switch {
	case typ == "int" && isFloat, (typ == "json" || typ == "jsonarg") && (isNumber || isBool):
		return refused
	case fits(typ, v), typ == "path", typ == "float" && isBool:
		return ""
	case typ == "dict" && isText && !strings.HasPrefix(word, "{"):
		return "dictionary requested, could not parse JSON or key=value"
	case typ == "list" && isBool: // a number, for Python
		return ""
	case typ == "bool" && (isText || isNumber):
		return fmt.Sprintf("The value '%v' is not a valid boolean.  Valid booleans include: %s", v, strings.Join(slices.Concat(trueWords[:6],
			falseWords[:6]), ", "))
	}
	return refused
}

// pythonType is what Python calls the type of a value.
func pythonType(v any) string {
	name := "int"
	switch v.(type) {
	case nil:
		name = "NoneType"
	case string:
		name = "str"
	case bool:
		name = "bool"
	case float64:
		name = "float"
	case []any:
		name = "list"
	case map[string]any:
		name = "dict"
	}
	return "<class '" + name + "'>"
}

// checkWords checks a value, or each item of a list, against the choices.
func (s *specified) checkWords(name string, o, values map[string]any, above []string) {
	v, given := values[name]
	choices, listed := o["choices"].([]any)
	if !given || !listed {
		return
	}
	at := append(slices.Clip(above), name)
	all := make([]string, len(choices))
	for i, c := range choices {
		all[i] = pythonText(c)
	}
	if list, ok := v.([]any); ok {
		var others []string
		for _, item := range list {
			if !slices.Contains(all, pythonText(item)) {
				others = append(others, pythonText(item))
			}
		}
		if len(others) > 0 {
			s.report(at, fmt.Sprintf("value of %s must be one or more of: %s. Got no match for: %s%s", name, strings.Join(all, ", "),
				strings.Join(others, ", "), foundIn(above)),
				"`%s` must be a list of %s, found %s in it", strings.Join(at, "."), strings.Join(all, ", "), strings.Join(others, ", "))
		}
		return
	}
	// A null that is given is a choice like any other.
	if !isChoice(all, v) && !slices.Contains(all, pythonText(v)) {
		s.report(at, fmt.Sprintf("value of %s must be one of: %s, got: %s%s", name, strings.Join(all, ", "), pythonText(v), foundIn(above)),
			"`%s` must be one of %s, found %s", strings.Join(at, "."), strings.Join(all, ", "), describe(v))
	}
}

// pythonText is a scalar as Python writes it.
func pythonText(v any) string {
	switch v {
	case nil:
		return "None"
	case true:
		return "True"
	case false:
		return "False"
	}
	return text(v)
}

// checkInside checks the maps that an option holds by the options that these have.
func (s *specified) checkInside(name string, o, values map[string]any, above []string) {
	inner, _ := o["options"].(map[string]any)
	if inner == nil || typeOf(o["type"]) != "dict" && (typeOf(o["type"]) != "list" || o["elements"] != "dict") {
		return
	}
	v := values[name]
	if v == nil && isTrue(o["apply_defaults"]) {
		v = map[string]any{}
	}
	if v == nil {
		return
	}
	at := append(slices.Clip(above), name)
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			s.report(at, fmt.Sprintf("value of '%s' must be of type dict or list of dicts", name), "`%s` must be a map or a list of maps",
				strings.Join(at, "."))
			continue
		}
		s.checkLevel(o, inner, m, at)
	}
}

// checkExclusive checks which of the arguments beside each other exclude each other, before defaults are filled in.
func (s *specified) checkExclusive(rules, given map[string]any, at []string) {
	var all []string
	for _, names := range groupsOf(rules["mutually_exclusive"]) {
		if countGiven(given, names) > 1 {
			all = append(all, strings.Join(names, "|"))
		}
	}
	if len(all) > 0 {
		s.report(at, "parameters are mutually exclusive: "+strings.Join(all, ", ")+foundIn(at), "these exclude each other%s: %s",
			inside(at), strings.Join(all, ", "))
	}
}

// checkTogether checks which of the arguments beside each other need each other. As with Ansible, the first rule that is broken is said.
func (s *specified) checkTogether(rules, values map[string]any, at []string) {
	for _, names := range groupsOf(rules["required_together"]) {
		if n := countGiven(values, names); n > 0 && n < len(names) {
			s.report(at, "parameters are required together: "+strings.Join(names, ", ")+foundIn(at),
				"%s are given together or not at all%s", quoteAll(names, "and"), inside(at))
			break
		}
	}
	for _, names := range groupsOf(rules["required_one_of"]) {
		if countGiven(values, names) == 0 {
			s.report(at, "one of the following is required: "+strings.Join(names, ", ")+foundIn(at), "one of %s must be set%s",
				quoteAll(names, "or"), inside(at))
			break
		}
	}
}

func countGiven(values map[string]any, names []string) (n int) {
	for _, name := range names {
		if _, ok := values[name]; ok {
			n++
		}
	}
	return n
}

// checkNeeded checks which arguments others need, by their values or by being there.
func (s *specified) checkNeeded(rules, values map[string]any, at []string) {
	list, _ := rules["required_if"].([]any)
	for _, rule := range list {
		if s.checkNeed(rule, values, at) {
			break
		}
	}
	by, _ := rules["required_by"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		missing := slices.DeleteFunc(wordsOf(by[name]), func(name string) bool { return values[name] != nil })
		if values[name] != nil && len(missing) > 0 {
			s.report(at, fmt.Sprintf("missing parameter(s) required by '%s': %s%s", name, strings.Join(missing, ", "), foundIn(at)),
				"`%s` needs %s%s", name, quoteAll(missing, "and"), inside(at))
			break
		}
	}
}

// checkNeed checks a rule such as [state, present, [name], true], and reports whether it is broken.
func (s *specified) checkNeed(rule any, values map[string]any, at []string) bool {
	parts, _ := rule.([]any)
	if len(parts) < 3 {
		return false
	}
	name, _ := parts[0].(string)
	v, given := values[name]
	needs := wordsOf(parts[2])
	missing := slices.DeleteFunc(slices.Clone(needs), func(name string) bool { return countGiven(values, []string{name}) > 0 })
	how, joined := "all", "and"
	if len(parts) > 3 && isTrue(parts[3]) {
		how, joined = "any", "or"
	}
	if !given || pythonText(v) != pythonText(parts[1]) || len(missing) == 0 || how == "any" && len(missing) < len(needs) {
		return false
	}
	s.report(at, fmt.Sprintf("%s is %s but %s of the following are missing: %s%s", name, pythonText(v), how, strings.Join(missing, ", "),
		foundIn(at)), "`%s: %s` needs %s%s", name, text(v), quoteAll(missing, joined), inside(at))
	return true
}

// groupsOf is a list of lists of names, or one such list.
func groupsOf(v any) (groups [][]string) {
	list, _ := v.([]any)
	for _, item := range list {
		if _, ok := item.([]any); !ok {
			return [][]string{wordsOf(list)}
		}
		groups = append(groups, wordsOf(item))
	}
	return groups
}

// wordsOf are the texts of a list, or the one there is.
func wordsOf(v any) (all []string) {
	if word, ok := v.(string); ok {
		return []string{word}
	}
	list, _ := v.([]any)
	for _, item := range list {
		all = append(all, text(item))
	}
	return all
}

func isTrue(v any) bool {
	return v == true || fits("bool", v) && slices.Contains(trueWords, strings.ToLower(text(v)))
}
