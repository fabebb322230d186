package known

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/people"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Reader reads values that the plan must know.
type Reader struct {
	Unasked bool // facts were not asked for, because of mistakes
	// Excludes is asked whether the host that is planned is excluded where facts that some steps gather decide what it does; nil: no.
	Excludes func(steps []int) bool

	plan     *plan.Plan
	problems *problems.Collector
	unseen   *diag.List // takes what only facts could say, where hosts are not asked; nil if they are
	skipped  func()     // is called then: what depends on the value is not planned
}

// New reads values for a plan.
func New(p *plan.Plan, list *problems.Collector, unseen *diag.List, skipped func()) *Reader {
	return &Reader{plan: p, problems: list, unseen: unseen, skipped: skipped}
}

// ReadFixed reads a value that the plan must know: accept takes it or refuses it. Where the text has a mistake of its own, or
// does not matter because the step will not run, nothing more is said. What is omitted is as if it were not written.
func (k *Reader) ReadFixed(v playbook.Value, key, want string, r *plan.Renderer, accept func(any) bool) {
	if v.IsZero() {
		return
	}
	if got, settled := r.Settled[key]; settled {
		if got != nil && !accept(got) {
			width := utf8.RuneCountInString(plan.FirstLine(v.Text()))
			k.problems.Errorf(v.Pos(), width, r.Chain, "", "`%s:` must be %s; this is %s", key, want, plan.Described(got))
		}
		return
	}
	missing, failed, undefined := r.Missing, r.Failed, r.Undefined
	r.Missing, r.Failed, r.Undefined = nil, false, false
	got := drawn(v, key, r)
	open, silent := r.Missing, r.Failed || r.Undefined
	r.Missing, r.Failed, r.Undefined = missing, r.Failed || failed, r.Undefined || undefined
	_, omitted := got.(value.Omitted)
	switch {
	case silent, omitted:
	case len(open) > 0:
		k.ReportLate(v, r.Chain, "write a value that is known before the run", "`"+key+":`", open)
	case !accept(value.Plain(got)):
		found := ""
		if got != nil && (v.Kind() != playbook.String || strings.Contains(v.Text(), "{{")) {
			found = "; this is " + plan.Described(got)
		}
		k.problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), r.Chain, "", "`%s:` must be %s%s", key, want, found)
	}
}

// drawn renders a value that the plan must know. What chance is to decide in it is drawn here, of a number that is another one for each
// host and place, but the same whenever this plan is made: a saved plan would be stale at once, and a resumed run have another plan.
func drawn(v playbook.Value, key string, r *plan.Renderer) any {
	e, ok := r.Env.(*plan.Env)
	if !ok || !plan.TemplatedIn(v) {
		return r.Value(v)
	}
	host := ""
	if m := e.Frame.Machine(); m != nil {
		host = m.Name
	}
	h, with := fnv.New64a(), *e
	fmt.Fprintf(h, "%s %s %d %d %s", host, key, v.Pos().Line, v.Pos().Column, v.Text())
	with.Drawn = max(h.Sum64(), 1)
	r.Env = &with
	defer func() { r.Env = e }()
	return r.Value(v)
}

// ReadDuration reads a duration into d, which keeps its value where none is given.
func (k *Reader) ReadDuration(v playbook.Value, key string, r *plan.Renderer, d *time.Duration) {
	k.ReadFixed(v, key, "a duration: 30s, 1m30s or a number of seconds", r, func(v any) bool {
		got, ok := spec.ParseDuration(v)
		if ok {
			*d = got
		}
		return ok
	})
}

// ReadFlag reads a boolean.
func (k *Reader) ReadFlag(v playbook.Value, key string, r *plan.Renderer, otherwise bool) bool {
	b := otherwise
	k.ReadFixed(v, key, "true or false", r, func(v any) bool {
		got, ok := spec.ParseBool(v)
		if ok {
			b = got
		}
		return ok
	})
	return b
}

// ReadParallel reads `parallel`: 0 for no, a number, or Unlimited for yes.
func (k *Reader) ReadParallel(v playbook.Value, r *plan.Renderer) int {
	n := 0
	k.ReadFixed(v, "parallel", "true, false or a number above 0", r, func(got any) bool {
		if i, ok := spec.ParseInt(got); ok {
			n = i
			return n > 0
		}
		yes, ok := spec.ParseBool(got)
		if yes {
			n = plan.Unlimited
		}
		return ok
	})
	return n
}

// ReadLimit reads how many rounds of a loop may run at once: 0 for one after the other.
func (k *Reader) ReadLimit(v playbook.Value, r *plan.Renderer) int {
	n := 0
	k.ReadFixed(v, "limit", "a number above 0", r, func(got any) bool {
		i, ok := spec.ParseInt(got)
		n = i
		return ok && n > 0
	})
	// One at once is what a loop without a limit does.
	if n == 1 {
		return 0
	}
	return n
}

// ReadQuestion reads what a step asks before it runs, "" if it does not. A part of it that is not known yet is shown as it is written: the
// step asks all the same.
func (*Reader) ReadQuestion(v playbook.Value, r *plan.Renderer) string {
	if v.IsZero() {
		return ""
	}
	got := value.Plain(plan.ForDisplay(r.Value(v)))
	r.Missing = nil
	yes, ok := got.(bool)
	if !ok && strings.Contains(v.Text(), "{{") {
		yes, ok = spec.ParseBool(got) // -e gives text
	}
	switch {
	case !ok:
		return value.Text(got)
	case yes:
		return people.PlainQuestion
	}
	return ""
}

