package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/tui/keymap"
	"moon/tui/view"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/fix"
)

// fixSheet edits the values that a step uses, for this run only. It stands in the place of the detail and has the keys. What
// follows from the values is planned in the background while they are typed, and shown before anything runs.
type fixSheet struct {
	*fix.Form
	node   int
	title  string
	new    string // what was typed on the line below the rows, which adds one
	at     int
	top    int
	typing bool
	input  textinput.Model
	note   string // about the last key
	asked  bool   // whether the type may change; enter again says yes
	done   int    // steps that the values would change and that are done already
	again  bool   // run those again too

	preview fixPreview
}

// fixPreview is the plan as it would be.
type fixPreview struct {
	gen   int // of what was typed
	shown int // of what plan is about
	busy  bool
	plan  *plan.Plan
	why   string // it cannot be planned
}

// replanned is what planning with the values gave.
type replanned struct {
	sheet *fixSheet
	gen   int
	plan  *plan.Plan
	why   string
}

// sheetOf is the sheet of values, or nil.
func sheetOf(s view.Sheet) *fixSheet {
	f, _ := s.(*fixSheet)
	return f
}

func (f *fixSheet) CountChanges() int { return f.Changes() }

// openFix edits the values of the step under the cursor.
func (m fixPane) openFix() tea.Cmd {
	n := m.CursorNode()
	m.Sheet = m.newFix(n, m.Tree.Step(n))
	return nil
}

func (m fixPane) newFix(n, step int) *fixSheet {
	var set map[string]any
	m.Store.Read(func(run *events.Run) { set = maps.Clone(run.Variables) })
	f := &fixSheet{node: n, title: m.Tree.Title(n), input: view.NewInput()}
	if host := m.Tree.HostRow(n); host != "" && step < 0 {
		f.title += " on " + host
	}
	if step >= 0 {
		f.title = m.StepTitle(step)
		f.Form = fix.OfStep(m.Plan, step, set)
		return f
	}
	r, scope := m.Tree.Steps(n), 0
	r.From = max(m.Position().FirstLeft(r), r.From)
	if s := m.Tree.Scope(n); s != nil && n > 0 {
		scope = s.ID
	}
	f.Form = fix.OfScope(m.Plan, scope, r, set)
	return f
}

// isAdding reports whether the cursor is on the line that adds a row.
func (f *fixSheet) isAdding() bool { return f.at == len(f.Rows) }

// currentRow is the one under the cursor, or nil.
func (f *fixSheet) currentRow() *fix.Row {
	if f.isAdding() {
		return nil
	}
	return &f.Rows[f.at]
}

// pressKey takes a key. Letters change the value they are typed on; nothing runs but by enter.
func (f *fixSheet) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	f.note = ""
	if key != "enter" {
		// A question that enter has asked is answered by the next enter, and by that only.
		f.asked = false
	}
	switch key {
	case "esc":
		if f.typing {
			f.revertTyped()
			return f.planRows(m)
		}
		m.Sheet = nil
		return nil
	case "up", "down", "ctrl+p", "ctrl+n":
		f.commitTyped()
		by := map[string]int{"up": -1, "ctrl+p": -1}[key]
		f.at = min(max(f.at+cmp.Or(by, 1), 0), len(f.Rows))
		return f.planRows(m)
	case "tab":
		f.Scope = (f.Scope + 1) % len(f.Scopes)
		return f.planRows(m)
	case "shift+tab":
		f.Scope = (f.Scope + len(f.Scopes) - 1) % len(f.Scopes)
		return f.planRows(m)
	case "ctrl+u":
		f.undoLast()
		return f.planRows(m)
	case "ctrl+r":
		if f.done == 0 {
			f.note = "nothing that is done would change"
			return nil
		}
		f.again = !f.again
		return nil
	case "ctrl+e":
		return f.inEditor(m)
	case "enter":
		return f.applyRows(m)
	}
	if !f.beginTyping() {
		return nil
	}
	before := f.input.Value()
	f.input, _ = f.input.Update(msg)
	if f.input.Value() == before {
		return nil
	}
	f.takeTyped()
	return f.planRows(m)
}

