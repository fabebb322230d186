package call

import (
	"moon/plan/dialect"
	"moon/plan/eval/value"
)

// manner is how values become text in a dialect. That of plays is Python's, since their conditions compare such texts.
type manner struct {
	print    func(v any) string
	quote    func(v any) string       // as it stands within a list
	finish   func(d *value.Dict) any  // a map that was just made
	fitsText func(v any) *value.Error // of a filter that takes text: whether a list or a map may be printed for it
	compile  func(text, flags string) (*pattern, error)
	omitted  func(v any) any // omit where it is not alone, for which plays have a text
	ignores  bool            // an option that a lookup does not have
}

var manners = dialect.Of[*manner]{
	Steps: &manner{
		print: value.Text,
		quote: func(v any) string { return string(value.AppendJSON(nil, v, value.Layout{Spaced: true}, 0)) },
		finish: func(d *value.Dict) any {
			m, _ := value.MapOf(d)
			return m
		},
		fitsText: func(v any) *value.Error {
			return value.Errorf(value.TypeError, "", "needs a string, not %s", value.KindOf(v))
		},
		compile: compileGoPattern,
		omitted: func(v any) any { return v },
	},
	Ansible: &manner{
		print: func(v any) string {
			if s, ok := v.(string); ok {
				return s
			}
			return value.PythonText(v)
		},
		quote:    func(v any) string { return string(value.AppendRepr(nil, v)) },
		finish:   func(d *value.Dict) any { return d },
		fitsText: func(any) *value.Error { return nil }, // people take quotes out of a printed list
		compile:  compilePythonPattern,
		omitted:  value.OmitAsText,
		ignores:  true,
	},
}

// IgnoresOptions reports whether lookups pass over options that they do not have.
func (s *Shared) IgnoresOptions() bool { return s.manner().ignores }

func (s *Shared) manner() *manner { return manners.In(s.Dialect) }
