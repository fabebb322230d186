package overlay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/fix"
)

// Draw draws the sheet: the values, then what follows from them.
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
func (f *Sheet) Draw(s Screen, w, h int) *draw.Doc {
	d := draw.NewDoc(w, h, s.Glyphs)
	at := []int{0, 2, 2 + f.nameWidth(w), max(w-min(w/4, 24), w/2)}
	d.Columns(at, draw.Inked(themes.Dim, ""), draw.Inked(themes.Dim, "name"), draw.Inked(themes.Dim, "value"),
		draw.Inked(themes.Dim, "from"))
	room := max(h-14, min(h-2, 3))
	f.top = max(min(f.top, f.at), f.at-room+1, 0)
	for i := f.top; i < min(f.top+room, len(f.Rows)+1); i++ {
		f.drawRow(s, d, at, i)
	}
	d.Blank()
	if f.note != "" {
		d.Para(themes.Warn, 0, f.note)
		d.Blank()
	}
	if r := f.currentRow(); r != nil {
		d.Field("Type", draw.Inked(themes.Text, fixType(r)))
	}
	d.Field("Scope", f.scopeTexts(s.Glyphs)...)
	d.Blank()
	f.drawEffect(s, d)
	return d
}

// nameWidth is the width of the column of names: what they need, in bounds.
func (f *Sheet) nameWidth(w int) int {
	widest := 0
	for i := range f.Rows {
		widest = max(widest, draw.Cells(draw.Plain(f.Rows[i].Label())))
	}
	return draw.NameColumn(w, widest)
}

// drawRow draws a value, or the line that adds one.
func (f *Sheet) drawRow(s Screen, d *draw.Doc, at []int, i int) {
	here := i == f.at
	mark := ""
	if here {
		mark = s.Glyphs.Pointer
	}
	// One row more than there are values: a new variable.
	if i == len(f.Rows) {
		line := []draw.Text{draw.Inked(themes.Accent, mark+draw.Spaces(2-draw.Cells(mark))), draw.Inked(themes.Dim, "+ add a variable")}
		if here && f.typing {
			line = append(line[:1], f.inputTexts(s.Glyphs, d.W-2)...)
		}
		d.Add(line...)
		return
	}
	r := &f.Rows[i]
	name, look, place := r.Label(), themes.Text, fixPlace(r)
	if here {
		look = draw.InkTitle
	}
	value := draw.Inked(themes.Text, fixShown(r))
	switch {
	case r.Restore:
		value, place = draw.Inked(themes.Changed, r.Original), "original"
	case r.Changed():
		value.Ink, place = themes.Changed, fixWas(s.Plan, r)
	case r.InForce != nil:
		place = "was " + r.Original
	case len(r.After) > 0:
		value = draw.Inked(themes.Dim, fixAfter(s.Plan, r))
	}
	if !here || !f.typing {
		d.Columns(at, draw.Inked(themes.Accent, mark), draw.Inked(look, name), value, d.Place(at[3], place))
		return
	}
	line := []draw.Text{draw.Inked(themes.Accent, mark+draw.Spaces(2-draw.Cells(mark)))}
	name = draw.CutRight(draw.Plain(name), at[2]-3, d.Dots)
	line = append(line, draw.Inked(look, name+draw.Spaces(at[2]-2-draw.Cells(name))))
	in := f.inputTexts(s.Glyphs, at[3]-at[2]-1)
	line = append(line, in...)
	d.Add(append(line, draw.Inked(themes.Text, draw.Spaces(at[3]-at[2]-draw.WidthOf(in))), d.Place(at[3], place))...)
}

// inputTexts is the line that is typed on, as much of it around its cursor as fits.
func (f *Sheet) inputTexts(g *draw.Glyphs, w int) []draw.Text {
	in := &f.input
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	before, after := draw.Plain(string(value[:at])), draw.Plain(string(value[at:]))
	if r := f.currentRow(); r != nil && r.Secret {
		before, after = strings.Repeat("•", at), strings.Repeat("•", len(value)-at)
	}
	room := max(w-1, 1)
	if draw.Cells(before) > room {
		before = draw.CutLeft(before, room, g.Dots)
	}
	after = draw.Head(after, room-draw.Cells(before))
	return []draw.Text{draw.Inked(themes.Text, before), draw.Inked(themes.Accent, g.Caret), draw.Inked(themes.Text, after)}
}

