package probe

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
)

// change is what a step may change: what lies at some paths, or anything if there are none.
type change struct {
	step  int
	task  *plan.Task // whose arguments have the paths; nil: it is anything
	paths *[]string  // when they were first asked for: in most plans no step asks
}

// at are the paths, none if it may be anything.
func (c *change) at(p *plan.Plan) []string {
	if c.task == nil {
		return nil
	}
	if c.paths == nil {
		paths := pathsOf(&p.Steps[c.step], c.task)
		c.paths = &paths
	}
	return *c.paths
}

// looks are the actions that change nothing, in addition to those that touch nothing of the machine.
var looks = map[string]bool{
	"stat": true, "find": true, "slurp": true, "getent": true, "ping": true, "setup": true, "gather_facts": true, "assert": true,
	"package_facts": true, "service_facts": true, "vars": true, "include_vars": true, "include_tasks": true, "include_role": true,
}

// commands change nothing if they say so.
var commands = map[string]bool{"command": true, "shell": true}

// waits are the actions that wait for something to happen, on whatever machine.
var waits = map[string]bool{"pause": true, "wait_for": true, "wait_for_connection": true}

// changesAt are the actions that change only what their argument names.
var changesAt = map[string]string{
	"copy": "dest", "template": "dest", "file": "path", "lineinfile": "path", "blockinfile": "path", "replace": "path",
}

// noteChange takes down what a step may change.
func (p *Prober) noteChange(s *plan.Step, k *plan.Task) {
	if s.Excluded || s.Prediction == plan.WillSkip {
		return
	}
	add := func(on plan.Machine, c change) {
		list := p.changes[on]
		if list == nil {
			list = new([]change)
			p.changes[on] = list
		}
		*list = append(*list, c)
	}
	all := change{step: s.Index}
	switch {
	case waits[s.Action]:
		p.waited = append(p.waited, s.Index)
	case looks[s.Action], spec.Inward(s.Action), givesFacts(k):
	case commands[s.Action] && onlyLooks(s, k):
	case s.Action == "fetch":
		add(plan.Here, all)
	case k.OnController():
		add(plan.Here, all)
		add(s.Conn.Machine(), all)
	default:
		add(s.Conn.Machine(), change{step: s.Index, task: k})
	}
}

// onlyLooks reports whether a command says that it changes nothing, and that a dry run may start it.
func onlyLooks(s *plan.Step, k *plan.Task) bool {
	return s.CheckMode != nil && !*s.CheckMode && len(k.Changed) > 0 && !slices.ContainsFunc(k.Changed, func(c plan.Condition) bool {
		return !c.Constant || c.Holds
	})
}

// pathsOf are the paths that a step changes; none if that is not certain.
func pathsOf(s *plan.Step, k *plan.Task) []string {
	name, ok := changesAt[s.Action]
	if !ok || k.Known == nil || k.Open {
		return nil
	}
	path := value.Text(value.Plain(k.Known.Raw[name]))
	if _, validates := k.Known.Raw["validate"]; validates || !filepath.IsAbs(path) {
		return nil // a program of the user's, or a path that only its machine can make absolute
	}
	return []string{filepath.Clean(path)}
}

// changer is a step that may change what lies at some paths of a machine; -1 if there is none.
func (p *Prober) changer(on plan.Machine, paths []string) int {
	if len(p.waited) > 0 {
		return p.waited[len(p.waited)-1]
	}
	if p.changes[on] == nil {
		return -1
	}
	list := *p.changes[on]
	for i := len(list) - 1; i >= 0; i-- {
		if c := &list[i]; len(c.at(p.plan)) == 0 || len(paths) == 0 || overlap(c.at(p.plan), paths) {
			return c.step
		}
	}
	return -1
}

func overlap(a, b []string) bool {
	below := func(path, dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	}
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return below(x, y) || below(y, x) })
	})
}
