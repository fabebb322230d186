package vars

import (
	"slices"

	"moon/plan/inventory"
	"moon/plan/playbook"
)

// Reach is what a task of a play, or what is around it, says about where and how it runs; the nearest of each key.
type Reach struct {
	Connection, User playbook.Value
	Delegate         playbook.Value
	Env              []playbook.Value // of `environment:`, the outermost first
	Early            bool             // a loop is read or a name is rendered: what names the way has no value yet
}

// Same reports whether two say the same, at the same places.
func (r *Reach) Same(as *Reach) bool {
	return r.Connection == as.Connection && r.User == as.User && r.Delegate == as.Delegate && slices.Equal(r.Env, as.Env)
}

// Doer is the host that does a task.
type Doer struct {
	Name      string
	Machine   *Machine // nil if no inventory has it
	Delegated bool
}

// WayName is a variable that a task of a play has although nothing sets it: where it runs, and how it gets there. It is what the others of
// its kind say, or else the keys of the task, or the command line. Such names are below all variables, and not among those of a host.
type WayName struct {
	Names   []string // of the kind, in the order in which they count
	written func(*Reach) playbook.Value
	given   func(*Invocation) any
	fixed   func(Doer) any // counts before the others, unless it gives nil
}

// WayNames are these variables by name.
var WayNames = map[string]*WayName{}

func init() {
	// As with Ansible the old names count first. So they do in a play context only: for connections it is the other way around.
	reversed := func(names []string) []string {
		names = slices.Clone(names)
		slices.Reverse(names)
		return names
	}
	for _, way := range []*WayName{
		{Names: reversed(AddressNames), fixed: func(by Doer) any { return by.Name }},
		{
			Names: reversed(UserNames), written: func(r *Reach) playbook.Value { return r.User },
			given: func(c *Invocation) any { return c.User },
		},
		{
			// As with Ansible, `port:` of a task counts for the connection, and not here.
			Names: reversed(PortNames), given: func(c *Invocation) any { return c.Port },
			fixed: func(by Doer) any {
				if by.Delegated { // its own, or what its connection takes
					return 0
				}
				return nil
			},
		},
		{Names: KeyNames, given: func(c *Invocation) any { return c.PrivateKey }},
		{Names: TimeoutNames, given: func(c *Invocation) any {
			if c.Timeout == 0 {
				return 10 // as with Ansible
			}
			return c.Timeout
		}},
		{
			Names: []string{"ansible_connection"}, written: func(r *Reach) playbook.Value { return r.Connection },
			given: func(c *Invocation) any {
				if c.Connection == "" || c.Connection == "smart" {
					return "ssh"
				}
				return c.Connection
			},
			fixed: func(by Doer) any {
				if inventory.IsLocalhost(by.Name) && (by.Machine == nil || by.Machine.Host == nil) {
					return "local"
				}
				return nil
			},
		},
		{Names: []string{"ansible_shell_executable"}, given: func(*Invocation) any { return "/bin/sh" }},
	} {
		for _, name := range way.Names {
			WayNames[name] = way
		}
	}
}

// Otherwise is what the variable is if none of its kind is set.
func (w *WayName) Otherwise(fr *Frame, by Doer, render func(playbook.Value) any) (any, bool) {
	var v any
	if w.fixed != nil {
		v = w.fixed(by)
	}
	if v == nil && w.written != nil {
		if written := w.written(fr.Reach); !written.IsZero() {
			return render(written), true
		}
	}
	if v == nil && w.given != nil {
		v = w.given(fr.Scene.Call)
	}
	return v, v != nil && v != "" && v != 0
}
