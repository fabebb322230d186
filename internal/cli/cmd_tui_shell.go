package cli

import (
	"fmt"
	"os/user"

	"moon/engine"
	"moon/exec/remote"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui"
)

// shellAt gives the screen a shell where a step runs: its directory, its environment, its user. The shell is given which
// step and which run that is.
func shellAt(s *engine.Session) func(p *plan.Plan, step int) (tui.ExecCommand, error) {
	return func(p *plan.Plan, step int) (tui.ExecCommand, error) {
		at, job := s.Place(p, step)
		ps := &p.Steps[step]
		who := "you"
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
		if job.Host != nil && job.Host.User != "" {
			who = job.Host.User
		}
		if job.Become != nil {
			who = job.Become.User
		}
		if job.Host != nil {
			who += " on " + job.Host.Name
		}
		where := fmt.Sprintf("moon: %s  %s  shell as %s in %s - type exit to return", ps.ID(), ps.Label(ps.Title()), who, at.Cwd)
		notice := []string{termtext.CleanName(s.Redact(where))}
		for _, m := range at.Missing {
			notice = append(notice, termtext.CleanName(s.Redact("   "+m)))
		}
		set := map[string]string{"MOON_STEP": ps.ID(), "MOON_RUN_DIR": s.Dir()}
		return remote.Shell(job, set, notice)
	}
}
