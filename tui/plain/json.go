package plain

import (
	"bufio"
	"io"

	"moon/events"
	"moon/plan"
)

// JSON writes every event as one line and nothing else. It reads at the writer's pace.
func JSON(w io.Writer, planFor func(digest string) *plan.Plan, feed <-chan []events.Record) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var p *plan.Plan
	var left uint64 // records that say nothing new
	for batch := range feed {
		for _, r := range batch {
			if r.Again {
				left++
				continue
			}
			if loaded, ok := r.Event.(events.PlanLoaded); ok {
				p = planFor(loaded.Digest)
			}
			r.Seq -= left // readers count on it to find gaps
			line, err := r.JSON(whereOf(p, r.Step))
			if err != nil {
				return err
			}
			out.Write(line)
			out.WriteByte('\n')
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// whereOf says what a step is to a reader that has no plan.
func whereOf(p *plan.Plan, step int) events.Where {
	if p == nil || step < 0 || step >= len(p.Steps) {
		return events.Where{}
	}
	s := &p.Steps[step]
	chain := s.Origin.Chain
	if chain == nil {
		chain = []string{}
	}
	// Programs get an empty list, and never null.
	return events.Where{
		Items: p.Items(step),
		Step:  s.ID(), Path: s.Path, Host: s.Host, Delegate: s.Delegate,
		Origin: &events.Origin{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column, Chain: chain},
	}
}
