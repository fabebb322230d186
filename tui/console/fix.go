package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"moon/events"
	"moon/internal/suggest"
	"moon/plan"
	"moon/tui/fix"
	"moon/tui/status"
)

// fixes talks about other values for a run, and asks for them.
type fixes struct {
	*speaker
	*reporter
	*requests
	*dialogue
	find     *finder
	programs *programs
	preview  func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string) // nil: values cannot be changed

	sentFix    *typedFor // has no answer yet
	refusedFix *typedFor // was typed, and not taken
}

// fixing is a value that is being changed, as far as the talk about it has come.
type fixing struct {
	*fix.Form
	row int
}

func (x *fixing) currentRow() *fix.Row { return &x.Rows[x.row] }

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

// fixArgs are what edit is given: edit [step, block or rest] NAME [of N] [=VALUE].
type fixArgs struct {
	reach, name, of string
	value           string
	given           bool
}

func readFixArgs(args string) (a fixArgs) {
	var left string
	// At the first `=`: a value may hold others, a name holds none.
	left, a.value, a.given = strings.Cut(args, "=")
	a.value = strings.TrimSpace(a.value)
	words := strings.Fields(left)
	// A word for the reach that stands alone is a name: a variable may be called host.
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

// editValue lists the values of a step, asks for another one, or takes one that is given with it.
func (c *fixes) editValue(args string) {
	a := readFixArgs(args)
	switch {
	case c.preview == nil:
		c.say("values cannot be changed here.")
		return
	case c.run.Counts.Running > 0:
		c.say("steps are still running: pause, and edit when they have finished.")
		return
	case a.given && a.name == "":
		c.say("edit what? edit NAME=VALUE.")
		return
	}
	f, of, why := c.formOf(a.of)
	if why != "" {
		c.say("%s", why)
		return
	}
	if a.name == "" {
		c.listValues(f, of)
		return
	}
	x, why := c.valueNamed(f, a)
	switch {
	case why != "":
		c.say("%s", why)
	case a.given:
		c.fixAtOnce(x, a)
	default:
		c.fixBySteps(x)
	}
}

// setValue is edit for one line, as scripts have it.
func (c *fixes) setValue(args string) {
	if a := readFixArgs(args); !a.given || a.name == "" {
		c.say("set what? set NAME=VALUE.")
		return
	}
	c.editValue(args)
}

// formOf takes the values of a node. Without one it is the step at hand: what the run is at, or what comes next; and where
// nothing has begun, the whole playbook.
func (c *fixes) formOf(node string) (f *fix.Form, called, why string) {
	n := 0
	if node != "" {
		if n, why = c.find.oneNode(node); why != "" {
			return nil, "", why
		}
	} else if i := c.atHand(); i >= 0 {
		n = int(c.outline.nodeOf[i])
	}
	if i := int(c.outline.nodes[n].step); i >= 0 {
		if c.position().HasRun(i) {
			return nil, "", c.called(i) + " has run already: edit the values of one that has not."
		}
		return fix.OfStep(c.plan, i, c.run.Variables), c.called(i), ""
	}
	r := c.outline.rangeOf(n)
	// Another value reaches only what is still to run.
	if first := c.position().FirstLeft(r); first >= 0 {
		r.From = first
	}
	return fix.OfScope(c.plan, max(int(c.outline.nodes[n].scope), 0), r, c.run.Variables), c.partCalled(n), ""
}

func (c *fixes) listValues(f *fix.Form, of string) {
	if len(f.Rows) == 0 {
		c.say("%s uses no values; edit NAME=VALUE gives it one.", of)
		return
	}
	lines := []string{of + " uses:"}
	for i := range f.Rows {
		lines = append(lines, fmt.Sprintf("value %d: %s.", i+1, c.rowWords(&f.Rows[i])))
	}
	c.sayList(append(lines, "edit with a number or a name asks for another value; edit NAME=VALUE takes one."))
}

// rowWords say what a value is, and where it comes from.
func (c *fixes) rowWords(r *fix.Row) string {
	words := clean(r.Label()) + " is " + c.rowValue(r)
	switch {
	case r.Added:
		return clean(r.Label()) + " is not there yet"
	case r.InForce != nil:
		return words + ", for this run; it was " + sayLine(r.Original)
	case r.Field == "" && r.Origin.File == "" && r.From != "":
		return words + ", from " + clean(r.From)
	case r.Origin.File != "":
		return words + ", from " + placeWords(r.Origin.String())
	}
	return words
}

func (c *fixes) rowValue(r *fix.Row) string {
	switch {
	case r.Secret:
		return "(hidden)"
	case len(r.After) > 0:
		return "known " + c.afterSteps(r.After)
	}
	return sayLine(r.Was)
}

// valueNamed finds a value by its name or its number in the list. One that the step does not use may be one of the others'.
func (c *fixes) valueNamed(f *fix.Form, a fixArgs) (*fixing, string) {
	if isNumber(a.name) {
		n := 0
		if _, err := fmt.Sscan(a.name, &n); err != nil || n < 1 || n > len(f.Rows) {
			return nil, fmt.Sprintf("there is no value %s: edit lists them. for a step, write of before its number: edit of %s.", a.name,
				a.name)
		}
		return &fixing{f, n - 1}, ""
	}
	if row := findRow(f, a.name); row >= 0 {
		return &fixing{f, row}, ""
	}
	if a.of == "" && f.Step >= 0 {
		whole := fix.OfScope(c.plan, 0, events.Range{From: f.Step, To: len(c.plan.Steps)}, c.run.Variables)
		if row := findRow(whole, a.name); row >= 0 {
			return &fixing{whole, row}, ""
		}
	}
	if !a.given {
		return nil, c.noValue(f, a.name)
	}
	// An unknown name with a value is a new variable. Whether it changes anything is seen when it is planned.
	row, why := f.Add(a.name, a.value)
	if why != "" {
		return nil, sentence(why)
	}
	return &fixing{f, row}, ""
}

// findRow returns the row that goes by a name, or -1: cmd and args.cmd are the same argument, unless there is a variable cmd.
func findRow(f *fix.Form, name string) int {
	return slices.IndexFunc(f.Rows, func(r fix.Row) bool { return r.Label() == name || r.Field != "" && r.Field+"."+r.Name == name })
}

func (c *fixes) noValue(f *fix.Form, name string) string {
	var names []string
	for i := range f.Rows {
		names = append(names, f.Rows[i].Label())
	}
	for i := range c.plan.Vars {
		names = append(names, c.plan.Vars[i].Name)
	}
	hint := "edit lists those there are"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + clean(near) + "?"
	}
	return sentence("there is no value " + clean(name) + "; " + hint)
}

