package given

import (
	"maps"
	"path/filepath"

	"moon/plan"
	"moon/plan/found"
	"moon/secret"
)

// Complete gives options what they may omit. What planning adds to them is theirs, and not that of the caller.
func Complete(o *plan.Options) {
	if o.MaxSteps == 0 {
		o.MaxSteps = plan.DefaultMaxSteps
	}
	if o.Secrets == nil {
		o.Secrets = secret.NewSet()
	}
	// With a selection the plan is made twice, and no question is asked twice.
	o.Values.Answers, o.Facts.Asked = maps.Clone(o.Values.Answers), map[string]plan.Gathered{}
	if o.Facts.Findings = maps.Clone(o.Facts.Findings); o.Facts.Findings == nil {
		o.Facts.Findings = map[string]found.Result{}
	}
	if o.Facts.Stored == nil { // shared with plans that are made again: see connect.Connector
		o.Facts.Stored = map[string]map[string]any{}
	}
	if o.Values.Answers == nil {
		o.Values.Answers = map[string]string{}
	}
}

// Place says where the playbook is that options name, and writes it into the plan. If the disk is closed nothing is asked of it.
func Place(p *plan.Plan, o *plan.Options, closed bool) (path string) {
	if o.Path == "-" {
		p.Root, p.RootFile = o.Dir, "-"
		return o.Path
	}
	path = o.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	// The shell's name for the directory may be a link; the plan is the same from wherever it is made.
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && !closed {
		path = filepath.Join(real, filepath.Base(path))
	}
	p.Root, p.RootFile = filepath.Dir(path), filepath.Base(path)
	return path
}
