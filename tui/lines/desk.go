package lines

import (
	"bufio"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"moon/events"
	"moon/plan"
	"moon/tui/standing"
)

// desk is where what happens and what is typed come together.
type desk struct {
	o    Options
	w    *bufio.Writer
	now  func() time.Time
	lent func(do func()) // something has the terminal while it runs
	hide func(on bool)   // whether the terminal shows what is typed

	plan      *plan.Plan
	others    standing.OtherFiles
	overHosts bool // its steps are called with theirs
	outline   *outline
	run       events.Run
	estimate  *events.Estimate // nil: nothing is known of earlier runs
	foretold  foretold
	past      past
	lack      lacking
	telling   telling
	follow    follow
	watches   []string // expressions that are said at each pause

	question *question // is asked, and the next line is its answer
	rest     []string  // of a long list
	waits    *string   // a line that was typed and not yet taken
	asked    int       // commands without an answer yet
	coming   string    // the digest of a plan that was made, and that the feed will bring

	sentFix    *typedFor // has no answer yet
	refusedFix *typedFor // was typed, and not taken

	prompted bool // the prompt is the last thing in the terminal

	opened    bool // the review was told
	inputOver bool
	closed    bool // nothing more will come
	leaving   bool
	forced    bool
	stopping  int // how often a stop was asked for
	failure   error
}

// question is something that a person is asked.
type question struct {
	again  string // what to say to an empty line; "": that is an answer too
	answer func(text string) (done bool)
	leave  bool // it is whether to leave
	secret bool // the answer is shown and kept nowhere
}

func newDesk(o Options) *desk {
	d := &desk{o: o, now: o.Now, w: bufio.NewWriter(o.Out), lent: func(do func()) { do() }, hide: func(bool) {}}
	if d.now == nil {
		d.now = time.Now
	}
	d.telling.following = o.Follow
	d.foretold.news = make(chan struct{}, 1)
	d.setPlan(o.Plan)
	d.others = standing.OtherFilesOf(o.Earlier, o.Plan)
	return d
}

func (d *desk) setPlan(p *plan.Plan) {
	d.plan, d.outline, d.estimate = p, newOutline(p), nil
	d.overHosts = standing.OverHosts(p)
	if d.o.Forecast != nil {
		if f := d.o.Forecast(p.Digest); f != nil {
			d.estimate = events.NewEstimate(*f)
		}
	}
	d.foretold.halt() // it was about another plan
}

// say prints a line.
func (d *desk) say(format string, args ...any) {
	if d.prompted {
		d.prompted = false
		fmt.Fprintln(d.w)
	}
	text := fmt.Sprintf(format, args...)
	if d.o.Redact != nil { // before whoever writes it does, whose mask cannot be read aloud
		text = spoken.Replace(d.o.Redact(text))
	}
	for _, line := range wrap(text, d.width()) {
		fmt.Fprintln(d.w, line)
	}
}

// width is how many characters a line may have; 0: any number.
func (d *desk) width() int {
	if d.o.Width == nil {
		return 0
	}
	return d.o.Width()
}

