package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"moon/plan"
	"moon/themes"
)

// fixDoc draws the sheet: the values, then what follows from them.
//
//	  name            value                   from
//	> lock_timeout    60s▏                    was 5s
//	  + add a variable
//
//	Type      text, kept
//	Scope     (•) this step   ( ) rest of the run
//
//	Becomes
//	- alembic -x lock=5s upgrade
//	+ alembic -x lock=60s upgrade
func (m *model) fixDoc(w, h int) *doc {
	d := newDoc(w, h, m.glyphs)
	f := m.fix
	at := []int{0, 2, 2 + f.nameWidth(w), max(w-min(w/4, 24), w/2)}
	d.columns(at, text{themes.Dim, ""}, text{themes.Dim, "name"}, text{themes.Dim, "value"}, text{themes.Dim, "from"})
	room := max(h-14, min(h-2, 3))
	f.top = max(min(f.top, f.at), f.at-room+1, 0)
	for i := f.top; i < min(f.top+room, len(f.rows)); i++ {
		m.fixRow(d, at, i)
	}
	d.blank()
	if f.note != "" {
		d.para(themes.Warn, 0, f.note)
		d.blank()
	}
	if r := &f.rows[f.at]; !r.add {
		d.field("Type", text{themes.Text, m.fixType(r)})
	}
	d.field("Scope", m.fixScopes()...)
	d.blank()
	m.fixBecomes(d)
	return d
}

// nameWidth is the width of the column of names: what they need, in bounds.
func (f *fixSheet) nameWidth(w int) int {
	widest := 0
	for i := range f.rows {
		widest = max(widest, cells(plain(f.rows[i].label())))
	}
	return nameColumn(w, widest)
}

func (m *model) fixRow(d *doc, at []int, i int) {
	f := m.fix
	r := &f.rows[i]
	here := i == f.at
	mark, name := "", r.label()
	look := themes.Text
	if here {
		mark, look = m.glyphs.pointer, inkTitle
	}
	if r.add {
		line := []text{{themes.Accent, mark + spaces(2-cells(mark))}, {themes.Dim, "+ add a variable"}}
		if here && f.typing {
			line = append(line[:1], m.fixInput(d.w-2)...)
		}
		d.add(line...)
		return
	}
	place := r.place
	value := text{themes.Text, r.shown()}
	switch {
	case r.restore:
		value, place = text{themes.Changed, r.original}, "as it was"
	case r.changed():
		value.ink, place = themes.Changed, r.wasWords()
	case r.inForce != nil:
		place = "was " + r.original
	case r.after != "":
		value, place = text{themes.Dim, r.after}, r.place
	}
	if !here || !f.typing {
		d.columns(at, text{themes.Accent, mark}, text{look, name}, value, d.place(at[3], place))
		return
	}
	line := []text{{themes.Accent, mark + spaces(2-cells(mark))}}
	name = cutRight(plain(name), at[2]-3, d.dots)
	line = append(line, text{look, name + spaces(at[2]-2-cells(name))})
	in := m.fixInput(at[3] - at[2] - 1)
	line = append(line, in...)
	d.add(append(line, text{themes.Text, spaces(at[3] - at[2] - widthOf(in))}, d.place(at[3], place))...)
}

// fixInput is the line that is typed on, as much of it around its cursor as fits.
func (m *model) fixInput(w int) []text {
	in := &m.fix.input
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	before, after := plain(string(value[:at])), plain(string(value[at:]))
	if m.fix.rows[m.fix.at].secret {
		before, after = strings.Repeat("•", at), strings.Repeat("•", len(value)-at)
	}
	room := max(w-1, 1)
	if cells(before) > room {
		before = cutLeft(before, room, m.glyphs.dots)
	}
	after = head(after, room-cells(before))
	return []text{{themes.Text, before}, {themes.Accent, m.glyphs.caret}, {themes.Text, after}}
}

// shown is the value on one line.
func (r *fixRow) shown() string {
	if r.secret && r.edited {
		return strings.Repeat("•", 8)
	}
	first, rest, more := strings.Cut(r.now, "\n")
	if more {
		return fmt.Sprintf("%s  (%s)", first, count(strings.Count(strings.TrimRight(rest, "\n"), "\n")+2, "line"))
	}
	return first
}

