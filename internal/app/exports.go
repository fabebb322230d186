package app

import (
	"encoding/json"
	"io"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// ExportFile is where the values go that a playbook exports; "" for nowhere.
type ExportFile string

// ExportsToStdout is the export file that is standard output.
const ExportsToStdout ExportFile = "-"

func (f ExportFile) toStdout() bool { return f == ExportsToStdout }

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

// checkOutputs refuses reports that would go to standard output together with the exports. Text gives way to them.
func (f ExportFile) checkOutputs(outs []target) error {
	for _, t := range outs {
		if f.toStdout() && t.file == "" && t.format != "text" && t.format != "github" {
			return Usage("--output %s and --exports both write to standard output; give one of them a file: --output %s:FILE", t.format, t.format)
		}
	}
	return nil
}

// Write writes the exports of a run that is done. After any other the file stays unchanged.
func (f ExportFile) Write(call *Invocation, r events.RunCompleted) error {
	if f == "" || r.Outcome != events.RunDone {
		return nil
	}
	if f.toStdout() {
		return WrapDisk(PrintExports(call.Doc, r.Exports))
	}
	return WrapDisk(call.WriteFile(string(f), func(w io.Writer) error { return PrintExports(w, r.Exports) }))
}

// PrintExports prints values as people and programs read them.
func PrintExports(w io.Writer, values map[string]any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(values)
}
