package plain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// Steps of a playbook of plays are shown task by task: the head of the task once, and below it what each host says.
//
//	step 4/57  nginx : make the root  on 3 hosts
//	  web1  changed (new directory)
//	  web3  ok

// longestHost is how wide the column of hosts gets at most.
const longestHost = 24

// taskOf is the first step of the task that a step belongs to, over all its hosts, and the scope of that task, or -1.
func (t *Text) taskOf(step int) (first, scope int) {
	if scope = status.Task(t.plan, t.plan.Steps[step].Scope); scope >= 0 {
		return t.plan.Scopes[scope].First, scope
	}
	return t.plan.Steps[step].Group, -1
}

// taskHead makes sure that what follows is read as belonging to the task of a step.
func (t *Text) taskHead(step int) {
	first, scope := t.taskOf(step)
	// Steps of one task on several hosts share a head.
	if t.task == first {
		return
	}
	t.endFold()
	s := &t.plan.Steps[step]
	name, on := cmp.Or(t.stepName(step), s.Action), ""
	if scope >= 0 {
		name = cmp.Or(t.plan.Scopes[scope].Name, name)
		if n := t.plan.Scopes[scope].Hosts; n > 1 {
			on = fmt.Sprintf("  on %d hosts", n)
		}
	}
	if s.Handler {
		on += "  (handler)"
	}
	on += t.realMark(step)
	// Tasks alternate if hosts run freely.
	if t.begun[first] {
		on += "  (continued)"
	}
	t.task, t.begun[first] = first, true
	clear(t.diffs)
	t.playHead(s.Scope)
	t.beginFold(fmt.Sprintf("step %d/%d  %s%s", first+1, len(t.plan.Steps), termtext.CleanName(status.TaskTitle(s.Role, name)), on))
}

// playHead prints the name of the play, or of the batch of one, that a scope is in, where that is another than before.
func (t *Text) playHead(scope int) {
	// From the inside out: the batch comes before its play.
	name, at := "", -1
	for id := scope; id > 0; id = t.plan.Scopes[id].Parent {
		s := &t.plan.Scopes[id]
		switch s.Kind {
		case plan.ScopeBatch:
			name, at = "  "+s.Name, id
		case plan.ScopePlay:
			name = s.Name + name
			if at < 0 {
				at = id
			}
			if at != t.play {
				t.play = at
				t.printf("%s", t.bareText("play "+termtext.CleanName(name)))
			}
			return
		default:
		}
	}
}

// stepOver ends what folds where each step has its own.
func (t *Text) stepOver() {
	if !t.byTask && t.group < 0 {
		t.endFold()
	}
}

// stepMargin stands before what is said of a step: its host, in a column, and the item of a loop.
func (t *Text) stepMargin(step int) string {
	if !t.byTask {
		return "  "
	}
	s := &t.plan.Steps[step]
	host := termtext.CleanName(status.On(s))
	text := "  " + host + strings.Repeat(" ", max(t.wide-ansi.StringWidth(host), 0)) + "  "
	// no_log hides the labels by which items are distinguished.
	if s.Loop != nil && t.plan.Scopes[s.Scope].Kind == plan.ScopeLoop && !s.NoLog {
		text += "(" + termtext.CleanName(s.Loop.Label) + ")  "
	}
	return text
}

// widestHost is how wide the column of hosts is.
func widestHost(p *plan.Plan) (n int) {
	for i := range p.Steps {
		n = max(n, ansi.StringWidth(termtext.CleanName(status.On(&p.Steps[i]))))
	}
	return min(n, longestHost)
}