func (r *fixRow) wasWords() string {
	switch {
	case r.after != "":
		return r.after
	case r.secret:
		return "was secret"
	}
	first, _, more := strings.Cut(r.was, "\n")
	if more {
		first += " …"
	}
	return "was " + first
}

func (m *model) fixType(r *fixRow) string {
	kind, err := r.kind, error(nil)
	if r.edited {
		_, kind, err = r.yaml()
	}
	switch {
	case r.secret:
		return "text; it is shown and kept nowhere"
	case err != nil:
		return err.Error()
	case r.kind == "":
		return kind
	case kind != r.kind:
		return r.kind + ", becomes " + kind
	}
	return kind + ", kept"
}

func (m *model) fixScopes() []text {
	f := m.fix
	if r := &f.rows[f.at]; r.field != "" {
		return []text{{themes.Text, "this step (it is not a variable)"}}
	}
	var line []text
	for i, s := range f.scopes {
		mark, look := "( ) ", themes.Dim
		if i == f.scope {
			mark, look = "("+m.glyphs.chosen()+") ", themes.Text
		}
		if i > 0 {
			line = append(line, text{themes.Text, "   "})
		}
		line = append(line, text{look, mark + s.words})
	}
	return line
}

// chosen marks one of several.
func (g *glyphs) chosen() string {
	if g.mask != "" {
		return "*"
	}
	return "•"
}

// othersShown is how many of the other steps are named that change.
const othersShown = 4

// fixBecomes says what would be different.
func (m *model) fixBecomes(d *doc) {
	f := m.fix
	p := &f.preview
	switch {
	case f.changes() == 0:
		d.hint("Type to change a value. Nothing runs before enter, and no file is changed.")
		return
	case p.why != "":
		d.add(text{inkTitle, "Becomes"})
		d.para(themes.Failed, 2, p.why)
		return
	case p.plan == nil:
		d.add(text{inkTitle, "Becomes"})
		d.hint("planning …")
		return
	}
	d.add(text{inkTitle, "Becomes"})
	before := map[string]*plan.Step{}
	for i := range m.plan.Steps {
		before[m.plan.Steps[i].Path] = &m.plan.Steps[i]
	}
	var others []*plan.Step
	gone := len(m.plan.Steps)
	found := f.step < 0
	for i := range p.plan.Steps {
		next := &p.plan.Steps[i]
		old := before[next.Path]
		if old != nil {
			gone--
		}
		switch {
		case next.Path == f.path:
			found = true
			m.stepChange(d, old, next)
		case old == nil || old.Digest != next.Digest:
			others = append(others, next)
		}
	}
	if !found {
		d.para(themes.Warn, 0, "This step is not in the plan any more.")
	}
	for i, s := range others {
		if i == othersShown {
			d.add(text{themes.Dim, fmt.Sprintf("  and %d more", len(others)-i)})
			break
		}
		if i == 0 {
			d.blank()
			d.add(text{themes.Text, "It also changes " + count(len(others), "other step")})
		}
		d.add(text{themes.Text, "  " + plain(stepTitle(s))}, text{themes.Dim, "  " + plain(s.Summary)})
	}
	if gone > 0 {
		d.para(themes.Warn, 0, count(gone, "step")+" would be gone from the plan.")
	}
	d.blank()
	d.para(themes.Dim, 0, "Not saved to your files. The report will say what was overridden.")
}