// fixAtOnce takes a value that was given with its name.
func (c *fixes) fixAtOnce(x *fixing, a fixArgs) {
	r := x.currentRow()
	r.Type(a.value)
	reach := 0
	if a.reach != "" {
		if reach = x.scopeOf(a.reach); reach < 0 {
			c.say("%s can be changed %s only. nothing was done.", clean(r.Label()), x.forWhat(0))
			return
		}
	}
	if !r.Changed() {
		c.say("%s is already that.", clean(r.Label()))
		return
	}
	if row, kind := x.OtherKind(); row != nil {
		c.say("%s was %s and becomes %s.", clean(row.Label()), row.Kind, kind)
	}
	// Planned before it is sent, so that a value that cannot be is refused with nothing done.
	effects, why := c.planEffects(x)
	switch {
	case why == "" && effects[reach].why != "":
		why = effects[reach].why
	case why == "" && r.Added && x.changesNothing(effects):
		why = c.noValue(x.Form, r.Label())
	}
	if why != "" {
		c.say("%s nothing was done.", sentence(clean(why)))
		return
	}
	c.sayEffect(&effects[reach])
	c.takeFix(x, reach)
}

// fixBySteps says a value and asks for another.
func (c *fixes) fixBySteps(x *fixing) {
	r := x.currentRow()
	if k := c.refusedFix; k != nil && k.path == x.Path && k.label == r.Label() {
		// Offered once: if it is refused again, it is kept again.
		c.refusedFix = nil
		c.say("%s: what you typed before is kept.", clean(r.Label()))
		c.typedValue(x, k.text)
		return
	}
	if strings.Contains(r.Now, "\n") && !r.Secret {
		c.fixInEditor(x)
		return
	}
	c.askValue(x)
}