// DrawLine is what is typed with the name of its value, on one line: all that a card has room for.
func (f *Sheet) DrawLine(g *draw.Glyphs, w int) []draw.Text {
	label := ""
	if r := f.currentRow(); r != nil {
		label = r.Label()
	}
	return append([]draw.Text{draw.Inked(themes.Text, draw.Plain(label)+" ")}, f.inputTexts(g, w)...)
}

// fixPlace is where a value comes from.
func fixPlace(r *fix.Row) string {
	switch {
	case r.Added:
		return "new"
	case r.Field != "":
		return fmt.Sprintf(":%d", r.Origin.Line)
	}
	return cmp.Or(r.Origin.String(), r.From)
}

// fixAfter says when a value will be known.
func fixAfter(p *plan.Plan, r *fix.Row) string { return "after " + p.Steps[r.After[0]].ID() }

// fixShown is the value on one line.
func fixShown(r *fix.Row) string {
	if r.Secret && r.Edited {
		return strings.Repeat("•", 8)
	}
	first, rest, more := strings.Cut(r.Now, "\n")
	if more {
		return fmt.Sprintf("%s  (%s)", first, draw.Count(strings.Count(strings.TrimRight(rest, "\n"), "\n")+2, "line"))
	}
	return first
}

// fixWas is what a changed value takes the place of.
func fixWas(p *plan.Plan, r *fix.Row) string {
	switch {
	case r.Added:
		return "new"
	case len(r.After) > 0:
		return fixAfter(p, r)
	case r.Secret:
		return "was secret"
	}
	first, _, more := strings.Cut(r.Was, "\n")
	if more {
		first += " …"
	}
	return "was " + first
}

func fixType(r *fix.Row) string {
	kind, err := r.Kind, error(nil)
	if r.Edited {
		_, kind, err = r.YAML()
	}
	switch {
	case r.Secret:
		return "text; never shown or stored"
	case err != nil:
		return err.Error()
	case r.Kind == "":
		return kind
	case kind != r.Kind:
		return "will become " + kind
	}
	return kind
}

func (f *Sheet) scopeTexts(g *draw.Glyphs) []draw.Text {
	if r := f.currentRow(); r != nil && r.Field != "" {
		return []draw.Text{draw.Inked(themes.Text, "this step (it is not a variable)")}
	}
	var line []draw.Text
	for i, scope := range f.Scopes {
		mark, look := "( ) ", themes.Dim
		if i == f.Scope {
			mark, look = "("+g.Chosen()+") ", themes.Text
		}
		if i > 0 {
			line = append(line, draw.Inked(themes.Text, "   "))
		}
		line = append(line, draw.Inked(look, mark+scope.Words))
	}
	return line
}

// othersShown is how many of the other steps are named that change.
const othersShown = 4

// drawEffect says what would be different.
func (f *Sheet) drawEffect(s Screen, d *draw.Doc) {
	p := &f.preview
	f.done = 0
	switch {
	case f.Changes() == 0:
		d.Hint("Type to change a value. Nothing runs before enter, and no file is changed.")
		return
	case p.why != "":
		d.Add(draw.Inked(draw.InkTitle, "Will be"))
		d.Para(themes.Failed, 2, p.why)
		return
	// The preview is made elsewhere, and comes as a message.
	case p.plan == nil:
		d.Add(draw.Inked(draw.InkTitle, "Will be"))
		d.Hint("planning …")
		return
	}
	d.Add(draw.Inked(draw.InkTitle, "Will be"))
	e := fix.EffectOf(s.Plan, p.plan, f.Path, s.CanRunAgain)
	switch {
	case e.Gone:
		d.Para(themes.Warn, 0, "This step is no longer in the plan.")
	case e.Same:
		d.Para(themes.Warn, 0, "No effect on this step.")
	}
	for _, c := range e.Changes {
		changedLines(d, c.Label, c.Was, c.Now)
	}
	for _, note := range e.Notes {
		d.Para(themes.DiffAdd, 0, strings.ReplaceAll(note, "→", s.Glyphs.Arrow))
	}
	for i, other := range e.Others {
		if i == othersShown {
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(e.Others)-i)))
			break
		}
		if i == 0 {
			d.Blank()
			d.Add(draw.Inked(themes.Text, "Also changes "+draw.Count(len(e.Others), "other step")))
		}
		d.Add(draw.Inked(themes.Text, "  "+draw.Plain(s.TitleOn(other))), draw.Inked(themes.Dim, "  "+draw.Plain(other.Summary)))
	}
	f.drawDone(s, d, e.Done)
	if e.Left > 0 {
		d.Para(themes.Warn, 0, draw.Count(e.Left, "step")+" would be removed from the plan.")
	}
	d.Blank()
	d.Para(themes.Dim, 0, "This run only; listed in the report.")
}

