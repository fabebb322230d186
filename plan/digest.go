package plan

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"moon/plan/eval/value"
)

// Hide takes out what no_log keeps from being shown and stored. Running the step renders it from what is written.
func (s *Step) Hide() {
	s.Args, s.Env, s.Uses = nil, nil, nil
	for i := range s.Overridden {
		s.Overridden[i].Was, s.Overridden[i].Now = nil, nil
	}
	s.Summary = s.Action + " (hidden by no_log)"
	if s.Undo != nil {
		s.Undo.Args, s.Undo.Summary = nil, s.Undo.Action+" (hidden by no_log)"
	}
	if s.Loop != nil {
		s.Loop.Item, s.Loop.Ordered = nil, nil
	}
	if s.InLoop != nil {
		// A copy, as all steps inside the loop share it.
		bare := *s.InLoop
		bare.Item, bare.Ordered = nil, nil
		s.InLoop = &bare
	}
}

// ComputeDigest is over the steps and their order, not over the place or the wording around them.
func (p *Plan) ComputeDigest() string {
	sum := sha256.New()
	h := bufio.NewWriterSize(sum, 1<<16)
	fmt.Fprintf(h, "moon plan %d\n%s\n%s\n", Format, p.RootFile, p.Strategy)
	if p.Basis != nil { // or it was put together by hand
		p.Basis.Called.Write(h)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, part := range [...]string{s.Digest, " ", s.Path, "\n"} {
			h.WriteString(part) //nolint:errcheck // the digest takes everything
		}
		// Needs are about the order, so they count here, and not in the digest of the step.
		for _, n := range s.Needs {
			n.writeTo(h)
		}
		// A loop over nothing adds no steps, and is another plan all the same: nothing is open any more.
		if s.Place != nil && s.Place.Opened {
			fmt.Fprintf(h, "opened %d\n", s.Place.Items)
		}
		if s.Adds != nil && s.Adds.Opened {
			fmt.Fprintln(h, "added")
		}
	}
	// Scopes decide as well: what runs at once, and which steps a rescue covers.
	for _, s := range p.Scopes {
		fmt.Fprintf(h, "%s %s %d %d %d\n", s.Kind, s.Path, s.First, s.Last, s.Parallel)
		if s.Timeout > 0 {
			fmt.Fprintf(h, "timeout %s\n", s.Timeout)
		}
		for _, n := range s.Needs {
			n.writeTo(h)
		}
	}
	for _, x := range p.Exports {
		x.writeTo(h)
	}
	// What is kept changes nothing, and is not part of what is approved.
	for i := range p.Orphans {
		if o := &p.Orphans[i]; o.Fate != OrphanKept {
			fmt.Fprintf(h, "orphan %s %v\n", o.Fate, o.Keys)
		}
	}
	h.Flush() //nolint:errcheck // as above
	return hex.EncodeToString(sum.Sum(nil))
}

// writeTo adds what is exported as it is written: what it is made of is in the digests of steps.
func (x *Export) writeTo(w io.Writer) {
	text, err := json.Marshal(value.Plain(AsWritten(x.Raw)))
	if err != nil {
		text = []byte(err.Error()) // a value that JSON cannot say is different from all that it can
	}
	fmt.Fprintf(w, "exports %s %s\n", x.Name, text)
}

func (n Need) writeTo(w io.Writer) {
	if n.Scope > 0 {
		fmt.Fprintf(w, "needs scope %d %s\n", n.Scope, n.On)
		return
	}
	fmt.Fprintf(w, "needs %d %s\n", n.Step, n.On)
}

// DigestReads adds what a step reads to what its digest is over.
func (s *Step) DigestReads(k *Task, root string, part func(name, text string)) {
	for _, r := range s.Reads {
		if r.Hidden {
			continue
		}
		text := ShownPath(root, r.Path) + " " + r.Digest
		// Only then does the mode of the file decide what is made of it.
		if mode, ok := s.Args["mode"].(string); ok && mode == "preserve" && !r.IsDir() {
			text += " " + r.Mode
		}
		part("reads", text)
	}
	if k.Renders != nil && !s.NoLog {
		part("renders", k.Renders.Digest)
	}
}
