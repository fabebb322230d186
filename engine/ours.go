package engine

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/engine/history"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec"
	"moon/plan"
	"moon/plan/source"
)

// ours knows which files on this machine the steps of a run may have changed: those that a step has said to be its own, and whatever was
// changed while one ran here. A step that reads such a file later reads what the plan meant it to read, even if nobody could know its
// content when the plan was approved. Any other change comes from outside.
type ours struct {
	mu    sync.Mutex
	spans []span
	said  map[string]string // paths that steps have made, changed or named, and the paths of those steps
}

// span is the time in which a step ran.
type span struct {
	step     string // its path
	from, to time.Time
}

// grain is how far the clock of a file system may be behind: it is only moved on with the ticks of the kernel.
const grain = 20 * time.Millisecond

func newOurs() *ours { return &ours{said: map[string]string{}} }

// see takes note of what a record says of a step that runs on this machine.
func (o *ours) see(p *plan.Plan, check bool, r fact.Record) {
	step := state.StepOf(r.Fact)
	if p == nil || step < 0 || step >= len(p.Steps) || !changesHere(&p.Steps[step], check) {
		return
	}
	ps := &p.Steps[step]
	o.mu.Lock()
	defer o.mu.Unlock()
	switch f := r.Fact.(type) {
	case fact.AttemptStarted:
		o.spans = append(o.spans, span{step: ps.Path, from: r.At})
	case fact.AttemptFinished:
		// Backwards: the open span of a step is the last one.
		for i := len(o.spans) - 1; i >= 0; i-- {
			if o.spans[i].step == ps.Path && o.spans[i].to.IsZero() {
				o.spans[i].to = r.At
				break
			}
		}
		for _, made := range f.Resources {
			if made.Type == events.FileResource {
				o.said[made.Name] = ps.Path
			}
		}
	default:
	}
}

// cut ends the spans of steps whose end nobody has seen: what happened to their files since is not theirs.
func (o *ours) cut(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.spans {
		if o.spans[i].to.IsZero() {
			o.spans[i].to = at
		}
	}
}

// changesHere reports whether a step may change files of this machine.
func changesHere(ps *plan.Step, check bool) bool {
	return !ps.Dry(check) && ps.Conn == nil && !exec.Inward(ps.Action)
}

// declares takes note of the paths that a step on this machine names as what it makes.
func (o *ours) declares(ps *plan.Step, call *plan.Call) {
	if !changesHere(ps, false) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range []string{"dest", "path"} {
		if path, ok := call.Raw[name].(string); ok && filepath.IsAbs(path) {
			o.said[filepath.Clean(path)] = ps.Path
		}
	}
	for _, path := range append([]string{call.Creates}, call.Generates...) {
		if path != "" {
			o.said[fixedPart(path)] = ps.Path
		}
	}
}

// fixedPart is a pattern up to the directory in which its first wildcard is.
func fixedPart(pattern string) string {
	i := strings.IndexAny(pattern, "*?[{")
	if i < 0 {
		return filepath.Clean(pattern)
	}
	return filepath.Dir(pattern[:i] + "x")
}

// by is the path of the step of this run that may have made a change; it is not ok if none has.
func (o *ours) by(c source.Change) (step string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// A step that wrote a directory accounts for what is below it.
	for path := c.Path; ; path = filepath.Dir(path) {
		if step, ok = o.said[path]; ok {
			return step, true
		}
		if path == "/" || path == "." {
			break
		}
	}
	if c.At.IsZero() {
		return "", false
	}
	for _, s := range o.spans {
		// File systems keep coarser times than the clock, so a change may seem older than the step that made it.
		if !c.At.Before(s.from.Add(-grain)) && (s.to.IsZero() || !c.At.After(s.to)) {
			return s.step, true
		}
	}
	return "", false
}

// all reports whether steps of this run have made all of some changes, and names one of those steps.
func (o *ours) all(changes []source.Change) (step string, ok bool) {
	for _, c := range changes {
		if step, ok = o.by(c); !ok {
			return "", false
		}
	}
	return step, len(changes) > 0
}

// adopt is what a plan that is made again takes a source for: where steps of this run have changed it, what it was, so that a step
// that has read it stays the same.
func (o *ours) adopt(p *plan.Plan) func(now *source.Source) *source.Source {
	reads := p.Basis.Disk.Reads // and not the plan: the next one keeps this function, and would keep all plans before it
	return func(now *source.Source) *source.Source {
		seen := reads[source.ReadKey{Path: now.Path, Parts: now.Parts}]
		if seen == nil || seen.Digest == now.Digest {
			return now
		}
		was := seen.Source
		changes := was.Changes(now)
		if was.Digest == "" {
			changes = now.New()
		}
		if _, own := o.all(changes); own {
			return was
		}
		return now
	}
}

// Adopt is what a plan that is made again for a past run takes what steps read for: see plan.Options.Reads. planned gives the plans of
// the run by their digests.
func Adopt(past history.Past, planned func(digest string) (*plan.Plan, error)) (func(now *source.Source) *source.Source, error) {
	r, err := journal.Open(rundir.Journal(past.Dir))
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	o := newOurs()
	var current *plan.Plan
	var last time.Time
	check := false
	for {
		rec, err := r.Next()
		var damaged *journal.DamageError
		if errors.Is(err, io.EOF) || errors.As(err, &damaged) {
			break
		}
		if err != nil {
			return nil, err
		}
		digest := ""
		switch f := rec.Fact.(type) { //nolint:gochecksumtype // the others have no plan
		case fact.RunCreated:
			digest, check = f.Digest, f.Options.Check
		case fact.RunReplanned:
			digest = f.Digest
		case fact.RunResumed:
			digest, check = f.Digest, f.Options.Check
			o.cut(last)
		}
		if digest != "" {
			if current, err = planned(digest); err != nil {
				return nil, err
			}
		}
		o.see(current, check, rec)
		last = rec.At
	}
	o.cut(last)
	return o.adopt(current), nil
}
