package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"moon/engine/graph"
	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
	"moon/plan/show"
	"moon/plan/source"
)

// Saved is a plan that was read back.
type Saved struct {
	Plan  *plan.Plan
	Graph *graph.Graph
	Stale []string // what has changed since the plan was made; to be refused unless the user says otherwise
	Lost  []string // of that, what the plan does not hold: to be refused in any case

	Expected *events.Expectations // what its steps were predicted to do; nil: it was saved without
}

// Write saves a plan, with what its steps were predicted to do, if that is not nil. moon is the version that does. The error may be a
// *plan.WholeError.
func Write(w io.Writer, p *plan.Plan, g *graph.Graph, expected *events.Expectations, moon string) error {
	if expected == nil {
		return show.WriteSaved(w, p, g.JSON, nil, moon)
	}
	return show.WriteSaved(w, p, g.JSON, expected, moon)
}

// header is what is read of a file before the plan is made again.
type header struct {
	Format  int            `json:"format"`
	Moon    string         `json:"moon"`
	Root    string         `json:"root"`
	Moved   source.Moved   `json:"moved"` // from where it was saved, by Move
	Digest  string         `json:"digest"`
	Sources *saved.Sources `json:"sources"`
	Seal    string         `json:"seal"`

	// The one part that planning again cannot give: it is taken as it is, and only the seal says that nobody changed it.
	Expected *events.Expectations `json:"predicted"`
}

// Read reads a saved plan. here is what this machine says of itself, moon the version that reads. Errors are worded for
// the user, as what follows the name of the file; those of *StaleError and *plan.NotKeptError mean that what the plan was
// made from has changed since.
func Read(doc []byte, here plan.Options, moon string) (*Saved, error) {
	var h header
	if err := json.Unmarshal(doc, &h); err != nil {
		return nil, errors.New("it is not a saved plan, or was damaged; make one with moon plan -o FILE")
	}
	switch {
	case h.Format != 0 && h.Sources == nil && h.Seal == "":
		return nil, errors.New("it is a plan to be looked at, without what it was made from; save one with moon plan -o FILE")
	case h.Format == 0 || h.Sources == nil || h.Root == "":
		return nil, errors.New("it is not a saved plan; make one with moon plan -o FILE")
	case h.Format != plan.Format:
		return nil, fmt.Errorf("it has format %d, and this moon (%s) reads format %d; make it again with moon plan -o FILE", h.Format, moon,
			plan.Format)
	case h.Seal != sealOf(doc):
		return nil, errChanged
	}
	if len(h.Moved) > 0 {
		h.Sources.Moved = h.Moved
	}
	p, ds, err := planner.Replay(h.Sources, h.Root, here)
	if err != nil {
		return nil, err
	}
	stale := h.Sources.Stale(h.Root, here)
	if p == nil {
		return nil, notSame(h, moon, stale, firstError(ds))
	}
	g, err := graph.Build(p)
	if err != nil {
		return nil, notSame(h, moon, stale, "")
	}
	// The plan is written again and compared byte by byte: what the file says is what would run.
	if len(h.Moved) > 0 {
		err = sameElsewhere(h, doc, p, g)
	} else {
		same := &comparer{want: doc}
		if err = Write(same, p, g, h.Expected, h.Moon); len(same.want) > 0 {
			err = errDiffers
		}
	}
	if err != nil {
		return nil, notSame(h, moon, stale, "")
	}
	return &Saved{p, g, stale, h.Sources.Unsaved(h.Root, here), h.Expected}, nil
}

var errChanged = errors.New("it was changed after it was saved; make it again with moon plan -o FILE")

// notSame says why planning the sources again gave something else.
func notSame(h header, moon string, stale []string, why string) error {
	switch {
	case h.Moon != moon:
		return fmt.Errorf("moon %s made it, and moon %s plans differently; make it again with moon plan -o FILE", h.Moon, moon)
	case len(stale) > 0:
		return &StaleError{stale}
	case why != "":
		return fmt.Errorf("it does not plan to what it says (%s); make it again with moon plan -o FILE", why)
	}
	return errChanged
}

// StaleError says that a plan cannot be made again because of what has changed since.
type StaleError struct{ What []string }

func (e *StaleError) Error() string { return "its sources have changed" }

func firstError(ds diag.List) string {
	for _, d := range ds {
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return ""
}

// sealOf computes the seal of a file as it is: over all but the third line, which is the root, and the seal itself.
func sealOf(doc []byte) string {
	end := bytes.LastIndex(doc, []byte(",\n  \"seal\": "))
	root := lineStart(doc, 2)
	rest := lineStart(doc, 3)
	if end < 0 || rest > end {
		return ""
	}
	h := sha256.New()
	// The root may be another directory on this machine.
	_, _ = h.Write(doc[:root]) // a hash takes everything
	_, _ = h.Write(doc[rest:end])
	return hex.EncodeToString(h.Sum(nil))
}

// lineStart is where the line begins that follows n others.
func lineStart(doc []byte, n int) int {
	at := 0
	for range n {
		i := bytes.IndexByte(doc[at:], '\n')
		if i < 0 {
			return len(doc)
		}
		at += i + 1
	}
	return at
}

// comparer is written to, and compares. What is left of want at the end was not written.
type comparer struct{ want []byte }

var errDiffers = errors.New("differs")

func (c *comparer) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(c.want, p) {
		return 0, errDiffers
	}
	c.want = c.want[len(p):]
	return len(p), nil
}

// Root is the directory of the playbook of a plan in a file; "" if that is none.
func Root(doc []byte) string {
	var h struct {
		Root string `json:"root"`
	}
	if json.Unmarshal(doc, &h) != nil {
		return "" // reading the plan says why
	}
	return h.Root
}
