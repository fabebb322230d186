package console

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"moon/events"
)

// console is where what happens and what is typed come together.
type console struct {
	*speaker
	*reporter
	*requests
	*dialogue
	announcer *announcer
	exit      *exit
	view      *viewer
	fixes     *fixes
	watches   *watches
	commands  *commands

	programs    *programs
	values      *values
	outputs     *outputs
	decisions   *decisions
	breakpoints *breakpoints
	control     *control

	hide func(on bool) // whether the terminal shows what is typed

	waits     *string // a line that was typed and not yet taken
	inputOver bool
}

func newConsole(o Options) *console {
	d := &knownRun{
		now: o.Now, others: o.Others,
		sources: sources{Forecast: o.Forecast, PredictAll: o.PredictAll, Why: o.Why, Bind: o.Bind, Predict: o.Predict},
	}
	if d.now == nil {
		d.now = time.Now
	}
	// One is kept: a round that ends while the loop is busy must not be lost, and two are worth saying once.
	d.predictedAll = make(chan struct{}, 1)
	t := &titles{knownRun: d}
	t.setPlan(o.Plan)
	s := &speaker{
		w: bufio.NewWriter(o.Out), redact: o.Redact, width: o.Width, terminal: o.Terminal, person: o.Person,
		lent: func(do func()) { do() },
	}
	st := &reporter{titles: t, canShell: o.Shell != nil && o.Person}
	find, r, q, happened := &finder{t}, &requests{out: o.Send, digest: func() string { return d.plan.Digest }}, &dialogue{}, &past{}

	c := &console{speaker: s, reporter: st, requests: r, dialogue: q, hide: func(bool) {}}
	c.exit = &exit{speaker: s, reporter: st, requests: r, dialogue: q}
	c.view = &viewer{speaker: s, reporter: st, find: find, past: happened}
	c.watches = &watches{speaker: s, titles: t, eval: o.Eval}
	c.programs = &programs{
		speaker: s, titles: t, requests: r, find: find, in: o.In, out: o.Out, openEditor: o.Editor, openShell: o.Shell, reload: o.Reload,
	}
	c.fixes = &fixes{speaker: s, reporter: st, requests: r, dialogue: q, find: find, programs: c.programs, preview: o.Preview}
	printed := &follow{speaker: s, titles: t, outDir: o.OutDir, on: o.Follow}
	c.outputs = &outputs{speaker: s, reporter: st, find: find, follow: printed, outDir: o.OutDir}
	c.announcer = &announcer{
		speaker: s, reporter: st, requests: r, exit: c.exit, fixes: c.fixes, watches: c.watches, follow: printed, past: happened,
		planFor: o.PlanFor, mode: o.Mode,
	}
	c.values = &values{speaker: s, titles: t, find: find}
	c.decisions = &decisions{speaker: s, reporter: st, requests: r, find: find}
	c.breakpoints = &breakpoints{speaker: s, titles: t, requests: r, find: find}
	c.control = &control{speaker: s, reporter: st, requests: r, find: find}
	c.commands = &commands{speaker: s}
	// Last, as what the verbs do is bound to the parts above.
	c.commands.verbs = c.listVerbs()
	return c
}

// handleInterrupt is ctrl-c: it asks like quit, and does not ask again.
func (c *console) handleInterrupt() {
	asked := c.question != nil && c.question.leave || c.stopping > 0
	// What was typed ahead was meant for what is interrupted now.
	c.question, c.waits = nil, nil
	if c.person { // the terminal has written ^C
		c.prompted = true
	}
	switch {
	case !c.announcer.opened:
		// Nothing has been said yet that a person could decide about.
		c.exit.stopRun(events.StopInterrupt, true)
	case !asked:
		c.exit.askQuit("")
	default:
		c.exit.stopRun(events.StopNow, true)
		c.say("stopping now.")
		c.exit.forced = c.stopping > 2 && c.run.Phase != events.Done
	}
}

