package cli

import (
	"path/filepath"

	"moon/engine/statefile"
	"moon/internal/app"
	"moon/plan"
	"moon/plan/prior"
)

// priorState is what runs of a playbook have made before, as an input of its plan.
func (f *planFlags) priorState(playbook string) (plan.Prior, error) {
	p := plan.Prior{Policy: plan.OrphanFate(f.Orphans), Edited: f.Edited, Replace: f.Replace, Destroy: f.destroy, Only: f.built}
	if playbook == "-" { // it has no place, so the next one may be another
		return p, nil
	}
	file, err := stateOf(playbook)
	if err != nil {
		return p, err
	}
	if p.State, err = file.Read(); err != nil {
		return p, app.NewExit(app.ExitDisk, err.Error())
	}
	return p, unknownSteps(&p)
}

// stateOf is the state of a playbook, which may be gone: only its directory is resolved, as planning does.
func stateOf(playbook string) (statefile.File, error) {
	path, err := filepath.Abs(playbook)
	if err != nil {
		return statefile.File{}, app.Usage("%s", err)
	}
	root := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	state, err := app.StateDir()
	if err != nil {
		return statefile.File{}, err
	}
	return statefile.Of(state.Resources(), root, filepath.Base(path)), nil
}

// unknownSteps refuses what --only names and is not recorded.
func unknownSteps(p *plan.Prior) error {
	if p.State == nil {
		return nil
	}
	if list := prior.Unmatched(p.State.Things, p.Replace); len(list) > 0 {
		return app.Usage("--replace: nothing is recorded of `%s`\n  hint: moon state lists what is", list[0])
	}
	if list := prior.Unmatched(p.State.Things, p.Only); len(list) > 0 {
		return app.Usage("--only: nothing is recorded of `%s`\n  hint: moon state lists what is", list[0])
	}
	return nil
}
