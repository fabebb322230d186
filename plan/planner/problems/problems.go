package problems

import (
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Collector collects the mistakes of a plan that is being made, each once however many hosts and rounds come across it.
type Collector struct {
	Host  string // of the step that is planned, in plays; "" in the step form
	Found diag.List
	Full  bool // MaxSteps, or what may be repeated, is exceeded; said once

	plan    *plan.Plan       // that is being made
	blamed  map[blame]blamed // what has been reported
	lacking []lacking        // names that were undefined
}

// New collects for a plan.
func New(p *plan.Plan) *Collector { return &Collector{plan: p, blamed: map[blame]blamed{}} }

// blame is a mistake as it is written. Each host and each round of a loop comes across it, perhaps with another value.
type blame struct {
	pos      diag.Pos
	severity diag.Severity
	format   string
}

// blamed is who came across it first.
type blamed struct {
	at    int // in the list of diagnostics
	host  string
	steps int // how many were planned by then
}

// lacking is a name that was undefined where it was used.
type lacking struct {
	pos   diag.Pos
	name  string
	steps int // how many were planned by then
}

// Report reports a mistake. What is too much is said once for the whole plan: nothing that comes after it is planned.
func (p *Collector) Report(d diag.Diagnostic) {
	if value.TooMuch(d.Message) {
		if p.Full {
			return
		}
		p.Full = true
	}
	p.Blame(d.Message, d)
}

// Errorf reports an error at a place. Its format stands for the mistake: what differs by host or round is in args.
func (p *Collector) Errorf(pos diag.Pos, width int, chain []string, hint, format string, args ...any) {
	p.Blame(format, diag.Diagnostic{Pos: pos, Width: width, Message: fmt.Sprintf(format, args...), Hint: hint, Chain: chain})
}

// Blame reports a mistake, unless another host or another round of a loop has come across it: then it is counted.
func (p *Collector) Blame(format string, d diag.Diagnostic) {
	key := blame{d.Pos, d.Severity, format}
	first, seen := p.blamed[key]
	// What is only tried out takes back what it has reported, so that the place may be another's.
	seen = seen && first.at < len(p.Found) && p.Found[first.at].Pos == d.Pos
	if !seen || d.Pos.Line < 1 || first.host == p.Host && first.steps == len(p.plan.Steps) {
		if !seen {
			p.blamed[key] = blamed{len(p.Found), p.Host, len(p.plan.Steps)}
		}
		p.Found.Add(d)
		return
	}
	if p.Found[first.at].Message != d.Message {
		p.Found[first.at].Others++
	}
}

// Excuse reports what do finds, as mistakes for which the task fails where it is reached: warnings that say why that may be, if do fails
// for nothing but undefined names. That is the message then.
func (p *Collector) Excuse(why string, do func() bool) (message string) {
	before := p.Found
	p.Found = nil
	ok := do()
	said := p.Found
	p.Found = before
	isOther := func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !strings.Contains(d.Message, "undefined variable")
	}
	fails := !ok && len(said) > 0 && !slices.ContainsFunc([]diag.Diagnostic(said), isOther)
	if fails {
		message = said[0].Message
	}
	for _, d := range said {
		if fails {
			d.Severity, d.Message = diag.Warning, d.Message+why
		}
		p.Report(d)
	}
	return message
}

// Lack notes an undefined name.
func (p *Collector) Lack(v playbook.Value, e *value.Error) {
	if e.Kind == value.UndefinedError && e.Offset >= 0 && e.Offset <= len(v.Text()) {
		p.lacking = append(p.lacking, lacking{v.PosAt(e.Offset), e.Name, len(p.plan.Steps)})
	}
}

// HintAtLater finds the names that only a later step registers or sets: they are not misspelt, but used too early.
func (p *Collector) HintAtLater() {
	if len(p.lacking) == 0 {
		return
	}
	last := map[string]int{} // the last step that gives a name
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		if s.Register != "" {
			last[s.Register] = i
		}
		if s.Action != "set_fact" || s.Task == nil || s.Task.Compiled == nil {
			continue
		}
		for _, g := range s.Task.Args {
			last[g.Name] = i
		}
	}
	for _, l := range p.lacking {
		step, ok := last[l.name]
		if !ok || step < l.steps || strings.Contains(l.name, ".") {
			continue
		}
		s := &p.plan.Steps[step]
		way := fmt.Sprintf("`%s` is set only by the step at %s:%d, which comes later: use it after that step", l.name, s.Origin.File,
			s.Origin.Line)
		if s.Register == l.name {
			way = fmt.Sprintf("`%s` is registered only by the step at %s:%d, which comes later: use it after that step", l.name,
				s.Origin.File, s.Origin.Line)
		}
		for i := range p.Found {
			if d := &p.Found[i]; d.Pos == l.pos && strings.HasPrefix(d.Message, "undefined variable `"+l.name+"`") {
				d.Hint = way
			}
		}
	}
}
