package connect

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Become is who a step runs as, as written on it or around it; the nearest of each key counts.
type Become struct {
	Yes, User, Method playbook.Value
	Flags             *Flags // nil: none are written
}

// Flags are the further arguments of a method, as written in one place, and those further out, which count where these are omitted.
type Flags struct {
	Written playbook.Value
	Outer   *Flags
}

// FlagsIn are those that a play has; nil if it has none.
func FlagsIn(v playbook.Value) *Flags {
	if v.IsZero() {
		return nil
	}
	return &Flags{Written: v}
}

// With is that with what is written on a task.
func (b Become) With(t *playbook.Task) Become {
	if !t.Become.IsZero() {
		b.Yes = t.Become
	}
	if !t.BecomeUser.IsZero() {
		b.User = t.BecomeUser
	}
	if !t.BecomeHow.IsZero() {
		b.Method = t.BecomeHow
	}
	if !t.BecomeFlags.IsZero() {
		b.Flags = &Flags{t.BecomeFlags, b.Flags}
	}
	return b
}

// BecomeHere finds out who a step of this machine runs as. The user may be known only in the run, whether there is one not before it.
func (c *Connector) BecomeHere(s *plan.Step, k *plan.Task, b Become, r *plan.Renderer) {
	if b.Yes.IsZero() {
		for _, v := range []playbook.Value{b.User, b.Method} {
			if !v.IsZero() {
				c.problems.Errorf(v.Pos(), utf8.RuneCountInString(v.Text()), r.Chain, "add `become: true`",
					"without `become` this has no effect")
			}
		}
		return
	}
	method := ""
	if c.o.User != "root" {
		method = vars.BecomeMethods[0]
	}
	c.known.ReadFixed(b.Method, "become_method", "one of "+strings.Join(vars.BecomeMethods, ", "), r, func(v any) bool {
		method = value.Text(v)
		return slices.Contains(vars.BecomeMethods, method)
	})
	if !c.known.ReadFlag(b.Yes, "become", r, false) {
		return
	}
	user := "root"
	if !b.User.IsZero() {
		missing := len(r.Missing)
		user = r.Text(b.User)
		if len(r.Missing) > missing {
			k.Own().BecomeUser = b.User
		} else if !spec.IsUser(user) && !r.Failed && !r.Undefined {
			message, hint := plan.NotUser("`become_user:`", user)
			c.problems.Errorf(b.User.Pos(), utf8.RuneCountInString(plan.FirstLine(b.User.Text())), r.Chain, hint, "%s", message)
		}
	}
	// Becoming who moon is already would at most ask for a password in vain.
	if user != c.o.User {
		s.Become = &plan.Become{User: user, Method: method}
	}
}

// BecomeOnHost finds out who a step of a play runs as: variables count before keys, and keys before the command line.
func (c *Connector) BecomeOnHost(s *plan.Step, k *plan.Task, place Place, host string, e *plan.Env, r *plan.Renderer) {
	b := place.Become
	setting := c.settings(e)
	find := func(names ...string) (any, bool) {
		for _, name := range names {
			if v, ok := setting(name); ok {
				return v, true
			}
		}
		return nil, false
	}
	yes := c.o.Login.Become
	if !b.Yes.IsZero() {
		yes = c.known.ReadFlag(b.Yes, "become", r, false)
	}
	if v, ok := find("ansible_become"); ok {
		if got, ok := spec.ParseBool(value.Plain(v)); ok {
			yes = got
		}
	}
	if !yes {
		return
	}
	method := c.o.Login.BecomeMethod
	c.known.ReadFixed(b.Method, "become_method", "one of "+strings.Join(vars.BecomeMethods, ", "), r, func(v any) bool {
		method = value.Text(v)
		return true
	})
	if v, ok := find("ansible_become_method"); ok {
		if _, open := v.(value.Unknown); open { // a task may set it, or none
			k.Own().BecomeMethod = playbook.Written(place.Pos, "{{ ansible_become_method | default('') }}")
			r.Text(k.BecomeMethod)
		} else {
			method = value.Text(value.Plain(v))
		}
	}
	switch strings.TrimPrefix(method, "ansible.builtin.") {
	case "sudo", "su", "doas":
		method = strings.TrimPrefix(method, "ansible.builtin.")
	case "":
		// On a host only the login knows who it is, and whether it needs a method at all.
		if s.Conn == nil && c.o.User != "root" {
			method = vars.BecomeMethods[0]
		}
	default:
		c.problems.Errorf(place.Pos, 0, r.Chain, "moon has "+strings.Join(vars.BecomeMethods, ", "),
			"the become method `%s` is not supported", method)
	}
	of := cmp.Or(method, vars.BecomeMethods[0]) // as with Ansible, where nothing says which
	user, from, at := cmp.Or(c.o.Login.BecomeUser, "root"), "--become-user", place.Pos
	if !b.User.IsZero() {
		missing := len(r.Missing)
		user, from, at = r.Text(b.User), "`become_user:`", b.User.Pos()
		if len(r.Missing) > missing {
			k.Own().BecomeUser = b.User
		}
	}
	for _, name := range []string{vars.BecomeNameOf(of, "user"), "ansible_become_user"} {
		v, given := setting(name)
		if !given {
			continue
		}
		// The variable counts above the key, so what the key lacks does not matter any more.
		from, at, k.Own().BecomeUser = "`"+name+"`", place.Pos, playbook.Value{}
		var ok bool
		if user, ok = c.settingText(place, r, "who to become on "+host, name, v); !ok {
			return
		}
		break
	}
	if k.BecomeUser.IsZero() && !spec.IsUser(user) && !r.Failed && !r.Undefined {
		message, hint := plan.NotUser(from, user)
		c.problems.Errorf(at, 0, r.Chain, hint, "%s", message)
	}
	if v, ok := find(vars.BecomeNameOf(of, "password"), vars.BecomeNameOf(of, "pass"), "ansible_become_password",
		"ansible_become_pass"); ok {
		if _, open := v.(value.Unknown); !open {
			k.Own().BecomePassword = value.Text(value.Reveal(v))
			c.secrets.Add("ansible_become_password", k.BecomePassword)
		}
	}
	there := c.o.User
	if s.Conn != nil {
		there = s.Conn.User
	}
	// If only ssh knows who logs in, the user may be another one.
	if user != there || there == "" || !k.BecomeUser.IsZero() {
		s.Become = &plan.Become{User: user, Method: method, Flags: c.becomeFlags(k, place, method, e, r)}
		c.warnIgnored(place, e, vars.Becoming)
	}
}