// wrap breaks a line between words: a terminal breaks in them, and what is read line by line is then no word at all.
func wrap(text string, width int) (lines []string) {
	if width < 20 { // nothing can be read in less
		return []string{text}
	}
	for utf8.RuneCountInString(text) > width {
		at, end, n := 0, 0, 0
		for i, r := range text {
			if r == ' ' && strings.TrimSpace(text[:i]) != "" {
				at = i
			}
			if end = i; n == width {
				break
			}
			n++
		}
		if at == 0 {
			at = end // one word
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = strings.TrimLeft(text[at:], " ")
	}
	return append(lines, text)
}

// flush shows what was said. Whoever reads it may be gone.
func (d *desk) flush() {
	if err := d.w.Flush(); err != nil && d.failure == nil {
		d.failure = fmt.Errorf("say: %w", err)
	}
}

// prompt invites to type, where somebody can and the run waits for it.
func (d *desk) prompt() {
	if d.o.Person && d.opened && !d.prompted && !d.inputOver && !d.leaving && d.waits == nil && d.atRest() {
		d.prompted = true
		fmt.Fprint(d.w, "> ")
	}
	d.flush()
}

// page is how many lines are said at once: more cannot be listened to.
const page = 20

// list says lines, and keeps what does not fit a page for more.
func (d *desk) list(lines []string) {
	if len(lines) > page+1 { // the last one is shorter than saying that there is one
		lines, d.rest = lines[:page], lines[page:]
	} else {
		d.rest = nil
	}
	for _, line := range lines {
		d.say("%s", line)
	}
	if len(d.rest) > 0 {
		d.say("more continues: %s.", count(len(d.rest), "line"))
	}
}

func (d *desk) more(string) {
	if len(d.rest) == 0 {
		d.say("there is no more.")
		return
	}
	d.list(d.rest)
}

// lend gives the terminal away until whoever asked for it is done.
func (d *desk) lend(do func()) {
	if d.prompted {
		d.prompted = false
		fmt.Fprintln(d.w)
	}
	d.flush()
	d.lent(do)
}

// send gives the run a command. Until it is answered the run is not at rest: nobody knows what it will do.
func (d *desk) send(c events.Command) {
	d.asked++
	d.o.Send(c)
}

// atRest reports whether nothing happens before somebody says something.
func (d *desk) atRest() bool {
	switch {
	case d.closed:
		return true
	case d.asked > 0, d.run.Counts.Running > 0, d.coming != "":
		return false
	case d.run.Phase == events.Running:
		return d.gate() >= 0
	}
	return d.run.Phase != events.Done // its feed is about to end
}

// gate is the first step that asks whether to go on, or -1.
func (d *desk) gate() int {
	for i := range d.run.Steps {
		if s := &d.run.Steps[i]; s.State == events.Held && s.Hold == events.PauseUser {
			return i
		}
	}
	return -1
}

// mayAct reports whether a line is to be taken now: when it is known what the one before has led to. A person's acts then.
// In a script what comes after run is meant for what the run has come to; and a script sees what is foretold, however long
// that takes.
func (d *desk) mayAct(line string) bool {
	if d.asked > 0 && !d.closed {
		return false
	}
	v, _, _ := lookUp(line)
	if d.o.Person || v != nil && v.atOnce && d.question == nil {
		return true
	}
	return d.atRest() && (v == nil || !v.foretells || !d.foretold.busy())
}

// take does what a line says.
func (d *desk) take(line string) {
	if d.o.Person && line != endOfInput {
		d.prompted = false // the terminal has gone on to a new line
	}
	text := strings.TrimSpace(line)
	if !d.o.Person {
		d.say("> %s", d.repeated(text))
	}
	switch {
	case d.question != nil:
		d.answer(line, text)
	case line == endOfInput:
		d.quit("")
	case text == "":
		d.where("")
	default:
		d.obey(text)
	}
}

func (d *desk) answer(line, text string) {
	q := d.question
	switch {
	case line == endOfInput:
		d.question = nil
		d.say("never mind.")
	case text == "" && q.again != "":
		d.say("%s", q.again)
	case q.answer(text):
		if d.question == q {
			d.question = nil
		}
	}
}

func (d *desk) obey(text string) {
	v, args, why := lookUp(text)
	if v == nil {
		d.say("%s", why)
		return
	}
	if v.takes == "" && args != "" { // step 3 must not run another step
		d.say("%s takes nothing after it, and %s was typed. nothing was done.", v.name, clean(args))
		return
	}
	if v.asks && d.run.Phase == events.Done {
		d.say("the run has ended. summary, output, diff or quit.")
		return
	}
	v.do(d, args)
}

// tick is a second that has gone by.
func (d *desk) tick(now time.Time) {
	d.telling.flushLate(d, now)
	d.follow.all(d)
	d.telling.progress(d, now)
}
