package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"moon/events"
	"moon/internal/suggest"
	"moon/plan"
	"moon/tui/fix"
	"moon/tui/standing"
)

// fixing is a value that is being changed, as far as the talk about it has come.
type fixing struct {
	*fix.Form
	row int
}

func (x *fixing) value() *fix.Row { return &x.Rows[x.row] }

// typedFor is what somebody typed for a value, and the run has not taken.
type typedFor struct{ path, label, text string }

// reaches are the words for how far a value reaches. A part goes by its kind as well.
var reaches = []string{
	"step", "host", "task", part, rest, string(plan.ScopeInclude), string(plan.ScopeLoop), string(plan.ScopeRole),
	string(plan.ScopePlay),
}

const (
	part = "block"
	rest = "rest"
)

// fixArgs are what edit is told: edit [step, block or rest] NAME [of N] [=VALUE].
type fixArgs struct {
	reach, name, of string
	value           string
	given           bool
}

func readFixArgs(args string) (a fixArgs) {
	var left string
	left, a.value, a.given = strings.Cut(args, "=")
	a.value = strings.TrimSpace(a.value)
	words := strings.Fields(left)
	if len(words) > 1 && slices.Contains(reaches, words[0]) && words[1] != "of" {
		a.reach, words = words[0], words[1:]
	}
	if k := slices.Index(words, "of"); k >= 0 && k < len(words)-1 {
		a.of, words = strings.Join(words[k+1:], " "), words[:k]
	}
	a.name = strings.Join(words, " ")
	if isNumber(a.name) && strings.Contains(a.name, ".") && a.of == "" { // no value has such a number
		a.of, a.name = a.name, ""
	}
	return a
}

// edit lists the values of a step, asks for another one, or takes one that is given with it.
func (d *desk) edit(args string) {
	a := readFixArgs(args)
	switch {
	case d.o.Preview == nil:
		d.say("values cannot be changed here.")
		return
	case d.run.Counts.Running > 0:
		d.say("steps are still running: pause, and edit when they have finished.")
		return
	case a.given && a.name == "":
		d.say("edit what? edit NAME=VALUE.")
		return
	}
	f, of, why := d.formOf(a.of)
	if why != "" {
		d.say("%s", why)
		return
	}
	if a.name == "" {
		d.listValues(f, of)
		return
	}
	x, why := d.valueNamed(f, a)
	switch {
	case why != "":
		d.say("%s", why)
	case a.given:
		d.fixAtOnce(x, a)
	default:
		d.fixBySteps(x)
	}
}

// set is edit for one line, as scripts have it.
func (d *desk) set(args string) {
	if a := readFixArgs(args); !a.given || a.name == "" {
		d.say("set what? set NAME=VALUE.")
		return
	}
	d.edit(args)
}

// formOf takes the values of a node. Without one it is the step at hand: what the run is at, or what comes next; and where
// nothing has begun, the whole playbook.
func (d *desk) formOf(node string) (f *fix.Form, called, why string) {
	n := 0
	if node != "" {
		if n, why = d.oneNode(node); why != "" {
			return nil, "", why
		}
	} else if i := d.atHand(); i >= 0 {
		n = int(d.outline.stepAt[i])
	}
	if i := int(d.outline.nodes[n].step); i >= 0 {
		if d.hasRun(i) {
			return nil, "", d.called(i) + " has run already: edit the values of one that has not."
		}
		return fix.OfStep(d.plan, i, d.run.Variables), d.called(i), ""
	}
	r := d.outline.steps(n)
	if first := d.firstLeft(r); first >= 0 {
		r.From = first
	}
	return fix.OfScope(d.plan, max(int(d.outline.nodes[n].scope), 0), r, d.run.Variables), d.partCalled(n), ""
}

// atHand is the step whose values edit is about, or -1.
func (d *desk) atHand() int {
	if i := d.here(); i >= 0 && !d.hasRun(i) {
		return i
	}
	if d.run.Phase == events.Review {
		return -1
	}
	return d.nextStep()
}

// hasRun reports whether a step has ended in a way that stays.
func (d *desk) hasRun(i int) bool {
	switch d.state(i) {
	case ok, changed, skipped, kept, outdated, running, ignored:
		return !d.broken(i)
	default:
		return false
	}
}

func (d *desk) listValues(f *fix.Form, of string) {
	if len(f.Rows) == 0 {
		d.say("%s uses no values; edit NAME=VALUE gives it one.", of)
		return
	}
	lines := []string{of + " uses:"}
	for i := range f.Rows {
		lines = append(lines, fmt.Sprintf("value %d: %s.", i+1, d.rowWords(&f.Rows[i])))
	}
	d.list(append(lines, "edit with a number or a name asks for another value; edit NAME=VALUE takes one."))
}

