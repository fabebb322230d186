package cli

import (
	"moon/internal/app"
	"moon/plan"
	"moon/plan/prior"
)

// priorState is what runs of a playbook have made before, as an input of its plan.
func (f *planFlags) priorState(playbook string) (plan.Prior, error) {
	p := plan.Prior{Policy: plan.OrphanFate(f.Orphans), Edited: f.Edited, Replace: f.Replace, Destroy: f.destroy, Only: f.built}
	if f.recorded != nil {
		p.State = f.recorded
		return p, nil
	}
	if playbook == "-" { // it has no place, so the next one may be another
		return p, nil
	}
	file, err := app.StateOf(playbook)
	if err != nil {
		return p, err
	}
	if p.State, err = file.Read(); err != nil {
		return p, app.NewExit(app.ExitDisk, err.Error())
	}
	return p, unknownSteps(&p)
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