func (f *fixSheet) PasteText(m *view.State, msg tea.PasteMsg) tea.Cmd {
	if !f.beginTyping() {
		return nil
	}
	f.input, _ = f.input.Update(msg)
	f.takeTyped()
	return f.planRows(m)
}

// beginTyping lets the row under the cursor be typed on.
func (f *fixSheet) beginTyping() bool {
	if f.typing {
		return true
	}
	f.input.EchoMode = textinput.EchoNormal
	value := f.new
	if r := f.currentRow(); r != nil {
		switch value = r.Now; {
		case strings.Contains(value, "\n"):
			f.note = "it has several lines: ctrl+e edits it in $EDITOR"
			return false
		case r.Secret: // a new one may be typed, the old one is nobody's to see
			f.input.EchoMode = textinput.EchoPassword
			value = ""
		}
	}
	f.typing = true
	f.input.SetValue(value)
	f.input.CursorEnd()
	return true
}

// takeTyped takes over what stands in the line.
func (f *fixSheet) takeTyped() {
	if f.isAdding() {
		f.new = f.input.Value()
		return
	}
	f.currentRow().Type(f.input.Value())
}

// revertTyped takes back what was typed under the cursor.
func (f *fixSheet) revertTyped() {
	f.typing = false
	if f.isAdding() {
		f.new = ""
		return
	}
	f.currentRow().Revert()
}

// commitTyped ends typing. On the last line it makes a row of NAME=VALUE.
func (f *fixSheet) commitTyped() {
	f.typing = false
	if !f.isAdding() || strings.TrimSpace(f.new) == "" {
		return
	}
	name, value, why := f.parseNamed()
	if why != "" {
		f.note = why
		return
	}
	row, why := f.Add(name, value)
	if why != "" {
		f.note = why
		return
	}
	f.at, f.new = row, ""
}

// parseNamed returns what was typed on the last line, or what is wrong with it.
func (f *fixSheet) parseNamed() (name, value, why string) {
	name, value, ok := strings.Cut(f.new, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return "", "", "write NAME=VALUE; env.NAME and args.NAME are those of the step"
	}
	return name, strings.TrimSpace(value), ""
}

// canUndo reports whether there is something to take back under the cursor.
func (f *fixSheet) canUndo() bool {
	r := f.currentRow()
	if r == nil {
		return f.typing || f.new != ""
	}
	return f.typing || r.Edited || r.Restore || r.InForce != nil
}

// undoLast takes back one thing: what is typed on the row, what was changed on it, or an override that is in force.
func (f *fixSheet) undoLast() {
	r := f.currentRow()
	switch {
	case !f.canUndo():
		f.note = "nothing was changed here"
	case r == nil:
		f.revertTyped()
	case (f.typing || r.Edited) && r.Added:
		f.typing = false
		f.Rows = slices.Delete(f.Rows, f.at, f.at+1)
	case f.typing || r.Edited:
		f.revertTyped()
	case r.Restore:
		r.Restore = false
	default:
		r.Restore = true
	}
}

// cannotApply says why the run would not be given the values as they are, and on which row that is seen.
func (f *fixSheet) cannotApply(m *view.State) (values []events.Override, why string, row int) {
	switch values, why, row = f.Overrides(); {
	case why != "":
		return nil, why, row
	case len(values) == 0:
		why = "nothing is changed"
	case m.Shot.Counts.Running > 0:
		why = "steps are still running; " + m.Keys.Label(keymap.RunPause) + " pauses the run, and then this can be tried"
	case f.preview.why != "" && f.preview.shown == f.preview.gen:
		why = "it cannot be planned so"
	}
	return values, why, f.at
}