// drawDone lists what is done already. It is not run again, unless a person says so here.
func (f *Sheet) drawDone(s Screen, d *draw.Doc, steps []*plan.Step) {
	f.done = len(steps)
	if len(steps) == 0 {
		return
	}
	d.Blank()
	words := "Already done, with the old value; ctrl+r runs " + countThem(len(steps)) + " again too"
	if f.again {
		words = "Already done, and run again with the new value; ctrl+r keeps " + countThem(len(steps))
	}
	d.Para(themes.Warn, 0, words)
	for i, other := range steps {
		if i == othersShown {
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(steps)-i)))
			break
		}
		d.Add(draw.Inked(themes.Text, "  "+draw.Plain(s.TitleOn(other))), draw.Inked(themes.Dim, "  "+draw.Plain(other.Summary)))
	}
}

func countThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// changedLines shows two texts as a difference, without the lines they share.
func changedLines(d *draw.Doc, label, was, now string) {
	line := func(look draw.Ink, sign, text string) {
		for i, part := range draw.WrapText(draw.Plain(strings.TrimRight(text, "\n")), max(d.W-2, 8)) {
			if i > 0 {
				sign = " "
			}
			d.Add(draw.Inked(look, sign+" "+part))
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

// DrawRule draws the rule above the sheet.
func (f *Sheet) DrawRule(g *draw.Glyphs, b *draw.Brush) {
	b.Rule(g, 1)
	b.Put(draw.InkTabFocus, " Fix")
	title := "  " + draw.CutMiddle(draw.Plain(f.title), max(b.Left-18, 4), g.Dots) + " "
	b.Put(themes.Text, title)
	b.Rule(g, 1)
	b.Put(themes.Dim, " this run only ")
	b.Rule(g, b.Left)
}

// Keys are the keys of the sheet, in a word each if brief says so. They are its own, as those of every box.
func (f *Sheet) Keys(s Screen, brief bool) (tips []HintKey) {
	add := func(can bool, key, words, short string) {
		if brief {
			words = short
		}
		if can {
			tips = append(tips, HintKey{key, words})
		}
	}
	r := f.currentRow()
	does := "take this"
	if f.Step >= 0 && s.Position().Retryable(s.Tree.Steps(f.node)) > 0 {
		does = "retry with this"
	}
	first, _, _ := strings.Cut(does, " ")
	add(f.offersApply(s), "enter", does, first)
	add(brief, "esc", "", "back")
	add(f.done > 0 && !f.again, "ctrl+r", "done steps too", "rerun")
	add(f.done > 0 && f.again, "ctrl+r", "done steps stay", "stay")
	add(len(f.Scopes) > 1 && (r == nil || r.Field == ""), "tab", "scope", "scope")
	if brief {
		add(f.canUndo(), "ctrl+u", "undo", "undo")
	}
	add(f.editor && r != nil && !r.Secret, "ctrl+e", "$EDITOR", "editor")
	if !brief {
		add(f.canUndo(), "ctrl+u", "undo", "undo")
	}
	add(!brief, "esc", "back (nothing runs)", "")
	return tips
}

// HintKey is a key by its name, for what has keys of its own.
type HintKey struct{ Key, Words string }

// DrawKeys writes as many of the keys as fit.
func (f *Sheet) DrawKeys(s Screen, b *draw.Brush, brief bool) {
	for i, h := range f.Keys(s, brief) {
		w := draw.Cells(h.Key) + draw.Cells(h.Words) + 1
		if i > 0 {
			w += 3
		}
		if w > b.Left {
			return
		}
		if i > 0 {
			b.Put(themes.Text, "   ")
		}
		b.Put(draw.InkKey, h.Key)
		b.Put(themes.Text, " "+h.Words)
	}
}
