package plain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// results are the tasks of a run with their names and results, as Ansible has them.
type results struct {
	plan    *plan.Plan
	run     events.Run
	printed map[int]*streams // of steps that run
	loops   map[loopKey]*loopEnd
}

// loopEnd is how the items of a loop have ended so far.
type loopEnd struct {
	left                          int
	ran, changed, failed, ignored bool  // any of them
	results                       []any // those of the items, where they are shown together
}

// taskKey is a task as Ansible has it, over all its hosts: a scope, or a step that stands alone.
type taskKey struct {
	scope int
	step  int // -1 for a scope
}

// loopKey is the loop of one task on one host.
type loopKey struct {
	scope int
	host  string
}

// streams are what a step has printed, as far as it is kept for its result.
type streams struct {
	lines [2][]string
	size  int
}

// keptPrinted is how much of the output of a step is kept for its result.
const keptPrinted = 1 << 20

// censored is what Ansible shows of a result that no_log hides.
const censored = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// ansibleWords are the actions that playbooks of Ansible call otherwise.
var ansibleWords = map[string]string{"print": "debug", "wait": "wait_for"}

var noTask = taskKey{-1, -1}

func (r *results) loopOf(step int) (loopKey, bool) {
	s := &r.plan.Steps[step]
	return loopKey{s.Scope, s.Host}, s.Scope < len(r.plan.Scopes) && r.plan.Scopes[s.Scope].Kind == plan.ScopeLoop
}

// countLoops counts the items of each loop on each host.
func (r *results) countLoops() {
	for i := range r.plan.Steps {
		if key, ok := r.loopOf(i); ok {
			if r.loops[key] == nil {
				r.loops[key] = &loopEnd{}
			}
			r.loops[key].left++
		}
	}
}

// recountLoops counts the items in a plan that has grown: those of the rounds that were added. All others stay as they are.
func (r *results) recountLoops(m moved) {
	counted := map[loopKey]*loopEnd{}
	for key, l := range r.loops {
		counted[loopKey{m.scope(key.scope), key.host}] = l
	}
	r.loops = map[loopKey]*loopEnd{}
	r.countLoops()
	for key, l := range counted {
		if r.loops[key] != nil {
			r.loops[key] = l
		}
	}
}

func (r *results) keyOf(step int) taskKey {
	scope := r.plan.Steps[step].Scope
	if task := status.Task(r.plan, scope); task >= 0 {
		return taskKey{task, -1}
	}
	if _, loop := r.loopOf(step); loop {
		return taskKey{scope, -1}
	}
	return taskKey{-1, step}
}

// taskTitle is the name of a step's task. One over several hosts, or items, has the name as it is written.
func (r *results) taskTitle(step int) string {
	s := &r.plan.Steps[step]
	if !named(s) {
		word := cmp.Or(writtenAction(s), ansibleWords[s.Action], s.Action)
		if s.Action == "include_role" {
			word += " : " + writtenRole(s)
		}
		return word
	}
	if key := r.keyOf(step); key.step < 0 {
		// A loop without a name is called by its kind; a task may have just that name.
		if name := r.plan.Scopes[key.scope].Name; name != "" && (name != string(plan.ScopeLoop) || name == s.Name) {
			return name
		}
		return s.Action
	}
	return cmp.Or(r.run.Steps[step].Name, s.Name)
}

// foundNothing reports whether the step of an open loop has found no items, which Ansible skips as a task. In a play the run adds a
// step that says so.
func (r *results) foundNothing(step int, e events.StepCompleted) bool {
	items, ok := e.Result["items"].([]any)
	if !ok || len(items) > 0 || !r.plan.Steps[step].Loops() {
		return false
	}
	for id := r.plan.Steps[step].Scope; id >= 0; id = r.plan.Scopes[id].Parent {
		if r.plan.Scopes[id].Kind == plan.ScopePlay {
			return false
		}
	}
	return true
}

// writtenAction is the name of a step's action as the playbook has it, short or full; "" if that is not known.
func writtenAction(s *plan.Step) string {
	if s.Task == nil || s.Task.Src == nil || s.Task.Src.ActionKey == "action" || s.Task.Src.ActionKey == "local_action" {
		return ""
	}
	return s.Task.Src.ActionKey
}

// writtenRole is the name of the role that a step includes as the playbook has it.
func writtenRole(s *plan.Step) string {
	if s.Task == nil || s.Task.Src == nil {
		return s.Includes
	}
	return strings.TrimPrefix(s.Task.Src.Name.Text(), s.Action+": ") // the planner has given it this name
}

// isQuiet reports whether an assert asks for nothing to be shown.
func isQuiet(s *plan.Step) bool {
	quiet := s.Args["quiet"]
	word, _ := quiet.(string)
	return quiet == true || slices.Contains([]string{"yes", "true", "on", "1"}, strings.ToLower(word))
}

func (r *results) hostOf(s *plan.Step) string { return termtext.CleanName(status.On(s)) }