// rowWords say what a value is, and where it comes from.
func (d *desk) rowWords(r *fix.Row) string {
	words := clean(r.Label()) + " is " + d.rowValue(r)
	switch {
	case r.Added:
		return clean(r.Label()) + " is not there yet"
	case r.InForce != nil:
		return words + ", for this run; it was " + sayLine(r.Original)
	case r.Field == "" && r.Origin.File == "" && r.From != "":
		return words + ", from " + clean(r.From)
	case r.Origin.File != "":
		return words + ", from " + place(r.Origin.String())
	}
	return words
}

func (d *desk) rowValue(r *fix.Row) string {
	switch {
	case r.Secret:
		return "(hidden)"
	case len(r.After) > 0:
		return "known " + d.after(r.After)
	}
	return sayLine(r.Was)
}

// sayLine is a value on one line: the first of it, and how many there are.
func sayLine(text string) string {
	head, rest := first(text)
	switch {
	case text == "":
		return "empty"
	case len(rest) > 0:
		return clean(head) + " and so on, " + count(len(rest)+1, "line")
	}
	return clean(head)
}

// valueNamed finds a value by its name or its number in the list. One that the step does not use may be one of the others'.
func (d *desk) valueNamed(f *fix.Form, a fixArgs) (*fixing, string) {
	if isNumber(a.name) {
		n := 0
		if _, err := fmt.Sscan(a.name, &n); err != nil || n < 1 || n > len(f.Rows) {
			return nil, fmt.Sprintf("there is no value %s: edit lists them. for a step, write of before its number: edit of %s.", a.name,
				a.name)
		}
		return &fixing{f, n - 1}, ""
	}
	if row := find(f, a.name); row >= 0 {
		return &fixing{f, row}, ""
	}
	if a.of == "" && f.Step >= 0 {
		whole := fix.OfScope(d.plan, 0, events.Range{From: f.Step, To: len(d.plan.Steps)}, d.run.Variables)
		if row := find(whole, a.name); row >= 0 {
			return &fixing{whole, row}, ""
		}
	}
	if !a.given {
		return nil, d.noValue(f, a.name)
	}
	row, why := f.Add(a.name, a.value)
	if why != "" {
		return nil, sentence(why)
	}
	return &fixing{f, row}, ""
}

// find is the row that goes by a name, or -1: cmd and args.cmd are the same argument, unless there is a variable cmd.
func find(f *fix.Form, name string) int {
	return slices.IndexFunc(f.Rows, func(r fix.Row) bool { return r.Label() == name || r.Field != "" && r.Field+"."+r.Name == name })
}

func (d *desk) noValue(f *fix.Form, name string) string {
	var names []string
	for i := range f.Rows {
		names = append(names, f.Rows[i].Label())
	}
	for i := range d.plan.Vars {
		names = append(names, d.plan.Vars[i].Name)
	}
	hint := "edit lists those there are"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + clean(near) + "?"
	}
	return sentence("there is no value " + clean(name) + "; " + hint)
}

// fixAtOnce takes a value that was given with its name.
func (d *desk) fixAtOnce(x *fixing, a fixArgs) {
	r := x.value()
	r.Type(a.value)
	reach := 0
	if a.reach != "" {
		if reach = x.reach(a.reach); reach < 0 {
			d.say("%s can be changed %s only. nothing was done.", clean(r.Label()), x.forWhat(0))
			return
		}
	}
	if !r.Changed() {
		d.say("%s is already that.", clean(r.Label()))
		return
	}
	if row, kind := x.OtherKind(); row != nil {
		d.say("%s was %s and becomes %s.", clean(row.Label()), row.Kind, kind)
	}
	effects, why := d.effects(x)
	switch {
	case why == "" && effects[reach].why != "":
		why = effects[reach].why
	case why == "" && r.Added && x.nothing(effects):
		why = d.noValue(x.Form, r.Label())
	}
	if why != "" {
		d.say("%s nothing was done.", sentence(clean(why)))
		return
	}
	d.sayEffect(&effects[reach])
	d.takeFix(x, reach)
}

// fixBySteps says a value and asks for another.
func (d *desk) fixBySteps(x *fixing) {
	r := x.value()
	if k := d.refusedFix; k != nil && k.path == x.Path && k.label == r.Label() {
		d.refusedFix = nil
		d.say("%s: what you typed before is kept.", clean(r.Label()))
		d.typedValue(x, k.text)
		return
	}
	if strings.Contains(r.Now, "\n") && !r.Secret {
		d.fixInEditor(x)
		return
	}
	d.askValue(x)
}

