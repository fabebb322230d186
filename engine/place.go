package engine

import (
	"moon/exec"
	"moon/plan"
	"moon/plan/bind"
)

// Place is where a step of one of the run's plans runs, as far as that is known by now, and the job with which a shell can
// be had there. It may be asked at any time.
func (s *Session) Place(p *plan.Plan, step int) (*bind.Place, *exec.Job) {
	at := bind.New(p, step, s.shown.Load()).Place()
	job := &exec.Job{Host: HostOf(p.Steps[step].Conn), Cwd: at.Cwd, Env: at.Env, Roams: at.Roams, Secrets: s.secrets}
	if at.Become != nil {
		job.Become = &exec.Become{User: at.Become.User, Method: at.Become.Method, Flags: at.Become.Flags}
	}
	return at, job
}

// Redact hides in a text what must not be seen.
func (s *Session) Redact(text string) string { return s.secrets.Redact(text) }
