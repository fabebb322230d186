package overlay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/tui/keymap"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/fix"
)

// Sheet edits the values that a step uses, for this run only. It stands in the place of the detail and has the keys. What
// follows from the values is planned in the background while they are typed, and shown before anything runs.
type Sheet struct {
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
	editor bool   // there is one

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

// NewSheet edits the values of a step, or of the steps below a node if step is below 0. editor says that there is one for long values.
func NewSheet(s Screen, n, step int, editor bool) *Sheet {
	var set map[string]any
	// A copy, as the map is the store's, into which another goroutine folds the events.
	s.Store.Read(func(run *events.Run) { set = maps.Clone(run.Variables) })
	f := &Sheet{node: n, title: s.Tree.Title(n), input: NewInput(), editor: editor}
	if host := s.Tree.HostRow(n); host != "" && step < 0 {
		f.title += " on " + host
	}
	if step >= 0 {
		f.title = s.StepTitle(step)
		f.Form = fix.OfStep(s.Plan, step, set)
		return f
	}
	r, scope := s.Tree.Steps(n), 0
	r.From = max(s.Position().FirstLeft(r), r.From)
	if of := s.Tree.Scope(n); of != nil && n > 0 {
		scope = of.ID
	}
	f.Form = fix.OfScope(s.Plan, scope, r, set)
	return f
}

// isAdding reports whether the cursor is on the line that adds a row.
func (f *Sheet) isAdding() bool { return f.at == len(f.Rows) }

// currentRow is the one under the cursor, or nil.
func (f *Sheet) currentRow() *fix.Row {
	if f.isAdding() {
		return nil
	}
	return &f.Rows[f.at]
}

// Press takes a key. Letters change the value they are typed on; nothing runs but by enter.
func (f *Sheet) Press(s Screen, msg tea.KeyPressMsg) []Want {
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
			return f.planRows()
		}
		return []Want{CloseSheet{}}
	case "up", "down", "ctrl+p", "ctrl+n":
		// Before the cursor moves, as it may add a row and so move the end of the list.
		f.commitTyped()
		by := map[string]int{"up": -1, "ctrl+p": -1}[key]
		f.at = min(max(f.at+cmp.Or(by, 1), 0), len(f.Rows))
		return f.planRows()
	case "tab":
		f.Scope = (f.Scope + 1) % len(f.Scopes)
		return f.planRows()
	case "shift+tab":
		f.Scope = (f.Scope + len(f.Scopes) - 1) % len(f.Scopes)
		return f.planRows()
	case "ctrl+u":
		f.undoLast()
		return f.planRows()
	case "ctrl+r":
		if f.done == 0 {
			f.note = "nothing that is done would change"
			return nil
		}
		f.again = !f.again
		return nil
	case "ctrl+e":
		return f.inEditor()
	case "enter":
		return f.applyRows(s)
	}
	if !f.beginTyping() {
		return nil
	}
	before := f.input.Value()
	f.input, _ = f.input.Update(msg)
	// A key that only moves the caret is not an edit, and not worth a plan.
	if f.input.Value() == before {
		return nil
	}
	f.takeTyped()
	return f.planRows()
}

// Paste types on the row under the cursor.
func (f *Sheet) Paste(_ Screen, msg tea.PasteMsg) []Want {
	if !f.beginTyping() {
		return nil
	}
	f.input, _ = f.input.Update(msg)
	f.takeTyped()
	return f.planRows()
}