func (d *desk) askValue(x *fixing) {
	r := x.value()
	hidden := ""
	if r.Secret {
		hidden = "what you type is not shown. "
	}
	d.say("%s. %snew value (empty keeps it):", d.rowWords(r), hidden)
	d.question = &question{secret: r.Secret, answer: func(text string) bool {
		if text == "" {
			d.say("unchanged.")
			return true
		}
		d.question = nil
		d.typedValue(x, text)
		return true
	}}
}

// fixInEditor is for what has several lines, which nobody can type on one.
func (d *desk) fixInEditor(x *fixing) {
	r := x.value()
	if d.o.Editor == nil || !d.o.Person {
		d.say("%s. edit %s=VALUE gives it another value, of one line.", d.rowWords(r), clean(r.Label()))
		return
	}
	d.say("%s. the editor opens it.", d.rowWords(r))
	e := &fix.Editor{Text: r.Now, Open: func(file string) fix.Program { return d.o.Editor(file, 1) }}
	if !d.program(e, "the editor") {
		return
	}
	d.typedValue(x, e.Text)
}

// typedValue weighs what was typed: whether it is a value, and of the kind there was.
func (d *desk) typedValue(x *fixing, text string) {
	r := x.value()
	r.Type(text)
	if !r.Changed() {
		d.say("unchanged.")
		return
	}
	if _, wrong, _ := x.Overrides(); wrong != "" {
		d.say("%s", sentence(clean(wrong)))
		d.askAgain(x)
		return
	}
	row, kind := x.OtherKind()
	if row == nil {
		d.offer(x)
		return
	}
	ask := fmt.Sprintf("%s was %s and becomes %s: yes, or no to type another.", clean(row.Label()), row.Kind, kind)
	d.say("%s", ask)
	d.question = &question{again: ask, answer: func(answer string) bool {
		switch answer {
		case "yes", "y":
			d.question = nil
			d.offer(x)
		case "no", "n":
			d.askAgain(x)
		default:
			d.say("%s is not an answer: yes or no.", clean(answer))
			return false
		}
		return true
	}}
}

func (d *desk) askAgain(x *fixing) {
	x.value().Revert()
	d.askValue(x)
}

// effect is what becomes of the plan where a value reaches so far.
type effect struct {
	fix.Effect
	why string // it cannot be planned
}

// effects plans with a value for each of its scopes. why says that it cannot be for the first of them.
func (d *desk) effects(x *fixing) (list []effect, why string) {
	defer func() { x.Scope = 0 }()
	for x.Scope = range x.reaching() {
		values, wrong, _ := x.Overrides()
		if wrong != "" {
			return nil, wrong
		}
		next, why := d.o.Preview(d.plan, events.Fix{Values: values})
		if next == nil {
			if x.Scope == 0 {
				return nil, "it cannot be planned so: " + why
			}
			list = append(list, effect{why: "it cannot be planned so: " + why})
			continue
		}
		list = append(list, effect{Effect: fix.EffectOf(d.plan, next, x.Path, func(i int) bool { return standing.Done(d.of(i)) })})
	}
	return list, ""
}

// nothing reports whether a value changes nothing, however far it reaches.
func (x *fixing) nothing(effects []effect) bool {
	return !slices.ContainsFunc(effects, func(e effect) bool {
		return e.Gone || len(e.Changes)+len(e.Notes)+len(e.Others)+len(e.Done)+e.Left > 0
	})
}

// offer says what a value leads to, and asks how far it is to reach.
func (d *desk) offer(x *fixing) {
	effects, why := d.effects(x)
	if why != "" {
		d.say("%s", sentence(clean(why)))
		d.askAgain(x)
		return
	}
	d.sayEffect(&effects[0])
	ways := []string{"yes, " + x.forWhat(0)}
	for i := 1; i < len(effects); i++ {
		ways = append(ways, x.word(i)+", "+x.forWhat(i)+effects[i].alsoWords())
	}
	ask := "apply it: " + strings.Join(append(ways, "no"), "; ") + "."
	d.say("%s", ask)
	d.question = &question{again: ask, answer: func(answer string) bool {
		reach := x.reach(answer)
		switch {
		case answer == "no" || answer == "n":
			d.say("unchanged.")
			return true
		case answer == "yes" || answer == "y":
			reach = 0
		case reach < 0:
			d.say("%s is not an answer. %s", clean(answer), ask)
			return false
		case effects[reach].why != "":
			d.say("%s", sentence(clean(effects[reach].why)))
			return false
		}
		d.takeFix(x, reach)
		return true
	}}
}

// reaching is how many of its scopes a value may be for: what is no variable is its step's alone.
func (x *fixing) reaching() int {
	if x.value().Field != "" {
		return 1
	}
	return len(x.Scopes)
}

// reach is the scope that a word means, or -1.
func (x *fixing) reach(word string) int {
	for i := range x.reaching() {
		if x.word(i) == word || word == part && x.Scopes[i].At != "" && x.word(i) != "step" && x.Scopes[i].Host == "" {
			return i
		}
	}
	return -1
}