// stepChange shows a step before and after.
func (m *model) stepChange(d *doc, old, next *plan.Step) {
	if old == nil || old.Digest == next.Digest {
		if len(next.Overridden) == 0 || old == nil || len(old.Overridden) == len(next.Overridden) {
			d.para(themes.Warn, 0, "Nothing about this step: what it does stays the same.")
			return
		}
	}
	shown := false
	for _, c := range []struct{ label, was, now string }{
		{"", m.fixLine(old), m.fixLine(next)},
		{"cwd ", old.Cwd, next.Cwd},
		{"when ", string(old.Prediction), string(next.Prediction)},
	} {
		if c.was != c.now {
			shown = true
			m.changedLines(d, c.label, c.was, c.now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Env)) {
		if was, now := old.Env[name], next.Env[name]; was != now && !inOneLine(next) {
			shown = true
			m.changedLines(d, name+"=", was, now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Args)) {
		was, now := displayed(old.Args[name]), displayed(next.Args[name])
		if was == now || slices.Contains(mainArgs[:3], name) {
			continue
		}
		shown = true
		m.changedLines(d, name+" ", was, now)
	}
	if !shown {
		for _, o := range next.Overridden {
			d.para(themes.DiffAdd, 0, m.overrideText(o))
		}
	}
}

// fixLine is what a step runs; where that is a line, with the environment that the playbook gives it.
func (m *model) fixLine(p *plan.Step) string {
	text := cmp.Or(displayed(p.Args["cmd"]), p.Summary)
	if !inOneLine(p) {
		return text
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, "%s=%q ", name, p.Env[name])
	}
	return b.String() + text
}

func inOneLine(p *plan.Step) bool {
	return !strings.Contains(strings.TrimRight(displayed(p.Args["cmd"]), "\n"), "\n")
}

func displayed(v any) string {
	text, after := plan.Display(v)
	if len(after) > 0 {
		return "known later"
	}
	return text
}

// changedLines shows two texts as a difference, without the lines they share.
func (m *model) changedLines(d *doc, label, was, now string) {
	line := func(look ink, sign, s string) {
		for i, part := range wrapText(plain(strings.TrimRight(s, "\n")), max(d.w-2, 8)) {
			if i > 0 {
				sign = " "
			}
			d.add(text{look, sign + " " + part})
		}
	}
	if !strings.Contains(was+now, "\n") {
		line(themes.DiffDel, "-", label+was)
		line(themes.DiffAdd, "+", label+now)
		return
	}
	for l := range strings.SplitSeq(udiff.Unified("", "", was+"\n", now+"\n"), "\n") {
		switch {
		case strings.HasPrefix(l, "---"), strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "@@"):
		case strings.HasPrefix(l, "-"):
			line(themes.DiffDel, "-", l[1:])
		case strings.HasPrefix(l, "+"):
			line(themes.DiffAdd, "+", l[1:])
		}
	}
}

// fixRule is the rule above the sheet.
func (m *model) fixRule(b *brush) {
	b.rule(m.glyphs, 1)
	b.put(inkTabFocus, " Fix")
	title := "  " + cutMiddle(plain(m.fix.title), max(b.left-18, 4), m.glyphs.dots) + " "
	b.put(themes.Text, title)
	b.rule(m.glyphs, 1)
	b.put(themes.Dim, " this run only ")
	b.rule(m.glyphs, b.left)
}

// fixTips are the keys of the sheet. They are its own, as those of every box.
func (m *model) fixTips() []hintKey {
	does := "take this"
	if m.fix.step >= 0 && m.failedIn(m.tree.steps(m.fix.node)) > 0 {
		does = "retry with this"
	}
	if m.width < 90 {
		does, _, _ = strings.Cut(does, " ")
		return []hintKey{{"enter", does}, {"esc", "back"}, {"tab", "scope"}, {"ctrl+u", "undo"}, {"ctrl+e", "editor"}}
	}
	return []hintKey{{"enter", does}, {"tab", "scope"}, {"ctrl+e", "$EDITOR"}, {"ctrl+u", "undo"}, {"esc", "back (nothing runs)"}}
}

// hintKey is a key by its name, for what has keys of its own.
type hintKey struct{ key, words string }

// drawHints writes as many of them as fit.
func (m *model) drawHints(b *brush, hints []hintKey) {
	for i, h := range hints {
		w := cells(h.key) + cells(h.words) + 1
		if i > 0 {
			w += 3
		}
		if w > b.left {
			return
		}
		if i > 0 {
			b.put(themes.Text, "   ")
		}
		b.put(inkKey, h.key)
		b.put(themes.Text, " "+h.words)
	}
}