func (c *fixes) askValue(x *fixing) {
	r := x.currentRow()
	hidden := ""
	if r.Secret {
		hidden = "what you type is not shown. "
	}
	c.say("%s. %snew value (empty keeps it):", c.rowWords(r), hidden)
	c.question = &question{secret: r.Secret, answer: func(text string) bool {
		if text == "" {
			c.say("unchanged.")
			return true
		}
		c.question = nil
		c.typedValue(x, text)
		return true
	}}
}

// fixInEditor is for what has several lines, which nobody can type on one.
func (c *fixes) fixInEditor(x *fixing) {
	r := x.currentRow()
	if c.programs.openEditor == nil || !c.person {
		c.say("%s. edit %s=VALUE gives it another value, of one line.", c.rowWords(r), clean(r.Label()))
		return
	}
	c.say("%s. the editor opens it.", c.rowWords(r))
	e := &fix.Editor{Text: r.Now, Open: func(file string) fix.Program { return c.programs.openEditor(file, 1) }}
	if !c.programs.runProgram(e, "the editor") {
		return
	}
	c.typedValue(x, e.Text)
}

// typedValue weighs what was typed: whether it is a value, and of the kind there was.
func (c *fixes) typedValue(x *fixing, text string) {
	r := x.currentRow()
	r.Type(text)
	if !r.Changed() {
		c.say("unchanged.")
		return
	}
	if _, wrong, _ := x.Overrides(); wrong != "" {
		c.say("%s", sentence(clean(wrong)))
		c.askAgain(x)
		return
	}
	row, kind := x.OtherKind()
	if row == nil {
		c.offerScopes(x)
		return
	}
	ask := fmt.Sprintf("%s was %s and becomes %s: yes, or no to type another.", clean(row.Label()), row.Kind, kind)
	c.say("%s", ask)
	c.question = &question{again: ask, answer: func(answer string) bool {
		switch answer {
		case "yes", "y":
			c.question = nil
			c.offerScopes(x)
		case "no", "n":
			c.askAgain(x)
		default:
			c.say("%s is not an answer: yes or no.", clean(answer))
			return false
		}
		return true
	}}
}

func (c *fixes) askAgain(x *fixing) {
	x.currentRow().Revert()
	c.askValue(x)
}

// effect is what becomes of the plan where a value reaches so far.
type effect struct {
	fix.Effect
	why string // it cannot be planned
}

// planEffects plans with a value for each of its scopes. why says that it cannot be for the first of them.
func (c *fixes) planEffects(x *fixing) (list []effect, why string) {
	// Planning takes the scope from the form, so the form goes through all of them and is put back.
	defer func() { x.Scope = 0 }()
	for x.Scope = range x.countScopes() {
		values, wrong, _ := x.Overrides()
		if wrong != "" {
			return nil, wrong
		}
		next, why := c.preview(c.plan, events.Fix{Values: values})
		if next == nil {
			if x.Scope == 0 {
				return nil, "it cannot be planned so: " + why
			}
			list = append(list, effect{why: "it cannot be planned so: " + why})
			continue
		}
		list = append(list, effect{Effect: fix.EffectOf(c.plan, next, x.Path, func(i int) bool { return status.Done(c.stepAt(i)) })})
	}
	return list, ""
}

// changesNothing reports whether a value changes nothing, however far it reaches.
func (x *fixing) changesNothing(effects []effect) bool {
	return !slices.ContainsFunc(effects, func(e effect) bool {
		return e.Gone || len(e.Changes)+len(e.Notes)+len(e.Others)+len(e.Done)+e.Left > 0
	})
}