// offersApply reports whether enter would give the run the values, with what is typed on the last line.
func (f *fixSheet) offersApply(m *view.State) bool {
	if f.isAdding() && strings.TrimSpace(f.new) != "" {
		_, _, why := f.parseNamed()
		return why == "" && m.Shot.Counts.Running == 0
	}
	_, why, _ := f.cannotApply(m)
	return why == ""
}

// applyRows gives the run its new values, and tries the step again if it failed.
func (f *fixSheet) applyRows(m *view.State) tea.Cmd {
	if f.typing || f.isAdding() {
		f.commitTyped()
	}
	if f.note != "" {
		return nil
	}
	values, why, row := f.cannotApply(m)
	if why != "" {
		f.note, f.at = why, row
		return f.planRows(m)
	}
	if r, kind := f.OtherKind(); r != nil && !f.asked {
		f.asked = true
		f.note = fmt.Sprintf("%s was %s and becomes %s; enter again does that", r.Label(), r.Kind, kind)
		return nil
	}
	asks := events.Fix{Values: values, Rerun: f.again && f.done > 0}
	if f.Step >= 0 && m.Position().Retryable(events.Range{From: f.Step, To: f.Step + 1}) > 0 {
		asks.Retry = f.Path
	}
	m.Send(asks)
	m.Sheet, m.SheetSent = nil, f
	m.ShowMessage("values changed: " + asks.Words())
	return nil
}

// planRows plans with the values as they are now, in the background, one plan at a time.
func (f *fixSheet) planRows(m *view.State) tea.Cmd {
	f.preview.gen++
	return f.planNext(m)
}

func (f *fixSheet) planNext(m *view.State) tea.Cmd {
	p := &f.preview
	if p.busy || p.gen == p.shown {
		return nil
	}
	values, wrong, _ := f.Overrides()
	if wrong != "" || len(values) == 0 {
		p.plan, p.why, p.shown = nil, wrong, p.gen
		return nil
	}
	p.busy = true
	gen, current, preview := p.gen, m.Plan, m.Tools.Preview
	return func() tea.Msg {
		next, why := preview(current, events.Fix{Values: values})
		return replanned{f, gen, next, why}
	}
}

// fixPreviewed takes what planning gave, and plans again if more was typed since.
func (m fixPane) takePreview(msg replanned) tea.Cmd {
	f := msg.sheet
	if m.Sheet != f {
		return nil
	}
	f.preview.busy, f.preview.plan, f.preview.why, f.preview.shown = false, msg.plan, msg.why, msg.gen
	return f.planNext(m.State)
}

// fixRefused brings the sheet back that the run has refused: what was typed must not be lost.
func (m fixPane) fixRefused(why string) {
	if m.SheetSent == nil {
		return
	}
	if m.Sheet == nil {
		m.Sheet = m.SheetSent
		sheetOf(m.Sheet).note = why
	}
	m.SheetSent = nil
}

// carryFix opens a sheet anew after the plan was replaced, with what was typed on it.
func (m fixPane) carryFix(old *fixSheet) {
	if old == nil {
		return
	}
	for i := range m.Plan.Steps {
		if old.Path == "" || m.Plan.Steps[i].Path != old.Path {
			continue
		}
		f := m.newFix(int(m.Tree.StepNode[i]), i)
		for _, r := range old.Rows {
			if !r.Changed() || r.Restore {
				continue
			}
			k := slices.IndexFunc(f.Rows, func(o fix.Row) bool { return o.Field == r.Field && o.Name == r.Name })
			if k < 0 {
				k = len(f.Rows)
				f.Rows = append(f.Rows, fix.Row{Field: r.Field, Name: r.Name, Added: true})
			}
			f.Rows[k].Type(r.Now)
		}
		f.note = "the plan was replaced; what you typed is still here"
		m.Sheet = f
		return
	}
	m.ShowMessage("the step you edited is not in the plan any more")
}
