package feature

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/eval/value"
)

// Hover says what is known of what stands at the site; nil if that is nothing.
func (s *Site) Hover() *wire.Hover {
	found := s.namedHere()
	for _, m := range found {
		if text := s.aboutMark(m); text != "" {
			return &wire.Hover{Contents: wire.Markdown(text), Range: s.Text.Span(m.At.Line, m.At.Column, m.At.Width)}
		}
	}
	around := surround(s.Text, s.Offset)
	if around.key == "" || around.template {
		return nil
	}
	from, to := s.keyRange(around)
	if text := s.aboutKey(around, s.Offset <= to); text != "" {
		return &wire.Hover{Contents: wire.Markdown(text), Range: s.Text.Range(from, to)}
	}
	return nil
}

// keyRange is where the key of the site stands.
func (s *Site) keyRange(around *surroundings) (from, to int) {
	start := s.Offset - len(linePrefix(s.Text, s.Offset))
	line := s.Text.Line(around.line)
	// In braces a key may be on the line several times: the last before the site counts.
	upTo := min(s.Offset-start+len(around.key), len(line))
	at := strings.LastIndex(line[:upTo], around.key+":")
	if at < 0 {
		at = max(strings.Index(line, around.key), 0)
	}
	return start + at, start + at + len(around.key)
}

// aboutKey describes the key that the site is in or behind.
func (s *Site) aboutKey(around *surroundings, onKey bool) string {
	m := interpret(&s.Page, around)
	text := ""
	switch m.form {
	case step, roleEntry:
		if a, ok := spec.Lookup(around.key); ok {
			if text = actionDoc(a); !onKey { // it is about what follows, which is an argument
				text = strings.TrimPrefix(s.rendered(a, a.Free), "\n\n")
			}
			break
		}
		text = docOf(append(m.keysOf(0, false), m.directivesOf()...), around.key)
	case arguments:
		text = docOf(m.keysOf(0, false), around.key)
		if text != "" {
			text += s.rendered(m.action, around.key)
		}
	case document, play, control:
		text = docOf(m.keysOf(0, false), around.key)
	case anything, variables, names:
	}
	if text == "" {
		return ""
	}
	return "`" + around.key + "`: " + text
}

func docOf(keys []documented, name string) string {
	for _, k := range keys {
		if k.name == name || slices.Contains(k.aliases, name) {
			return k.doc
		}
	}
	return ""
}

// actionDoc describes an action and its arguments.
func actionDoc(a *spec.Action) string {
	var b strings.Builder
	b.WriteString(a.Doc)
	var fields []string
	for _, f := range a.Fields() {
		switch {
		case f.Hidden:
		case f.Required:
			fields = append(fields, "**`"+f.Name+"`**")
		default:
			fields = append(fields, "`"+f.Name+"`")
		}
	}
	if len(fields) > 0 {
		b.WriteString("\n\nArguments: " + strings.Join(fields, ", "))
	}
	if a.Example != "" {
		b.WriteString("\n\n```yaml\n" + strings.TrimRight(a.Example, "\n") + "\n```")
	}
	return b.String()
}

// rendered are the values that an argument has in the plan.
func (s *Site) rendered(a *spec.Action, key string) string {
	f, ok := a.Field(key)
	if !ok || f.Secret {
		return ""
	}
	for _, b := range s.Books {
		if list := renderings(b, s.steps(b), f.Name); len(list) > 0 {
			return "\n\n" + inPlan(b) + ":\n\n" + strings.Join(list, "\n\n")
		}
	}
	return ""
}

// mostValues is how many values of one thing are shown.
const mostValues = 8

// renderings are the values of an argument, one for each step, as long as they differ.
func renderings(b *index.Book, steps []*plan.Step, name string) (list []string) {
	for _, step := range steps {
		v, ok := step.Args[name]
		if !ok || step.NoLog {
			continue
		}
		text := quote(b, v)
		if waits := step.LacksIn(name); len(waits) > 0 {
			text += " — " + waits[0].Name + " is known after " + b.Plan.After(waits[0].Steps)
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
		if len(list) > mostValues {
			return append(list[:mostValues], "…")
		}
	}
	return list
}

func inPlan(b *index.Book) string {
	if b.Fresh {
		return "In the plan"
	}
	return "In the last plan that could be made"
}

// longest is how many characters of a value are shown.
const longest = 400

// quote is a value as Markdown.
func quote(b *index.Book, v any) string {
	text := shorten(termtext.CleanName(b.Shown(value.Text(v))), longest)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if text == "" {
		return "*empty*"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// aboutMark describes something with a name.
func (s *Site) aboutMark(m marked) string {
	switch m.Kind {
	case index.Variable:
		return s.aboutVariable(m)
	case index.File:
		return "file `" + m.To + "`"
	case index.Role:
		return "role in `" + m.To + "`"
	case index.ID, index.Handler:
	}
	for _, d := range m.book.Index.Named(m.Kind, m.Name) {
		if d.Def {
			what := "id `" + m.Name + "`: «" + d.About + "»"
			if m.Kind == index.Handler {
				what = "handler `" + m.Name + "`"
			}
			return what + ", " + placeText(m.book, d.At)
		}
	}
	return ""
}

func placeText(b *index.Book, at index.Place) string {
	return fmt.Sprintf("%s:%d", plan.ShownPath(b.Root, at.Path), at.Line)
}

// aboutVariable gives the values of a variable and where they come from.
func (s *Site) aboutVariable(m marked) string {
	var lines []string
	// What the steps of the task see comes first, then what is in effect at the end of the plan, then what is written.
	add := func(v any, from, origin string) {
		text := quote(m.book, v)
		if u, open := v.(value.Unknown); open {
			text = "known after " + m.book.Plan.After(u.Steps)
		}
		if from != "" {
			text += " — " + from
		}
		if origin != "" {
			text += ", " + origin
		}
		if !slices.Contains(lines, text) && len(lines) <= mostValues {
			lines = append(lines, text)
		}
	}
	for _, u := range s.uses(m) {
		add(u.Value, u.From, originText(u.Origin.File, u.Origin.Line))
	}
	if m.book.Plan != nil && len(lines) == 0 {
		for _, v := range m.book.Plan.Vars {
			if v.Name == m.Name {
				add(v.Value, v.From, originText(v.Origin.File, v.Origin.Line))
			}
		}
	}
	if len(lines) > 0 {
		return "variable `" + m.Name + "`\n\n" + inPlan(m.book) + ":\n\n" + strings.Join(lines, "\n\n")
	}
	for _, d := range m.book.Index.Named(index.Variable, m.Name) {
		if d.Def {
			lines = append(lines, d.About+", "+placeText(m.book, d.At))
		}
	}
	switch {
	case len(lines) > 0:
		return "variable `" + m.Name + "`\n\n" + strings.Join(lines[:min(len(lines), mostValues)], "\n\n")
	case slices.Contains(m.book.Facts, m.Name):
		return "fact `" + m.Name + "`"
	}
	return ""
}

func originText(file string, line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}
