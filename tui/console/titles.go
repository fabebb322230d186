package console

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/status"
)

// titles say what steps, parts of the plan and values are called in a sentence.
type titles struct {
	*knownRun
	outline   *outline
	overHosts bool // steps are called with their hosts
}

func (c *titles) partCalled(n int) string {
	if n == 0 {
		return "the playbook"
	}
	return c.outline.numberOf(n) + " " + c.outline.titleOf(n)
}

// someNames names some steps.
func (c *titles) someNames(steps []int) string {
	const named = 3
	var names []string
	for _, i := range steps[:min(len(steps), named)] {
		names = append(names, c.called(i))
	}
	if more := len(steps) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func (c *titles) setPlan(p *plan.Plan) {
	c.plan, c.outline, c.estimate = p, newOutline(p), nil
	c.overHosts = status.OverHosts(p)
	// 0 has all steps seen again.
	c.lacks, c.lacksSeq = debugger.NewLacking(p), 0
	if c.sources.Forecast != nil {
		if f := c.sources.Forecast(p.Digest); f != nil {
			c.estimate = events.NewEstimate(*f)
		}
	}
	c.predicted.Halt()
	c.predicted.Renumber(c.plan)
}

// knownWords is a value in words.
func (c *titles) knownWords(v any) string {
	text, after := plan.Display(v)
	if len(after) > 0 {
		return c.whenKnown(after)
	}
	return clean(text)
}

// whenKnown says what a value waits for, or what became of the steps that should have given it.
func (c *titles) whenKnown(steps []int) string {
	switch from := c.position().SourcesOf(steps); {
	case len(from.Pending) > 0:
		return "known " + c.afterSteps(from.Pending)
	case len(from.Gone) > 0:
		return "has no value: " + c.called(from.Gone[0]) + " " + status.Fate(c.State(from.Gone[0]))
	case len(from.Given) > 0:
		return "given by " + strings.TrimPrefix(c.afterSteps(from.Given), "after ")
	case c.run.Phase != events.Review:
		return "known when the step starts"
	}
	return "known " + c.afterSteps(steps)
}

func (c *titles) afterSteps(steps []int) string {
	var names []string
	for _, i := range steps {
		if i >= 0 && i < len(c.plan.Steps) {
			names = append(names, c.called(i))
		}
	}
	if len(names) == 0 {
		return "when the run starts"
	}
	const named = 3
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("%d more", more))
	}
	return "after " + strings.Join(names, ", ")
}

// needName is how a step or scope that is needed is called.
func (c *titles) needName(n plan.Need) string {
	if n.Scope > 0 {
		return c.plan.ScopeRef(n.Scope)
	}
	return c.called(n.Step)
}

// called is a step as a sentence has it: step 2.1 stop the app.
func (c *titles) called(i int) string {
	return "step " + c.outline.stepNumber(i) + " " + c.stepTitle(i) + c.onHost(i)
}

// stepTitle is how a step is called, as far as it is known by now.
func (c *titles) stepTitle(i int) string {
	p, title := &c.plan.Steps[i], c.outline.titleOf(int(c.outline.nodeOf[i]))
	if ran := c.stepAt(i).Name; ran != "" {
		return clean(p.Label(ran))
	}
	if strings.Contains(title, "{{") {
		// Binding evaluates templates, so it is asked for only if there is one.
		if now, _ := c.stepNow(i); !strings.Contains(now.Title(), "{{") {
			return clean(p.Label(now.Title()))
		}
	}
	return title
}

// onHost is the host of a step, to be said after its name: " on web1", " on web1, by lb1".
func (c *titles) onHost(i int) string {
	p := &c.plan.Steps[i]
	switch {
	case p.Host == "" || !c.overHosts && p.Host == "localhost":
		return ""
	case p.Delegate != "" && p.Delegate != p.Host:
		return " on " + clean(p.Host) + ", by " + clean(p.Delegate)
	}
	return " on " + clean(p.Host)
}

// ofHost is the host that a loop is on, where its task is over several.
func (c *titles) ofHost(n int) string {
	s := &c.plan.Scopes[c.outline.nodes[n].scope]
	if s.Kind != plan.ScopeLoop || s.First >= s.Last || s.Last > len(c.plan.Steps) || status.Task(c.plan, s.ID) < 0 {
		return ""
	}
	return " on " + clean(c.plan.Steps[s.First].Host)
}

// hostsWords is over how many hosts a part of the plan is.
func hostsWords(s *plan.Scope) string {
	if s.Hosts == 0 {
		return ""
	}
	return count(s.Hosts, "host")
}