// ReadPattern is the text that chooses the hosts of a play.
func (k *Reader) ReadPattern(written playbook.Value, what string, r *plan.Renderer) (string, bool) {
	var parts []string
	values := []playbook.Value{written}
	if written.Kind() == playbook.List {
		values = written.Items()
	}
	for _, v := range values {
		got := value.Plain(r.Value(v))
		// A template may give a list of patterns, or one text with commas.
		if list, ok := got.([]any); ok {
			for _, one := range list {
				parts = append(parts, value.Text(one))
			}
			continue
		}
		if got != nil {
			parts = append(parts, value.Text(got))
		}
	}
	if len(r.Missing) > 0 {
		k.ReportLate(written, r.Chain, "give the hosts with -e, or name their group", "which hosts "+what+" is for", r.Missing)
	}
	return strings.Join(parts, ","), !r.Failed && len(r.Missing) == 0
}

// ReadBatches reads `serial`: how many of so many hosts are in each batch.
func (k *Reader) ReadBatches(v playbook.Value, hosts int, r *plan.Renderer) (batches []int) {
	if v.IsZero() {
		return []int{hosts}
	}
	values := []playbook.Value{v}
	if v.Kind() == playbook.List {
		values = v.Items()
	}
	var sizes []int
	for _, v := range values {
		k.ReadFixed(v, "serial", "a number of hosts, or a percentage of them", r, func(got any) bool {
			text := value.Text(got)
			// As with Ansible, a percentage is rounded down, but never to no host at all.
			if percent, ok := strings.CutSuffix(text, "%"); ok {
				n, ok := spec.ParseInt(percent)
				sizes = append(sizes, max(n*hosts/100, 1))
				return ok && n >= 0
			}
			n, ok := spec.ParseInt(text)
			// As with Ansible, 0 and less is all of them.
			if n <= 0 {
				n = hosts
			}
			sizes = append(sizes, n)
			return ok
		})
	}
	for i := 0; hosts > 0 && len(sizes) > 0; i++ {
		// The last size counts for all batches that are left.
		n := min(sizes[min(i, len(sizes)-1)], hosts)
		batches = append(batches, n)
		hosts -= n
	}
	if len(batches) == 0 {
		return []int{hosts}
	}
	return batches
}

// ReportLate says that something that shapes the plan is known only during the run. A value that is missing because of a
// mistake waits for no step either; then the mistake has been said.
func (k *Reader) ReportLate(v playbook.Value, chain []string, hint, what string, missing []value.Missing) {
	steps := plan.StepsOf(missing)
	if len(steps) == 0 && k.problems.Found.HasErrors() {
		return
	}
	is := "is"
	if strings.HasPrefix(what, "the items") {
		is = "are"
	}
	width := utf8.RuneCountInString(plan.FirstLine(v.Text()))
	if !slices.ContainsFunc(steps, func(i int) bool { return i >= len(k.plan.Steps) || k.plan.Steps[i].Action != "setup" }) {
		switch {
		case k.Excludes != nil && k.Excludes(steps):
			return // the host is excluded from the plan
		case k.Unasked:
			return // the facts would be known if other mistakes had not been said
		case k.unseen != nil:
			k.skipped()
			message := "%s %s known only with the facts of the hosts, which are not asked for here"
			if len(steps) == 0 {
				message = "%s %s known only when the run starts"
			}
			k.unseen.Add(diag.Diagnostic{Severity: diag.Warning, Pos: v.Pos(), Width: width, Message: fmt.Sprintf(message, what, is)})
			return
		}
	}
	if e := (&plan.Env{Plan: k.plan}); len(e.Coming(steps)) < len(steps) {
		k.problems.Errorf(v.Pos(), width, chain, "let that step run too, or give the value with -e", "%s cannot be known: %s", what,
			e.AbsenceText(steps))
		return
	}
	for _, step := range steps {
		why, may := k.plan.Ahead.Unasked[step]
		if why == plan.Mistaken {
			return // it would be known if other mistakes had not been said
		}
		if may {
			hint += fmt.Sprintf("; %s was not asked while planning: %s", k.plan.StepRef(step), why)
			break
		}
	}
	if c := k.plan.Basis.Called.Untrusted(); c != nil && len(steps) == 0 {
		hint = k.plan.Shown(c.Path) + " came with the playbook, and is not trusted yet: look at it; then moon trust on the playbook, or --trust this time only"
	}
	k.problems.Errorf(v.Pos(), width, chain, hint, "%s %s known only after %s", what, is, k.DescribeSteps(missing))
}

// DescribeSteps names the steps that unknown values wait for: "step-0003 «read release»".
func (k *Reader) DescribeSteps(missing []value.Missing) string {
	var parts []string
	for _, s := range plan.StepsOf(missing) {
		parts = append(parts, k.plan.StepRef(s))
	}
	if len(parts) == 0 {
		return plan.AtStart
	}
	if len(parts) > 3 {
		parts = append(parts[:2], fmt.Sprintf("%d more", len(parts)-2))
	}
	return strings.Join(parts, ", ")
}