// beginTyping lets the row under the cursor be typed on.
func (f *Sheet) beginTyping() bool {
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
		case r.Secret: // a new one may be typed, the old one is not shown
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
func (f *Sheet) takeTyped() {
	if f.isAdding() {
		f.new = f.input.Value()
		return
	}
	f.currentRow().Type(f.input.Value())
}

// revertTyped takes back what was typed under the cursor.
func (f *Sheet) revertTyped() {
	f.typing = false
	if f.isAdding() {
		f.new = ""
		return
	}
	f.currentRow().Revert()
}

// commitTyped ends typing. On the last line it makes a row of NAME=VALUE.
func (f *Sheet) commitTyped() {
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
func (f *Sheet) parseNamed() (name, value, why string) {
	name, value, ok := strings.Cut(f.new, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return "", "", "write NAME=VALUE; env.NAME and args.NAME are those of the step"
	}
	return name, strings.TrimSpace(value), ""
}

// canUndo reports whether there is something to take back under the cursor.
func (f *Sheet) canUndo() bool {
	r := f.currentRow()
	if r == nil {
		return f.typing || f.new != ""
	}
	return f.typing || r.Edited || r.Restore || r.InForce != nil
}

// undoLast takes back one thing: what is typed on the row, what was changed on it, or an override that is in force.
func (f *Sheet) undoLast() {
	r := f.currentRow()
	switch {
	case !f.canUndo():
		f.note = "nothing was changed here"
	case r == nil:
		f.revertTyped()
	case (f.typing || r.Edited) && r.Added:
		// A row that was added has no value to go back to.
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
func (f *Sheet) cannotApply(s Screen) (values []events.Override, why string, row int) {
	switch values, why, row = f.Overrides(); {
	case why != "":
		return nil, why, row
	case len(values) == 0:
		why = "nothing is changed"
	case s.Shot.Counts.Running > 0:
		why = "steps are still running; " + s.Keys.Label(keymap.RunPause) + " pauses the run, and then this can be tried"
	case f.preview.why != "" && f.preview.shown == f.preview.gen:
		// What a plan said of values that were changed since is not held against these.
		why = "it cannot be planned so"
	}
	return values, why, f.at
}

// offersApply reports whether enter would give the run the values, with what is typed on the last line.
func (f *Sheet) offersApply(s Screen) bool {
	if f.isAdding() && strings.TrimSpace(f.new) != "" {
		_, _, why := f.parseNamed()
		return why == "" && s.Shot.Counts.Running == 0
	}
	_, why, _ := f.cannotApply(s)
	return why == ""
}

// applyRows gives the run its new values, and tries the step again if it failed.
func (f *Sheet) applyRows(s Screen) []Want {
	if f.typing || f.isAdding() {
		f.commitTyped()
	}
	if f.note != "" {
		return nil
	}
	values, why, row := f.cannotApply(s)
	if why != "" {
		f.note, f.at = why, row
		return f.planRows()
	}
	if r, kind := f.OtherKind(); r != nil && !f.asked {
		f.asked = true
		f.note = fmt.Sprintf("%s was %s and becomes %s; enter again does that", r.Label(), r.Kind, kind)
		return nil
	}
	asks := events.Fix{Values: values, Rerun: f.again && f.done > 0}
	if f.Step >= 0 && s.Position().Retryable(events.Range{From: f.Step, To: f.Step + 1}) > 0 {
		asks.Retry = f.Path
	}
	return []Want{GiveValues{f, asks}}
}

// planRows plans with the values as they are now, one plan at a time.
func (f *Sheet) planRows() []Want {
	f.preview.gen++
	return f.planNext()
}

func (f *Sheet) planNext() []Want {
	p := &f.preview
	// What is typed while one is busy is planned when that comes back, and only as it is by then.
	if p.busy || p.gen == p.shown {
		return nil
	}
	values, wrong, _ := f.Overrides()
	if wrong != "" || len(values) == 0 {
		// That there is nothing to plan is an answer too: it takes away what was shown of the values before.
		p.plan, p.why, p.shown = nil, wrong, p.gen
		return nil
	}
	p.busy = true
	return []Want{PlanValues{f, p.gen, events.Fix{Values: values}}}
}

// TakePlan takes what planning gave, and plans again if more was typed since.
func (f *Sheet) TakePlan(gen int, next *plan.Plan, why string) []Want {
	f.preview.busy, f.preview.plan, f.preview.why, f.preview.shown = false, next, why, gen
	return f.planNext()
}

// Refuse says why the run has refused the values.
func (f *Sheet) Refuse(why string) { f.note = why }

// Note is what was last said of a key.
func (f *Sheet) Note() string { return f.note }

// CarrySheet opens a sheet again after the plan was replaced, with what was typed on it; nil: its step is not there any more.
func CarrySheet(s Screen, old *Sheet) *Sheet {
	for i := range s.Plan.Steps {
		// A path outlives the plan, the number of a step does not.
		if old.Path == "" || s.Plan.Steps[i].Path != old.Path {
			continue
		}
		f := NewSheet(s, int(s.Tree.StepNode[i]), i, old.editor)
		for _, r := range old.Rows {
			if !r.Changed() || r.Restore {
				continue
			}
			// The new plan may not use the name any more; what was typed is kept anyway.
			k := slices.IndexFunc(f.Rows, func(o fix.Row) bool { return o.Field == r.Field && o.Name == r.Name })
			if k < 0 {
				k = len(f.Rows)
				f.Rows = append(f.Rows, fix.Row{Field: r.Field, Name: r.Name, Added: true})
			}
			f.Rows[k].Type(r.Now)
		}
		f.note = "the plan was replaced; what you typed is still here"
		return f
	}
	return nil
}

// inEditor opens the value under the cursor in the person's editor: one that has many lines can be edited nowhere else.
func (f *Sheet) inEditor() []Want {
	r := f.currentRow()
	switch {
	case !f.editor:
		f.note = "no editor available"
		return nil
	case r == nil:
		f.note = "type NAME=VALUE first"
		return nil
	case r.Secret:
		f.note = "a secret is not written to a file; type it here"
		return nil
	}
	f.commitTyped()
	return []Want{EditText{f, f.at, r.Now}}
}

// TakeText takes the text of a row back from the editor.
func (f *Sheet) TakeText(row int, text string, err error) []Want {
	if row >= len(f.Rows) {
		return nil
	}
	if err != nil {
		f.note = "editor: " + err.Error()
		return nil
	}
	if r := &f.Rows[row]; text != r.Now {
		r.Type(text)
	}
	return f.planRows()
}
