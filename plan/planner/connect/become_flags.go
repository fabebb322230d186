package connect

import (
	"errors"

	"moon/exec/becoming"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// becomeFlags are the further arguments of the method, as package becoming keeps them. As with Ansible a variable of the method counts
// before that for all, then comes the key, then ansible.cfg; what is omitted gives way to the next. Where the run has to tell, or which
// method it is, the task gets the list.
func (c *Connector) becomeFlags(k *plan.Task, place Place, method string, e *plan.Env, r *plan.Renderer) string {
	setting := c.settings(e)
	list := []playbook.Value{}
	methods := []string{method}
	if !k.BecomeMethod.IsZero() {
		methods = vars.BecomeMethods
	} else if method == "" {
		methods = vars.BecomeMethods[:1]
	}
	for _, one := range methods {
		if _, ok := setting(vars.BecomeNameOf(one, "flags")); !ok {
			continue
		}
		text := "{{ " + vars.BecomeNameOf(one, "flags") + " | default(omit) }}"
		if !k.BecomeMethod.IsZero() { // those of one method count only with it
			text = "{{ " + vars.BecomeNameOf(one, "flags") + " | default(omit) if (ansible_become_method | default('sudo', true)).split('.') | last == '" +
				one + "' else omit }}"
		}
		list = append(list, playbook.Written(place.Pos, text))
	}
	if _, ok := setting("ansible_become_flags"); ok {
		list = append(list, playbook.Written(place.Pos, "{{ ansible_become_flags | default(omit) }}"))
	}
	for f := place.Become.Flags; f != nil; f = f.Outer {
		list = append(list, f.Written)
	}
	if configured, err := playbook.WrittenData(place.Pos, c.o.Login.BecomeFlags); err == nil && c.o.Login.BecomeFlags != "" {
		list = append(list, configured)
	}
	if len(list) == 0 {
		return ""
	}
	missing := len(r.Missing)
	for _, v := range list {
		got := r.Value(v)
		_, omitted := got.(value.Omitted)
		switch {
		case r.Failed || r.Undefined:
			return ""
		case len(r.Missing) > missing || !omitted && !k.BecomeMethod.IsZero():
			k.Own().BecomeFlags = list
			return ""
		case omitted || got == nil:
			continue
		}
		kept, err := becoming.Read(method, value.Text(value.Plain(got)))
		if refused, ok := errors.AsType[*becoming.FlagsError](err); ok {
			c.problems.Errorf(v.Pos(), 0, r.Chain, refused.Hint, "`become_flags`: %s", refused.Message)
		}
		return kept
	}
	return ""
}
