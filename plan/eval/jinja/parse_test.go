package jinja

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words is a language of a few callables.
type words struct{}

type callable Params

func (c callable) Parameters() Params { return Params(c) }

func (words) FindFilter(name string) (Callable, *Error) {
	all := map[string]Callable{"upper": callable(Takes("")), "default": callable(Takes("value? boolean?")), "join": callable(Takes("separator"))}
	if f, ok := all[name]; ok {
		return f, nil
	}
	return nil, Misspelt("filter", name, []string{"upper", "default", "join"})
}

func (words) FindTest(name string) (Callable, *Error) {
	if name == "defined" {
		return callable(Takes("")), nil
	}
	return nil, Misspelt("test", name, nil)
}

func (words) FindFunction(name string) (Callable, bool) { return callable(Takes("*")), name == "range" }

// parse parses a template, whatever its style.
func parse(text string, how Reading) (Statements, error) {
	pieces, err := Split(text, how)
	if err != nil {
		return nil, err
	}
	t, parseErr := ParseTags(words{}, text, pieces)
	if parseErr != nil {
		return nil, parseErr
	}
	return t.Body, nil
}

// wellPlaced checks an error, and that whatever a tree says of its place is a place.
func wellPlaced(t interface{ Errorf(string, ...any) }, text string, tree Statements, err error) {
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Message == "" || e.Offset < -1 || e.Width < 0 || e.Offset+e.Width > len(text) {
			t.Errorf("%q: %#v", text, err)
		}
		return
	}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if n, ok := reflect.TypeAssert[Node](v); ok && !v.IsNil() && (n.Offset() < 0 || n.Offset() > len(text)) {
				t.Errorf("%q: %T at %d", text, n, n.Offset())
			}
			if p, ok := reflect.TypeAssert[*Printing](v); ok && !strings.HasPrefix(text[p.Start:p.End], "{") {
				t.Errorf("%q: an output that is %q", text, text[p.Start:p.End])
			}
			walk(v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if s, ok := reflect.TypeAssert[Span](v); ok && (s.Start < 0 || s.Start >= s.End || s.End > len(text)) {
				t.Errorf("%q: a tag from %d to %d", text, s.Start, s.End)
			}
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		default:
		}
	}
	walk(reflect.ValueOf(tree))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a {{ b.c[0] | upper }} d", "{% if a %}b{% elif c is defined %}{% else %}d{% endif %}", "{% for a, b in c if d recursive %}{{ loop(a) }}{% break %}{% else %}{% endfor %}",
		"{% set a = 1 %}{% set a.b = 2 %}{% set c | upper %}d{% endset %}{% set e, f = g %}", "{% macro m(a, b=1, *c, **d) %}{{ varargs }}{% endmacro m %}{% call(x) m(1) %}{% endcall %}",
		"{% with a = 1, b = a %}{% filter upper | join(',') %}{% endfilter %}{% endwith %}{% do a.append(1) %}{% block x scoped %}{% endblock %}",
		"{% import 'a' as b with context %}{% from 'a' import b, c as d without context %}{% include ['a', b] ignore missing %}", "{% raw %}{{{% endraw %}{#- c -#}{%- if a -%}\n{%+ endif +%}\n",
		"{{ [1, 'a', {'b': none}][::-1] }}{{ a if b else c }}{{ not a and -b ** 2 // 3 ~ 'x' 'y' }}", "#jinja2: trim_blocks: False, variable_start_string: '[['\n[[ a ]]", "{% else %}{% endif %}{{",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, how := range []Reading{{}, {LikeAnsible: true, Style: Style{KeepBreaks: true, Lstrip: true}}, {Document: true, LikeAnsible: true}} {
			tree, err := parse(text, how)
			wellPlaced(t, text, tree, err)
		}
		style, from, err := Style{}.WithHeader(text)
		if err != nil {
			wellPlaced(t, text, nil, err)
			return
		}
		if _, err := Split(text, Reading{Style: style, From: from, LikeAnsible: true}); err != nil {
			wellPlaced(t, text, nil, err)
		}
	})
}

