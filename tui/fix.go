package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
)

// fixSheet edits the values that a step uses, for this run only. It stands in the place of the detail and has the keys. What
// follows from the values is planned in the background while they are typed, and shown before anything runs.
type fixSheet struct {
	node   int
	step   int // -1: the values of what is in a scope
	path   string
	title  string
	rows   []fixRow
	at     int
	top    int
	typing bool
	input  textinput.Model
	scopes []fixScope
	scope  int
	note   string // about the last key
	asked  bool   // whether the type may change; enter again says yes

	preview fixPreview
}

// fixRow is a value: a variable, an argument, a part of the process, or the line that adds one.
type fixRow struct {
	field, name string
	add         bool
	was         string // as it is in the plan, as text
	now         string // as typed
	edited      bool
	kind        string
	place       string
	after       string // what gives it, if it is not known yet
	secret      bool
	inForce     *plan.Override // an override there is already
	original    string         // what that took the place of
	restore     bool           // take it back
}

// fixScope is how far a variable's new value reaches.
type fixScope struct {
	words    string
	at, from string
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

// openFix edits the values of the step under the cursor.
func (m *model) openFix() tea.Cmd {
	n := m.at()
	step := m.tree.step(n)
	switch {
	case m.o.Preview == nil:
		m.say("values cannot be changed here")
		return nil
	case m.run.phase == events.Done:
		m.say("the run is over")
		return nil
	case m.layout().kind == layoutCard:
		m.say("make the window larger, 40×10 at least, to edit values")
		return nil
	case step < 0 && m.tree.steps(n).From >= m.tree.steps(n).To:
		m.say("there are no steps here whose values could be changed")
		return nil
	case step >= 0 && m.hasRun(step):
		m.say("it has run already; edit a step that has not")
		return nil
	}
	m.fix = m.newFix(n, step)
	return nil
}

// hasRun reports whether a step has ended in a way that stays.
func (m *model) hasRun(step int) bool {
	switch m.tree.faces[step] {
	case faceOK, faceChanged, faceSkipped, faceKept, faceRunning, faceIgnored:
		return !m.broken(step)
	default:
		return false
	}
}

func (m *model) newFix(n, step int) *fixSheet {
	f := &fixSheet{node: n, step: step, title: m.tree.title(n), input: newInput()}
	if step < 0 {
		m.fixScope(f, n)
	} else {
		m.fixStep(f, &m.plan.Steps[step])
	}
	f.rows = append(f.rows, fixRow{add: true})
	return f
}

// fixStep takes the values of one step.
func (m *model) fixStep(f *fixSheet, p *plan.Step) {
	f.path = p.Path
	f.scopes = []fixScope{{"this step", p.Path, p.Path}}
	if s := m.tree.scope(int(m.tree.parent[m.tree.stepNode[p.Index]])); s != nil && s.ID > 0 {
		f.scopes = append(f.scopes, fixScope{"this " + string(s.Kind), s.Path, p.Path})
	}
	f.scopes = append(f.scopes, fixScope{"rest of the run", "", p.Path})
	var set map[string]any
	m.store.read(func(run *events.Run) { set = maps.Clone(run.Variables) })
	for i := range p.Uses {
		f.rows = append(f.rows, m.fixVariable(&p.Uses[i], set))
	}
	names := slices.SortedFunc(maps.Keys(p.Args), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		f.rows = append(f.rows, m.fixField(p, plan.OverrideArg, name, p.Args[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		f.rows = append(f.rows, m.fixField(p, plan.OverrideEnv, name, p.Env[name]))
	}
	if !p.NoLog {
		f.rows = append(f.rows, m.fixField(p, plan.OverrideCwd, "", p.Cwd))
	}
	for i := range p.Overridden {
		f.inForce(&p.Overridden[i])
	}
}

// usesShown bounds how many steps of a scope are looked through for the variables they use.
const usesShown = 2000

// fixScope takes the variables that the steps of a scope use.
func (m *model) fixScope(f *fixSheet, n int) {
	r := m.tree.steps(n)
	from := max(m.firstLeft(r), r.From)
	path := m.plan.Steps[from].Path
	if s := m.tree.scope(n); s != nil && n > 0 {
		f.scopes = append(f.scopes, fixScope{"this " + string(s.Kind), s.Path, path})
	}
	f.scopes = append(f.scopes, fixScope{"rest of the run", "", path})
	seen := map[string]bool{}
	var set map[string]any
	m.store.read(func(run *events.Run) { set = maps.Clone(run.Variables) })
	for i := from; i < min(r.To, from+usesShown); i++ {
		for k := range m.plan.Steps[i].Uses {
			if u := &m.plan.Steps[i].Uses[k]; !seen[u.Name] {
				seen[u.Name] = true
				f.rows = append(f.rows, m.fixVariable(u, set))
			}
		}
	}
}

func (m *model) fixVariable(u *plan.Use, set map[string]any) fixRow {
	row := fixRow{name: u.Name, kind: plan.Kind(u.Value), place: from(u.From, u.Origin), secret: plan.Secret(u.Value)}
	value := u.Value
	if now, ok := set[u.Name]; ok {
		if _, after := plan.Display(value); len(after) > 0 {
			value, row.kind = now, plan.Kind(now)
		}
	}
	if row.secret {
		row.kind = plan.Kind("")
	}
	text, after := plan.Display(value)
	if len(after) > 0 {
		row.after, row.kind = "after "+m.plan.Steps[after[0]].ID(), ""
	}
	row.was = text
	row.now = text
	return row
}

// fixField is an argument or a part of the process. Where what it comes to looks like a template, the text as written is edited,
// since what is typed is a template again.
func (m *model) fixField(p *plan.Step, field, name string, value any) fixRow {
	text, after := plan.Display(value)
	row := fixRow{field: field, name: name, kind: plan.Kind(value), place: fmt.Sprintf(":%d", p.Origin.Line), secret: plan.Secret(value)}
	written, templated := m.plan.Written(p.Index, field, name)
	if templated && (len(after) > 0 || strings.Contains(text, "{{") || strings.Contains(text, "{%")) {
		text, row.kind = written, plan.Kind("")
	}
	row.was, row.now = text, text
	return row
}

// inForce marks the row of an override there is already.
func (f *fixSheet) inForce(o *plan.Overridden) {
	original, _ := plan.Display(o.Was)
	for i := range f.rows {
		if r := &f.rows[i]; r.field == o.Field && r.name == o.Name {
			r.inForce, r.original = &o.Override, original
			r.secret = r.secret || o.Secret
		}
	}
}

func (r *fixRow) label() string { return plan.Override{Field: r.field, Name: r.name}.Label() }

// changed reports whether a row asks for something.
func (r *fixRow) changed() bool {
	return !r.add && (r.restore || r.edited && (r.now != r.was || r.after != ""))
}

// changes counts them.
func (f *fixSheet) changes() (n int) {
	for i := range f.rows {
		if f.rows[i].changed() {
			n++
		}
	}
	return n
}

// press takes a key. Letters change the value they are typed on; nothing runs but by enter.
func (f *fixSheet) press(m *model, msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	f.note = ""
	if key != "enter" {
		f.asked = false
	}
	switch key {
	case "esc":
		if f.typing {
			f.revert()
			return f.plan(m)
		}
		m.fix = nil
		return nil
	case "up", "down", "ctrl+p", "ctrl+n":
		f.commit()
		by := map[string]int{"up": -1, "ctrl+p": -1}[key]
		f.at = min(max(f.at+cmp.Or(by, 1), 0), len(f.rows)-1)
		return f.plan(m)
	case "tab":
		f.scope = (f.scope + 1) % max(len(f.scopes), 1)
		return f.plan(m)
	case "shift+tab":
		f.scope = (f.scope + max(len(f.scopes), 1) - 1) % max(len(f.scopes), 1)
		return f.plan(m)
	case "ctrl+u":
		f.undo()
		return f.plan(m)
	case "ctrl+e":
		return f.inEditor(m)
	case "enter":
		return f.apply(m)
	}
	if !f.begin() {
		return nil
	}
	before := f.input.Value()
	f.input, _ = f.input.Update(msg)
	if f.input.Value() == before {
		return nil
	}
	f.typed()
	return f.plan(m)
}

func (f *fixSheet) paste(m *model, msg tea.PasteMsg) tea.Cmd {
	if !f.begin() {
		return nil
	}
	f.input, _ = f.input.Update(msg)
	f.typed()
	return f.plan(m)
}

// begin lets the row under the cursor be typed on.
func (f *fixSheet) begin() bool {
	if f.typing {
		return true
	}
	r := &f.rows[f.at]
	if strings.Contains(r.now, "\n") {
		f.note = "it has several lines: ctrl+e edits it in $EDITOR"
		return false
	}
	f.typing = true
	f.input.EchoMode = textinput.EchoNormal
	value := r.now
	if r.secret { // a new one may be typed, the old one is nobody's to see
		f.input.EchoMode = textinput.EchoPassword
		value = ""
	}
	f.input.SetValue(value)
	f.input.CursorEnd()
	return true
}

// typed takes over what stands in the line.
func (f *fixSheet) typed() {
	r := &f.rows[f.at]
	r.now, r.edited, r.restore = f.input.Value(), true, false
}

// revert takes back what was typed on the row.
func (f *fixSheet) revert() {
	r := &f.rows[f.at]
	r.now, r.edited, r.restore, f.typing = r.was, false, false, false
}

// commit ends typing. On the last line it makes a row of NAME=VALUE.
func (f *fixSheet) commit() {
	f.typing = false
	r := &f.rows[f.at]
	if !r.add || strings.TrimSpace(r.now) == "" {
		return
	}
	name, value, ok := strings.Cut(r.now, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		f.note = "write NAME=VALUE; env.NAME and args.NAME are those of the step"
		return
	}
	one := fixRow{name: name, now: strings.TrimSpace(value), edited: true, place: "new", after: "new"}
	if field, rest, dotted := strings.Cut(name, "."); dotted && f.step >= 0 {
		switch field {
		case plan.OverrideArg, plan.OverrideEnv:
			one.field, one.name = field, rest
		default:
			f.note = "names have no dots; env.NAME and args.NAME are those of the step"
			return
		}
	}
	for i := range f.rows { // a name that is there already
		if o := &f.rows[i]; !o.add && o.field == one.field && o.name == one.name {
			o.now, o.edited, o.restore = one.now, true, false
			f.at = i
			f.rows[len(f.rows)-1] = fixRow{add: true}
			return
		}
	}
	f.rows = slices.Insert(f.rows, len(f.rows)-1, one)
	f.rows[len(f.rows)-1] = fixRow{add: true}
	f.at = len(f.rows) - 2
}

// undo takes back one thing: what is typed on the row, what was changed on it, or an override that is in force.
func (f *fixSheet) undo() {
	r := &f.rows[f.at]
	switch {
	case f.typing || r.edited:
		if r.place == "new" {
			f.typing = false
			f.rows = slices.Delete(f.rows, f.at, f.at+1)
			return
		}
		f.revert()
	case r.restore:
		r.restore = false
	case r.inForce != nil:
		r.restore = true
	default:
		f.note = "nothing was changed here"
	}
}

// values are the overrides the rows ask for, or what is wrong with a row.
func (f *fixSheet) values() (list []events.Override, wrong string, row int) {
	scope := f.scopes[f.scope]
	for i := range f.rows {
		r := &f.rows[i]
		if !r.changed() {
			continue
		}
		if r.restore {
			list = append(list, events.Override{Field: r.field, Name: r.name, At: r.inForce.At, Clear: true})
			continue
		}
		o := events.Override{Field: r.field, Name: r.name, At: scope.at, From: scope.from, Secret: r.secret}
		if r.field != "" {
			o.At, o.From = f.path, f.path
		}
		value, _, err := r.yaml()
		if err != nil {
			return nil, r.label() + ": " + err.Error(), i
		}
		o.Value = value
		list = append(list, o)
	}
	return list, "", -1
}

// yaml is what was typed on a row, as YAML. What was text stays text, whatever it looks like.
func (r *fixRow) yaml() (value, kind string, err error) {
	text := plan.Kind("")
	if r.kind == text || r.field != "" && r.kind == "" {
		return plan.WriteText(r.now), text, nil
	}
	kind, err = plan.ReadOverride(r.now)
	return r.now, kind, err
}

// apply gives the run its new values, and tries the step again if it failed.
func (f *fixSheet) apply(m *model) tea.Cmd {
	if f.typing || f.rows[f.at].add {
		f.commit()
	}
	if f.note != "" {
		return nil
	}
	values, wrong, row := f.values()
	switch {
	case wrong != "":
		f.note, f.at = wrong, row
		return nil
	case len(values) == 0:
		f.note = "nothing is changed"
		return f.plan(m)
	case m.run.counts.Running > 0:
		f.note = "steps are still running; " + m.keys.label(runPause) + " pauses the run, and then this can be tried"
		return nil
	case f.preview.why != "" && f.preview.shown == f.preview.gen:
		f.note = "it cannot be planned so"
		return nil
	}
	if r := f.otherKind(); r != nil && !f.asked {
		f.asked = true
		_, kind, _ := r.yaml()
		f.note = fmt.Sprintf("%s was %s and becomes %s; enter again does that", r.label(), r.kind, kind)
		return nil
	}
	fix := events.Fix{Values: values}
	if f.step >= 0 && m.failedIn(events.Range{From: f.step, To: f.step + 1}) > 0 {
		fix.Retry = f.path
	}
	m.o.Send(fix)
	m.fix, m.fixSent = nil, f
	m.say("with other values: " + fix.Words())
	return nil
}

// otherKind is a row whose value is of another kind than before, or nil.
func (f *fixSheet) otherKind() *fixRow {
	for i := range f.rows {
		r := &f.rows[i]
		if !r.changed() || r.restore || r.kind == "" {
			continue
		}
		if _, kind, err := r.yaml(); err == nil && kind != r.kind {
			return r
		}
	}
	return nil
}

// plan plans with the values as they are now, in the background, one plan at a time.
func (f *fixSheet) plan(m *model) tea.Cmd {
	f.preview.gen++
	return f.planNext(m)
}

func (f *fixSheet) planNext(m *model) tea.Cmd {
	p := &f.preview
	if p.busy || p.gen == p.shown {
		return nil
	}
	values, wrong, _ := f.values()
	if wrong != "" || len(values) == 0 {
		p.plan, p.why, p.shown = nil, wrong, p.gen
		return nil
	}
	p.busy = true
	gen, current, preview := p.gen, m.plan, m.o.Preview
	return func() tea.Msg {
		next, why := preview(current, events.Fix{Values: values})
		return replanned{f, gen, next, why}
	}
}

// fixPreviewed takes what planning gave, and plans again if more was typed since.
func (m *model) fixPreviewed(msg replanned) tea.Cmd {
	f := msg.sheet
	if m.fix != f {
		return nil
	}
	f.preview.busy, f.preview.plan, f.preview.why, f.preview.shown = false, msg.plan, msg.why, msg.gen
	return f.planNext(m)
}

// fixRefused brings the sheet back that the run has refused: what was typed must not be lost.
func (m *model) fixRefused(why string) {
	if m.fixSent == nil {
		return
	}
	if m.fix == nil {
		m.fix = m.fixSent
		m.fix.note = why
	}
	m.fixSent = nil
}

// carryFix opens a sheet anew after the plan was replaced, with what was typed on it.
func (m *model) carryFix(old *fixSheet) {
	if old == nil {
		return
	}
	for i := range m.plan.Steps {
		if m.plan.Steps[i].Path != old.path {
			continue
		}
		f := m.newFix(int(m.tree.stepNode[i]), i)
		for _, r := range old.rows {
			if !r.changed() || r.restore {
				continue
			}
			k := slices.IndexFunc(f.rows, func(o fixRow) bool { return !o.add && o.field == r.field && o.name == r.name })
			if k < 0 {
				k = len(f.rows) - 1
				f.rows = slices.Insert(f.rows, k, fixRow{field: r.field, name: r.name, place: "new", after: "new"})
			}
			f.rows[k].now, f.rows[k].edited = r.now, true
		}
		f.note = "the plan was replaced; what you typed is still here"
		m.fix = f
		return
	}
	m.say("the step you edited is not in the plan any more")
}