// showPrompt invites to type, where somebody can and the run waits for it.
func (c *console) showPrompt() {
	if c.person && c.announcer.opened && !c.prompted && !c.inputOver && !c.exit.leaving && c.waits == nil && c.atRest() {
		c.prompted = true
		fmt.Fprint(c.w, "> ")
	}
	// With or without a prompt: what was said in this round is still in the buffer.
	c.flush()
}

// atRest reports whether nothing happens before somebody says something.
func (c *console) atRest() bool {
	switch {
	case c.exit.closed:
		return true
	case c.asked > 0, c.run.Counts.Running > 0, c.coming != "":
		return false
	case c.run.Phase == events.Running:
		return c.position().Gate() >= 0
	}
	return c.run.Phase != events.Done // its feed is about to end
}

// mayAct reports whether a line is to be taken now: when it is known what the one before has led to. A person's acts then.
// In a script what comes after run is meant for what the run has come to; and a script sees what is predicted, however long
// that takes.
func (c *console) mayAct(line string) bool {
	// Once the feed has ended no answer comes any more, and the line would wait for ever.
	if c.asked > 0 && !c.exit.closed {
		return false
	}
	v, _, _ := c.commands.lookUp(line)
	if c.person || v != nil && v.atOnce && c.question == nil {
		return true
	}
	return c.atRest() && (v == nil || !v.predicts || !c.predicted.Busy())
}

// takeLine does what a line says.
func (c *console) takeLine(line string) {
	if c.person && line != endOfInput {
		c.prompted = false // the terminal has gone on to a new line
	}
	text := strings.TrimSpace(line)
	// No terminal has echoed the lines of a script, and what is said would be answers without questions.
	if !c.person {
		c.say("> %s", c.repeatLine(text))
	}
	switch {
	case c.question != nil:
		c.answerQuestion(line, text)
	case line == endOfInput:
		c.exit.askQuit("")
	case text == "":
		c.view.sayWhere("")
	default:
		c.obeyLine(text)
	}
}

func (c *console) answerQuestion(line, text string) {
	q := c.question
	switch {
	case line == endOfInput:
		c.question = nil
		c.say("never mind.")
	case text == "" && q.again != "":
		c.say("%s", q.again)
	case q.answer(text):
		// Taking the answer may have asked the next question.
		if c.question == q {
			c.question = nil
		}
	}
}

func (c *console) obeyLine(text string) {
	v, args, why := c.commands.lookUp(text)
	if v == nil {
		c.say("%s", why)
		return
	}
	if v.takes == "" && args != "" { // step 3 must not run another step
		c.say("%s takes nothing after it, and %s was typed. nothing was done.", v.name, clean(args))
		return
	}
	if v.asks && c.run.Phase == events.Done {
		c.say("the run has ended. summary, output, diff or quit.")
		return
	}
	v.do(args)
}

// handleTick is a second that has gone by.
func (c *console) handleTick(now time.Time) {
	c.announcer.flushLate(now)
	c.announcer.follow.readAll(c.announcer.telling.left == 0)
	c.announcer.sayProgress(now)
}

// repeatLine is a line of a script as it is said again: without a secret that stands in it.
func (c *console) repeatLine(text string) string {
	if c.question != nil && c.question.secret && text != "" {
		return "(hidden)"
	}
	v, args, _ := c.commands.lookUp(text)
	a := readFixArgs(args)
	if v == nil || v.name != "edit" && v.name != "set" || !a.given {
		return clean(text)
	}
	// Whether a value is secret is not seen from its name: the form has that from the plan.
	f, _, why := c.fixes.formOf(a.of)
	if why != "" {
		return clean(text)
	}
	if x, _ := c.fixes.valueNamed(f, a); x == nil || !x.currentRow().Secret {
		return clean(text)
	}
	left, _, _ := strings.Cut(text, "=")
	return clean(left) + "=(hidden)"
}
