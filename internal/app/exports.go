package app

import (
	"encoding/json"
	"io"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// ExportFile is where the values go that a playbook exports; "" for nowhere.
type ExportFile string

// Check refuses what could only fail at the end.
func (f ExportFile) Check(p *plan.Plan, o fact.Options) error {
	switch {
	case f == "":
		return nil
	case len(p.Exports) == 0:
		return Usage("--exports: %s exports nothing\n  hint: name variables under `exports:` of the playbook", p.RootFile)
	case o.Check:
		return Usage("--exports: a dry run gives no values")
	}
	return nil
}

// write writes the exports of a run that is done. Of any other the file of an earlier run stays as it is.
func (f ExportFile) write(call *Invocation, s *engine.Session, r events.RunCompleted) error {
	if f == "" || r.Outcome != events.RunDone {
		return nil
	}
	values, err := s.Exports()
	if err != nil {
		return NewExit(ExitFailed, err.Error())
	}
	err = call.WriteFile(string(f), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(values)
	})
	return WrapDisk(err)
}
