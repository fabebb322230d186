package filters

import (
	"regexp"
	"slices"
	"strings"

	"moon/plan/dialect"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// The table stands in a file of its own, which nothing refers to: filters ask for their form, and the forms name filters.
func init() {
	forms = dialect.Of[*form]{
		Steps: &form{
			says: value.SaysYes, holds: value.SaysYes, isNumber: func(any) bool { return false },
			rounded:   func(f float64) any { return f },
			compare:   compareAsVersions,
			matchCase: true, noGroup: "",
			shortHash: func(hash string) string { return hash },
			escape:    regexp.QuoteMeta, quote: call.QuoteForShell,
			json:     func(_ *call.Input, layout value.Layout) value.Layout { return layout },
			fromJSON: decodeJSON, toYAML: writeYAML,
		},
		Ansible: &form{
			says: func(text string) bool {
				return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(text))
			},
			holds: func(text string) bool { return value.SaysYes(text) || !value.SaysYesOrNo(text) && value.Truthy(text) },
			isNumber: func(v any) bool { // to Python a boolean is one
				_, ok := v.(bool)
				return ok
			},
			rounded: func(f float64) any { return int(f) },
			compare: func(c *call.Input) (int, error) {
				if c.ArgTruth(2) || c.Has(3) && c.ArgText(3, "") != "loose" {
					return compareAsVersions(c)
				}
				o, e := looseVersions(value.Text(c.Value), c.ArgText(0, ""))
				if e != nil {
					return 0, e
				}
				return o, nil
			},
			shortHash: func(hash string) string { return strings.Replace(hash, "$rounds=5000$", "$", 1) }, // what is not said means 5000
			drawsSalt: true,
			escape:    call.EscapeForPython, quote: call.QuoteForPython,
			json: func(c *call.Input, layout value.Layout) value.Layout {
				layout.PythonNumbers, layout.ASCII, layout.Sorted = true, !c.Has(2) || c.ArgTruth(2), c.ArgTruth(1)
				if c.Name == "to_nice_json" {
					layout.Sorted = !c.Has(1) || c.ArgTruth(1)
				}
				return layout
			},
			fromJSON: decodeJSONInOrder, toYAML: writeAnsibleYAML,
		},
	}
}

func compareAsVersions(c *call.Input) (int, error) {
	return compareVersions(value.Text(c.Value), c.ArgText(0, "")), nil
}
