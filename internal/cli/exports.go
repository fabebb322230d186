package cli

import (
	"encoding/json"
	"io"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// exportFlags are where the values go that a playbook exports.
type exportFlags struct {
	Exports string `type:"path" placeholder:"FILE" help:"On success, write the exports of the playbook to a file, as JSON."`
}

// check refuses what could only fail at the end.
func (f *exportFlags) check(p *plan.Plan, o fact.Options) error {
	switch {
	case f.Exports == "":
		return nil
	case len(p.Exports) == 0:
		return usage("--exports: %s exports nothing\n  hint: name variables under `exports:` of the playbook", p.RootFile)
	case o.Check:
		return usage("--exports: a dry run gives no values")
	}
	return nil
}

// write writes the exports of a run that is done. Of any other the file of an earlier run stays as it is.
func (f *exportFlags) write(s *engine.Session, r events.RunCompleted) error {
	if f.Exports == "" || r.Outcome != events.RunDone {
		return nil
	}
	values, err := s.Exports()
	if err != nil {
		return &exit{exitFailed, err.Error()}
	}
	err = writeFile(f.Exports, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(values)
	})
	return wrapDisk(err)
}
