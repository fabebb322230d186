package connect

import (
	"cmp"
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/vars"
)

// askedPassword is the password of a host that a program prints (!secret). It is needed to connect, before anything is approved: the
// program runs only for a playbook that is trusted. Without it the host is not reached yet. asked is false for any other password.
func (c *Connector) askedPassword(at Place, m *vars.Machine, e *plan.Env, r *plan.Renderer, conn *plan.Connection) (password string, asked bool) {
	on := *e.On(m)
	for _, name := range vars.PasswordNames {
		v, ok := c.settings(&on)(name)
		if !ok {
			continue
		}
		if open, isOpen := v.(value.Unknown); !isOpen || !open.Asked {
			return "", false
		}
		if what := "a program that prints `" + name + "` of " + m.Name; !c.plan.Trusts(what) {
			conn.Steers = cmp.Or(conn.Steers, what)
			return "", true
		}
		var failed error
		on.Executes = &failed
		v, _ = c.settings(&on)(name)
		if failed != nil {
			c.settingText(at, r, "how "+m.Name+" is reached", name, value.Fault{Err: value.Errorf(value.Failure, "", "%s", failed)})
			return "", true
		}
		// Something else than a program may be open in it as well, which is said as for other values.
		if _, isOpen := v.(value.Unknown); isOpen {
			return "", false
		}
		return strings.TrimSpace(value.Text(value.Reveal(v))), true
	}
	return "", false
}