// word is what a scope goes by.
func (x *fixing) word(scope int) string {
	if x.Scopes[scope].Rest() {
		return rest
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(x.Scopes[scope].Words, "this "), " ") // over how many hosts is not to be typed
	return word
}

// forWhat says how far a scope reaches.
func (x *fixing) forWhat(scope int) string {
	if x.Scopes[scope].Rest() {
		return "for the rest of the run"
	}
	if host := x.Scopes[scope].Host; host != "" {
		return "for the rest of the run on " + clean(host)
	}
	return "for " + x.Scopes[scope].Words
}

// alsoWords say how many other steps a wider scope changes.
func (e *effect) alsoWords() string {
	switch {
	case e.why != "":
		return ", which cannot be planned"
	case len(e.Others) == 0:
		return ""
	case len(e.Others) == 1:
		return ", which also changes 1 other step"
	}
	return fmt.Sprintf(", which also changes %d other steps", len(e.Others))
}

// sayEffect says what a step becomes.
func (d *desk) sayEffect(e *effect) {
	var lines []string
	for _, c := range e.Changes {
		label := clean(strings.TrimRight(c.Label, " ="))
		switch {
		case strings.Contains(c.Was+c.Now, "\n"):
			lines = append(lines, strings.TrimSpace(label+" becomes:"))
			for _, line := range diffLines(udiff.Unified("", "", strings.TrimRight(c.Was, "\n")+"\n",
				strings.TrimRight(c.Now, "\n")+"\n")) {
				if !strings.HasPrefix(line, "same: ") {
					lines = append(lines, line)
				}
			}
		case label == "":
			lines = append(lines, "now: "+clean(c.Was), "will be: "+clean(c.Now))
		default:
			lines = append(lines, fmt.Sprintf("%s was %s, becomes %s.", label, sayLine(c.Was), sayLine(c.Now)))
		}
	}
	for _, note := range e.Notes {
		lines = append(lines, sentence(clean(note)))
	}
	switch {
	case e.Gone:
		lines = append(lines, "the step would not be in the plan any more.")
	case e.Same && len(e.Others)+len(e.Done) == 0:
		lines = append(lines, "what it does stays the same, as far as can be seen.")
	}
	if n := len(e.Others); n > 0 {
		lines = append(lines, sentence("it changes "+e.others()))
	}
	if n := len(e.Done); n > 0 {
		lines = append(lines, sentence("already done, with the old value: "+names(e.Done)+"; rerun runs "+them(n)+" again"))
	}
	if e.Left > 0 {
		lines = append(lines, count(e.Left, "step")+" would be gone from the plan.")
	}
	d.list(lines)
}

// others names some of the other steps that change.
func (e *effect) others() string {
	return count(len(e.Others), "step") + ": " + names(e.Others)
}

// names are those of some steps, the first of them.
func names(steps []*plan.Step) string {
	const named = 3
	var list []string
	for _, s := range steps[:min(len(steps), named)] {
		list = append(list, clean(s.Label(s.Title())))
	}
	if more := len(steps) - named; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// takeFix gives the run the value. It runs nothing.
func (d *desk) takeFix(x *fixing, reach int) {
	x.Scope = reach
	values, wrong, _ := x.Overrides()
	if wrong != "" {
		d.say("%s", sentence(clean(wrong)))
		return
	}
	r := x.value()
	d.sentFix = &typedFor{x.Path, r.Label(), r.Now}
	asks := events.Fix{Values: values}
	value := sayLine(r.Now)
	if r.Secret {
		value = "(hidden)"
	}
	d.say("%s is %s %s; no file is changed.", clean(r.Label()), value, x.forWhat(reach))
	d.send(asks)
}

// fixRefused keeps what was typed, and says how to go on from it.
func (d *desk) fixRefused() {
	sent := d.sentFix
	if d.sentFix = nil; sent == nil || sent.label == "" {
		return
	}
	d.refusedFix = sent
	d.say("what you typed is kept: edit %s continues from it.", clean(sent.label))
}

// repeated is a line of a script as it is said again: without a secret that stands in it.
func (d *desk) repeated(text string) string {
	if d.question != nil && d.question.secret && text != "" {
		return "(hidden)"
	}
	v, args, _ := lookUp(text)
	a := readFixArgs(args)
	if v == nil || v.name != "edit" && v.name != "set" || !a.given {
		return clean(text)
	}
	f, _, why := d.formOf(a.of)
	if why != "" {
		return clean(text)
	}
	if x, _ := d.valueNamed(f, a); x == nil || !x.value().Secret {
		return clean(text)
	}
	left, _, _ := strings.Cut(text, "=")
	return clean(left) + "=(hidden)"
}