// Tags that are put together of well-formed parts are well-formed, and every piece of text is in the tree once.
func TestTagsNest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts, blocks := 0, 0
		var draw func(depth int, inLoop bool) string
		body := func(depth int, inLoop bool) string {
			var b strings.Builder
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				b.WriteString(draw(depth-1, inLoop))
			}
			return b.String()
		}
		draw = func(depth int, inLoop bool) string {
			kinds := []string{"text", "output"}
			if inLoop {
				kinds = append(kinds, "break")
			}
			if depth > 0 {
				kinds = append(kinds, "if", "for", "set", "with", "macro", "call", "filter", "block")
			}
			switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
			case "output":
				return "{{ a | upper }}"
			case "break":
				return "{% break %}"
			case "if":
				return "{% if a %}" + body(depth, inLoop) + "{% elif b %}" + body(depth, inLoop) + "{% else %}" + body(depth, inLoop) + "{% endif %}"
			case "for":
				return "{% for a in b %}" + body(depth, true) + "{% else %}" + body(depth, inLoop) + "{% endfor %}"
			case "set":
				return "{% set a %}" + body(depth, inLoop) + "{% endset %}"
			case "macro":
				return "{% macro m(a, b=1) %}" + body(depth, false) + "{% endmacro %}"
			case "call":
				return "{% call m() %}" + body(depth, false) + "{% endcall %}"
			case "filter":
				return "{% filter upper %}" + body(depth, inLoop) + "{% endfilter %}"
			case "with":
				return "{% with a = 1 %}" + body(depth, inLoop) + "{% endwith %}"
			case "block":
				blocks++ // of each name there is one
				return fmt.Sprintf("{%% block b%d %%}", blocks) + body(depth, false) + "{% endblock %}"
			}
			texts++
			return "<" // two of them in a row are one piece
		}
		text := body(4, false)
		for strings.Contains(text, "<<") {
			text = strings.ReplaceAll(text, "<<", "<")
		}
		tree, err := parse(text, Reading{})
		wellPlaced(t, text, tree, err)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, want := strings.Count(show(tree), "<"), strings.Count(text, "<"); got != want {
			t.Fatalf("%s: %d texts of %d in the tree", text, got, want)
		}
	})
}

// show gives the text in a tree.
func show(list Statements) string {
	var b strings.Builder
	for _, st := range list {
		switch st := st.(type) {
		case *Verbatim:
			b.WriteString(st.Text)
		case *IfTag:
			for _, branch := range st.Branches {
				b.WriteString(show(branch.Body))
			}
		case *ForTag:
			b.WriteString(show(st.Body) + show(st.Empty))
		case *CaptureTag:
			b.WriteString(show(st.Body))
		case *WithTag:
			b.WriteString(show(st.Body))
		case *MacroTag:
			b.WriteString(show(st.Body))
		case *CallTag:
			b.WriteString(show(st.Caller.Body))
		case *FilterTag:
			b.WriteString(show(st.Body))
		case *BlockTag:
			b.WriteString(show(st.Body))
		case *Printing, *SetTag, *DoTag, *ExitTag, *ImportTag, *FromTag:
		}
	}
	return b.String()
}

// What may be set in a tag is known, so that it can be open behind it.
func TestNamesThatMayBeSet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{% if a %}{% set x = 1 %}{% for y in b %}{% set z %}{% endset %}{{ l.append(1) }}{% endfor %}{% endif %}": "[l x z]",
		"{% if a.pop() %}{% set ns.x = 1 %}{% elif b.update(c) %}{% endif %}":                                      "[a b ns]",
		"{% if a %}{% from 'f' import p, q as r %}{% import 'g' as s %}{% macro m() %}{% endmacro %}{% endif %}":   "[m p r s]",
		"{% if a %}{{ b.upper() }}{% with x = 1 %}{% endwith %}{% endif %}":                                        "[]",
	} {
		tree, err := parse(text, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tree[0].(*IfTag).Sets); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A text that nests without end is refused before it fills the stack.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("{% if a %}", 10_000), "{{ " + strings.Repeat("(", 100_000), "{{ " + strings.Repeat("-", 100_000) + "1 }}", "{{ " + strings.Repeat("not ", 100_000) + "1 }}",
		"{{ a" + strings.Repeat(" + a", 100_000) + " }}", "{{ a" + strings.Repeat(".a", 100_000) + " }}", "{{ a" + strings.Repeat("[a", 100_000), "{{ " + strings.Repeat("a(", 100_000),
	} {
		if _, err := parse(text, Reading{}); err == nil {
			t.Errorf("%.20s… is no mistake", text)
		}
	}
}