func (r *results) keepOutput(step int, e events.StepOutput) {
	s := r.printed[step]
	if s == nil {
		s = &streams{}
		r.printed[step] = s
	}
	k := 0
	if e.Stderr {
		k = 1
	}
	for line := range strings.SplitSeq(e.Line, "\n") {
		// Output beyond the limit is counted, but not kept for the result.
		if s.size += len(line) + 1; s.size <= keptPrinted {
			s.lines[k] = append(s.lines[k], steplog.Marked(line, e.Dropped, e.Binary))
		}
	}
}

// itemOf is " => (item=x)" for a step that is an item of a loop.
func (r *results) itemOf(step int) string {
	s := &r.plan.Steps[step]
	if _, ok := r.loopOf(step); !ok || s.Loop == nil {
		return ""
	}
	return "(item=" + r.itemText(s) + ")"
}

func (r *results) itemText(s *plan.Step) string {
	if s.NoLog {
		return "None"
	}
	return termtext.CleanName(s.Loop.PythonText())
}

// printedMessage is what a print has printed, under the name Ansible gives it.
func (r *results) printedMessage(s *plan.Step, step int, result map[string]any) map[string]any {
	if name, ok := s.Args["var"].(string); ok && name != "" {
		if v, ok := result[name]; ok {
			return map[string]any{name: v}
		}
		return map[string]any{name: cmp.Or[any](result["msg"], r.run.Steps[step].Message)}
	}
	if msg, ok := result["msg"]; ok {
		return map[string]any{"msg": msg}
	}
	return map[string]any{"msg": r.run.Steps[step].Message}
}

// shownResult is the result of a step as Ansible shows it: without what stands in the line already, with what was printed.
func (r *results) shownResult(step int, given map[string]any) map[string]any {
	s := &r.plan.Steps[step]
	m := map[string]any{"changed": r.run.Steps[step].Outcome == events.Changed || given["changed"] == true}
	if s.NoLog {
		m["censored"] = censored
		return m
	}
	maps.Copy(m, given)
	for _, key := range []string{"failed", "skipped", "duration_ms"} {
		delete(m, key)
	}
	for key, v := range m {
		// What is large is in a file of the run, and its record has the name of that.
		if ref, _ := v.(map[string]any); len(ref) == 1 && ref["$blob"] != nil {
			m[key] = "(too large to be shown here)"
		}
	}
	// A task without retries has made one attempt, which is not worth saying.
	if n, ok := m["attempts"]; ok && fmt.Sprint(n) == "1" && s.Retry.Max == 0 {
		delete(m, "attempts")
	}
	r.addItem(step, m)
	p := r.printed[step]
	if _, command := m["rc"]; p == nil && command { // one that has printed nothing says so
		p = &streams{}
	}
	for k, name := range [2]string{"stdout", "stderr"} {
		// The action's own result wins over what was printed.
		if _, there := m[name]; p != nil && !there {
			m[name], m[name+"_lines"] = strings.Join(p.lines[k], "\n"), append([]string{}, p.lines[k]...)
		}
	}
	return m
}

// addItem puts into a result of an item which item of the loop it is.
func (r *results) addItem(step int, m map[string]any) {
	s := &r.plan.Steps[step]
	if _, loop := r.loopOf(step); loop && s.Loop != nil && !s.NoLog {
		name := cmp.Or(s.Loop.Var, "item")
		m["ansible_loop_var"], m[name] = name, s.Loop.Item
	}
}

// skippedResult is the result of a step that a condition has skipped.
func (r *results) skippedResult(step int) map[string]any {
	m := map[string]any{"changed": false, "skip_reason": "Conditional result was False"}
	r.addItem(step, m)
	return m
}

// assertedResult is the result of an assert that holds.
func assertedResult(result map[string]any) map[string]any {
	return map[string]any{"changed": false, "msg": cmp.Or[any](result["msg"], "All assertions passed")}
}

// failedResult is the result of a step that failed.
func (r *results) failedResult(step int, e events.StepFailed) map[string]any {
	s := &r.plan.Steps[step]
	result := r.shownResult(step, e.Result)
	// If all retries fail, Ansible does not count the attempt before them.
	if n, ok := result["attempts"].(int); ok && s.Retry.Max > 0 {
		result["attempts"] = min(n, s.Retry.Max)
	}
	if _, there := result["msg"]; !there && !s.NoLog {
		result["msg"] = e.Error
		if e.RC != nil && strings.HasPrefix(e.Error, "exit status") {
			result["msg"] = "non-zero return code"
		}
	}
	return result
}

// ListedTask is what Ansible calls a task where it lists the tasks of a play: its name, behind that of its role, or else its action.
func ListedTask(s *plan.Step) string {
	if named(s) {
		return status.TaskTitle(s.Role, s.Name)
	}
	return cmp.Or(ansibleWords[s.Action], s.Action)
}

// named reports whether a task has a name of its own: that of an include may be the planner's.
func named(s *plan.Step) bool {
	plannerNames := s.Action == "meta" || strings.HasPrefix(s.Action, "include_")
	return s.Name != "" && (!plannerNames || !strings.HasPrefix(s.Name, s.Action+": "))
}
