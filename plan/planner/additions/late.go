package additions

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/vars"
)

// Late is what one task will add that only the run knows. With run_once the steps of several hosts stand for one, and the first of them
// that the run has found is all there is.
type Late struct {
	once   bool
	rounds []*lateRound
}

type lateRound struct {
	key   string
	found bool
	inventory.Pending
}

// NewLate is for a task that is done once for all hosts, or on each of them.
func NewLate(once bool) *Late { return &Late{once: once} }

func (l *Late) round(s *plan.Step) *lateRound {
	key := s.Path
	switch {
	case l.once && s.Loop != nil:
		key = strconv.Itoa(s.Loop.Index) + s.Loop.Label
	case l.once:
		key = ""
	}
	at := slices.IndexFunc(l.rounds, func(r *lateRound) bool { return r.key == key })
	if at < 0 {
		at = len(l.rounds)
		l.rounds = append(l.rounds, &lateRound{key: key})
	}
	return l.rounds[at]
}

// Found takes down that the plan has what a step adds, or the rounds of its loop.
func (l *Late) Found(s *plan.Step) { l.round(s).found = true }

// Wait takes down a step that will add something.
func (l *Late) Wait(s *plan.Step, p inventory.Pending) {
	r := l.round(s)
	p.Steps = append(r.Steps, s.Index)
	r.Pending = p
}

// Close gives what is still to come, and the steps that will not add anything any more.
func (l *Late) Close() (coming []inventory.Pending, over []int) {
	for _, r := range l.rounds {
		switch {
		case r.found:
			over = append(over, r.Steps...)
		case len(r.Steps) > 0:
			coming = append(coming, r.Pending)
		}
	}
	return coming, over
}

// PendingOf is what a step will add, or the rounds of an open loop, as far as the arguments of the task are known. host is the one it is
// for.
func PendingOf(s *plan.Step, task *plan.Compiled, of *inventory.Inventory, host string) inventory.Pending {
	known := map[string]any{}
	for _, g := range task.Args {
		open := slices.ContainsFunc(s.Unknowns, func(u plan.Unknown) bool { return u.Field == g.Name })
		switch {
		case s.Place != nil && !plan.TemplatedIn(g.Value):
			known[g.Name] = plan.Plain(g.Value)
		case s.Place != nil || open:
			known[g.Name] = nil
		default:
			known[g.Name] = s.Args[g.Name]
		}
	}
	return pendingIn(of, known, task.Action.Name, host)
}

// pendingIn reads arguments of which those that are not known are nil.
func pendingIn(of *inventory.Inventory, args map[string]any, action, host string) inventory.Pending {
	if action == "group_by" {
		p := inventory.Pending{Host: host}
		if key, ok := args["key"].(string); ok {
			if parents, ok := namesIn(args, "parents"); ok {
				p.Groups = append([]string{inventory.GroupName(key)}, inventory.GroupNames(parents)...)
			}
		}
		return p
	}
	p := inventory.Pending{New: true}
	for _, name := range []string{"name", "hostname", "host"} {
		if text, ok := args[name].(string); ok {
			p.Host, _ = hostPort(text)
			p.New = !of.Has(p.Host)
		}
	}
	p.Groups, _ = namesIn(args, "groups", "groupname", "group")
	return p
}

// namesIn are the names in the first of some arguments that is given; it is not ok if that is not known.
func namesIn(args map[string]any, keys ...string) (names []string, ok bool) {
	for _, key := range keys {
		v, given := args[key]
		switch v := v.(type) {
		case string:
			for name := range strings.SplitSeq(v, ",") {
				names = append(names, strings.TrimSpace(name))
			}
			return names, true
		case []any:
			for _, one := range v {
				text, is := one.(string)
				if !is {
					return nil, false
				}
				names = append(names, text)
			}
			return names, true
		}
		if given {
			return nil, false
		}
	}
	return []string{}, true
}

// ArgsOf are the arguments of a step that its result says it has added, as they would have been written.
func ArgsOf(a *spec.Action, fields map[string]any) (any, []spec.Problem) {
	args := map[string]any{"key": fields["add_group"], "parents": fields["parent_groups"]}
	if added, ok := fields["add_host"].(map[string]any); ok {
		args = map[string]any{}
		if own, ok := added["host_vars"].(map[string]any); ok {
			maps.Copy(args, own)
		}
		args["name"], args["groups"] = added["host_name"], added["groups"]
	}
	return a.Decode(args)
}

// hostPort takes the port off the name of a host. An IPv6 address has more than one colon.
func hostPort(name string) (host string, port int) {
	host, text, ok := strings.Cut(name, ":")
	if n, err := strconv.Atoi(text); ok && err == nil {
		return host, n
	}
	return name, 0
}

// VarsOf are the name of a host that is added, and its variables.
func VarsOf(args *spec.AddHostArgs, from diag.Origin, note func(name string)) (host string, of *vars.Layer) {
	host, port := hostPort(args.Name)
	of = &vars.Layer{}
	for _, key := range slices.Sorted(maps.Keys(args.Values)) {
		note(key)
		of.Add(vars.Binding{Name: key, Value: args.Values[key], From: "add_host", Origin: from})
	}
	if port > 0 {
		of.Add(vars.Binding{Name: "ansible_port", Value: port, From: "add_host", Origin: from})
	}
	return host, of
}