// offerScopes says what a value leads to, and asks how far it is to reach.
func (c *fixes) offerScopes(x *fixing) {
	effects, why := c.planEffects(x)
	if why != "" {
		c.say("%s", sentence(clean(why)))
		c.askAgain(x)
		return
	}
	c.sayEffect(&effects[0])
	ways := []string{"yes, " + x.forWhat(0)}
	for i := 1; i < len(effects); i++ {
		ways = append(ways, x.scopeWord(i)+", "+x.forWhat(i)+effects[i].alsoWords())
	}
	ask := "apply it: " + strings.Join(append(ways, "no"), "; ") + "."
	c.say("%s", ask)
	c.question = &question{again: ask, answer: func(answer string) bool {
		reach := x.scopeOf(answer)
		switch {
		case answer == "no" || answer == "n":
			c.say("unchanged.")
			return true
		case answer == "yes" || answer == "y":
			reach = 0
		case reach < 0:
			c.say("%s is not an answer. %s", clean(answer), ask)
			return false
		case effects[reach].why != "":
			c.say("%s", sentence(clean(effects[reach].why)))
			return false
		}
		c.takeFix(x, reach)
		return true
	}}
}

// countScopes returns how many of its scopes a value may be for: what is no variable is its step's alone.
func (x *fixing) countScopes() int {
	if x.currentRow().Field != "" {
		return 1
	}
	return len(x.Scopes)
}

// scopeOf is the scope that a word means, or -1.
func (x *fixing) scopeOf(word string) int {
	for i := range x.countScopes() {
		if x.scopeWord(i) == word || word == part && x.Scopes[i].At != "" && x.scopeWord(i) != "step" && x.Scopes[i].Host == "" {
			return i
		}
	}
	return -1
}

// scopeWord is what a scope goes by.
func (x *fixing) scopeWord(scope int) string {
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
func (c *fixes) sayEffect(e *effect) {
	var lines []string
	for _, change := range e.Changes {
		label := clean(strings.TrimRight(change.Label, " ="))
		switch {
		case strings.Contains(change.Was+change.Now, "\n"):
			lines = append(lines, strings.TrimSpace(label+" becomes:"))
			for _, line := range diffLines(udiff.Unified("", "", strings.TrimRight(change.Was, "\n")+"\n",
				strings.TrimRight(change.Now, "\n")+"\n")) {
				// A listener cannot skim over what stays the same.
				if !strings.HasPrefix(line, "same: ") {
					lines = append(lines, line)
				}
			}
		case label == "":
			lines = append(lines, "now: "+clean(change.Was), "will be: "+clean(change.Now))
		default:
			lines = append(lines, fmt.Sprintf("%s was %s, becomes %s.", label, sayLine(change.Was), sayLine(change.Now)))
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
		lines = append(lines, sentence("it changes "+e.otherNames()))
	}
	if n := len(e.Done); n > 0 {
		lines = append(lines, sentence("already done, with the old value: "+stepNames(e.Done)+"; rerun runs "+itOrThem(n)+" again"))
	}
	if e.Left > 0 {
		lines = append(lines, count(e.Left, "step")+" would be gone from the plan.")
	}
	c.sayList(lines)
}

// otherNames names some of the other steps that change.
func (e *effect) otherNames() string {
	return count(len(e.Others), "step") + ": " + stepNames(e.Others)
}

// stepNames are those of some steps, the first of them.
func stepNames(steps []*plan.Step) string {
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

func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// takeFix gives the run the value. It runs nothing.
func (c *fixes) takeFix(x *fixing, reach int) {
	x.Scope = reach
	values, wrong, _ := x.Overrides()
	if wrong != "" {
		c.say("%s", sentence(clean(wrong)))
		return
	}
	r := x.currentRow()
	// Until it is answered: if it is refused the text is offered again, and a plan that comes is the doing of this value.
	c.sentFix = &typedFor{x.Path, r.Label(), r.Now}
	asks := events.Fix{Values: values}
	value := sayLine(r.Now)
	if r.Secret {
		value = "(hidden)"
	}
	c.say("%s is %s %s; no file is changed.", clean(r.Label()), value, x.forWhat(reach))
	c.send(asks)
}

// fixRefused keeps what was typed, and says how to go on from it.
func (c *fixes) fixRefused() {
	sent := c.sentFix
	if c.sentFix = nil; sent == nil || sent.label == "" {
		return
	}
	c.refusedFix = sent
	c.say("what you typed is kept: edit %s continues from it.", clean(sent.label))
}
