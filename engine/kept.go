package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events/rundir"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
)

// Kept is what a run's directory holds of a plan: enough to make it again.
type Kept struct {
	Format  int            `json:"format"`
	Moon    string         `json:"moon"`
	Root    string         `json:"root"`
	Digest  string         `json:"digest"`
	Sources *saved.Sources `json:"sources"`
}

// NotKeptError says why a plan of a run cannot be made again.
type NotKeptError struct{ Why string }

func (e *NotKeptError) Error() string { return e.Why }

// keep stores what a plan was made from, before the first record that names it. A plan that uses all of the environment
// at once, or was given a secret by a flag, is not kept: the run goes on, and can be resumed only as long as its playbook plans as it did.
func (s *ledger) keep(p *plan.Plan) error {
	sources, err := saved.Of(p)
	if _, whole := errors.AsType[*saved.WholeError](err); whole {
		return nil
	}
	if _, hidden := errors.AsType[*saved.SecretError](err); hidden {
		return nil
	}
	if err := sources.TakeTexts(s.storeText); err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	text, err := json.Marshal(Kept{plan.Format, s.cfg.Version, p.Root, p.Digest, sources})
	if err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	if err := s.cfg.Disk.MkdirAll(rundir.Plans(s.dir)); err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	if err := s.cfg.Disk.Put(rundir.Plan(s.dir, p.Digest), text); err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	return nil
}

// storeText keeps the text of a file once, however many plans the run has.
func (s *ledger) storeText(f *saved.SourceFile, text []byte) (name string, err error) {
	if name = s.texts[f.Digest]; name == "" {
		if name, err = s.blobs().Store(text); err == nil {
			s.texts[f.Digest] = name
		}
	}
	return name, err
}

// ReadKept gives what a run keeps of a plan. The error is a *NotKeptError where there is nothing that could be used.
func ReadKept(dir, digest string) (*Kept, error) {
	text, err := os.ReadFile(rundir.Plan(dir, digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotKeptError{"the run does not keep what its plan was made from"}
	}
	if err != nil {
		return nil, fmt.Errorf("read the run's plan: %w", err)
	}
	var k Kept
	if err := json.Unmarshal(text, &k); err != nil || k.Sources == nil {
		return nil, &NotKeptError{"the run's plan was damaged"}
	}
	if err := k.Sources.GiveTexts(journal.Disk{}.BlobsBeside(rundir.Journal(dir)).Load); err != nil {
		return nil, &NotKeptError{"the run's plan was damaged"}
	}
	if k.Format != plan.Format {
		return nil, &NotKeptError{fmt.Sprintf("the run's plan has format %d, of moon %s; this moon knows %d", k.Format, k.Moon,
			plan.Format)}
	}
	return &k, nil
}

// Plan makes the same plan again.
func (k *Kept) Plan(here plan.Options) (*plan.Plan, *graph.Graph, error) {
	return k.PlanFrom(nil, here)
}

// PlanFrom is Plan with another plan of the run, which may be nil: what is the same in both is taken from there.
func (k *Kept) PlanFrom(other *plan.Plan, here plan.Options) (*plan.Plan, *graph.Graph, error) {
	p, ds, err := planner.ReplayFrom(other, k.Sources, k.Root, here)
	switch {
	case other != nil && (p == nil || p.Digest != k.Digest): // it did not help
		return k.Plan(here)
	case err != nil:
		return nil, nil, &NotKeptError{err.Error()}
	case p == nil:
		return nil, nil, &NotKeptError{"the run's plan cannot be made again: " + firstMistake(ds)}
	// A newer moon may plan the same files in another way. A run is continued only with the plan that was approved.
	case p.Digest != k.Digest:
		return nil, nil, &NotKeptError{fmt.Sprintf("moon %s made the run's plan, and this moon plans differently", k.Moon)}
	}
	g, err := graph.Build(p)
	if err != nil {
		return nil, nil, &NotKeptError{err.Error()}
	}
	return p, g, nil
}

func firstMistake(ds diag.List) string {
	for _, d := range ds {
		if d.Severity == diag.Error {
			return fmt.Sprintf("%s:%d: %s", d.Pos.File, d.Pos.Line, d.Message)
		}
	}
	return "it has no steps"
}

// Remade has the plans of a run that is resumed or looked at. Each is made when it is asked for, from the one that was made before it, and
// only the last are held: a run with many open loops has many, each with all steps. It may be used from anywhere.
type Remade struct {
	// Make makes a plan by its digest. It may take over what it can from another of the run, which may be nil; required.
	Make func(digest string, other *plan.Plan) (*plan.Plan, *graph.Graph, error)

	mu   sync.Mutex
	held []planned // in the order in which they were asked for
}

// By is the plan with the digest.
func (r *Remade) By(digest string) (*plan.Plan, *graph.Graph, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range r.held {
		if p.plan.Digest == digest {
			r.held = append(slices.Delete(r.held, i, i+1), p)
			return p.plan, p.graph, nil
		}
	}
	var other *plan.Plan
	if n := len(r.held); n > 0 {
		other = r.held[n-1].plan
	}
	p, g, err := r.Make(digest, other)
	if err != nil {
		return nil, nil, err
	}
	r.hold(planned{p, g})
	return p, g, nil
}

// hold keeps a plan, and of the others the last. There are always two: one that is followed, and the one that takes its place.
func (r *Remade) hold(p planned) {
	r.held = append(r.held, p)
	steps := 0
	for i, one := range slices.Backward(r.held) {
		if steps += len(one.plan.Steps); steps > mostHeld && i < len(r.held)-2 {
			r.held = slices.Clone(r.held[i+1:])
			return
		}
	}
}
