package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// given is what became of a step that registers something, in the model.
type given int

const (
	unreached  given = iota
	done             // it ran, whether it failed or not
	saidNo           // its own condition did not hold
	lackedToo        // it needed a value that was not there
	notWritten = -1  // of a task: it uses nothing
)

// task is a step of a random playbook, or a block.
type task struct {
	n                    int
	uses, defaults, when int // the steps whose results it uses; notWritten: none
	test                 string
	body, rescue, always []*task
}

// writer makes random playbooks.
type writer struct {
	*rand.Rand
	b    strings.Builder
	last int
}

func (w *writer) list(indent string, depth int) []*task {
	var l []*task
	for range 1 + w.IntN(4) {
		if depth > 0 && w.IntN(3) == 0 {
			t := &task{n: notWritten}
			w.b.WriteString(indent + "- block:\n")
			t.body = w.list(indent+"    ", depth-1)
			kinds := w.IntN(3)
			if kinds != 1 {
				w.b.WriteString(indent + "  rescue:\n")
				t.rescue = w.list(indent+"    ", depth-1)
			}
			if kinds > 0 {
				w.b.WriteString(indent + "  always:\n")
				t.always = w.list(indent+"    ", depth-1)
			}
			l = append(l, t)
			continue
		}
		l = append(l, w.step(indent))
	}
	return l
}

func (w *writer) step(indent string) *task {
	t := &task{n: w.last, uses: notWritten, defaults: notWritten, when: notWritten}
	text := fmt.Sprint(t.n)
	earlier := func() int {
		if w.last == 0 || w.IntN(3) > 0 {
			return notWritten
		}
		return w.IntN(w.last)
	}
	if t.uses = earlier(); t.uses >= 0 {
		text += fmt.Sprintf(" {{ v%d.stdout }}", t.uses)
	}
	if t.defaults = earlier(); t.defaults >= 0 {
		text += fmt.Sprintf(" {{ v%d.stdout | default('none') }}", t.defaults)
	}
	fmt.Fprintf(&w.b, "%s- shell: \"%s\"\n%s  register: v%d\n", indent, text, indent, t.n)
	if t.when = earlier(); t.when >= 0 {
		t.test = []string{"v%d is defined", "v%d is undefined", "v%d.rc == 0"}[w.IntN(3)]
		fmt.Fprintf(&w.b, "%s  when: "+t.test+"\n", indent, t.when)
	}
	w.last++
	return t
}

// model runs a random playbook as the pages say.
type model struct {
	fails map[int]bool
	now   map[int]given
	ran   []int
}

// value is what comes of using the result of a step: whether it is there, or else whether that is a mistake.
func (m *model) value(n int) (there, mistake bool) {
	return m.now[n] == done, m.now[n] == saidNo
}

// list runs steps in order, and reports whether they went well.
func (m *model) list(l []*task) bool {
	for _, t := range l {
		var well bool
		if t.n == notWritten {
			well = m.block(t)
		} else {
			well = m.step(t)
		}
		if !well {
			return false
		}
	}
	return true
}

func (m *model) block(t *task) bool {
	well := m.list(t.body)
	if !well && t.rescue != nil {
		well = m.list(t.rescue)
	}
	return m.list(t.always) && well
}

func (m *model) step(t *task) bool {
	holds := true
	switch {
	case t.when < 0:
	case t.test == "v%d is defined":
		holds = m.now[t.when] != unreached
	case t.test == "v%d is undefined":
		holds = m.now[t.when] == unreached
	default:
		there, mistake := m.value(t.when)
		switch {
		case mistake:
			m.now[t.n] = done
			return false
		case !there:
			m.now[t.n] = lackedToo
			return true
		}
		holds = !m.fails[t.when]
	}
	if !holds {
		m.now[t.n] = saidNo
		return true
	}
	if t.uses >= 0 {
		switch there, mistake := m.value(t.uses); {
		case mistake:
			m.now[t.n] = done
			m.fails[t.n] = true
			return false
		case !there:
			m.now[t.n] = lackedToo
			return true
		}
	}
	m.now[t.n] = done
	m.ran = append(m.ran, t.n)
	return !m.fails[t.n]
}

// Values of steps that did not run decide nothing but what needs them: random blocks with results, conditions and defaults run as
// a model of a few lines says.
func TestValuesOfStepsThatDidNotRun(t *testing.T) {
	skipped := 0
	for seed := range uint64(100) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 14))}
		w.b.WriteString("steps:\n")
		l := w.list("  ", 2)
		m := &model{fails: map[int]bool{}, now: map[int]given{}}
		for n := range w.last {
			m.fails[n] = w.IntN(4) == 0
		}
		failed := map[string]bool{}
		for n := range w.last {
			failed[fmt.Sprint(n)] = m.fails[n]
		}
		well := m.list(l)
		p, g := build(t, w.b.String())
		r := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
			rc := 0
			if failed[strings.Fields(cmdOf(job))[0]] {
				rc = 1
				return exec.Result{Outcome: events.Failed, RC: &rc, Error: "exit status 1"}
			}
			_, _ = job.Output.Stdout().Write([]byte("out"))
			return exec.Result{Outcome: events.OK, RC: &rc}
		}}
		s := begin(t, p, g, r, fact.Options{Forks: 1})
		feed := watching(t, s, false)
		feed.until("the end", func() bool { return feed.run.Phase == events.Done })
		var ran []int
		for _, c := range r.order {
			n := 0
			_, _ = fmt.Sscan(c, &n)
			ran = append(ran, n)
		}
		if !slices.Equal(ran, m.ran) {
			t.Fatalf("seed %d: ran %v, want %v\nfailing %v\n%s", seed, ran, m.ran, failed, w.b.String())
		}
		if got := feed.run.Result.Success; got != well {
			t.Fatalf("seed %d: success is %v, want %v\nfailing %v\n%s", seed, got, well, failed, w.b.String())
		}
		for i := range feed.run.Steps {
			if feed.run.Steps[i].Outcome == events.Skipped && m.now[i] == lackedToo {
				skipped++
				if !strings.Contains(feed.run.Steps[i].Reason, "the result of ") {
					t.Errorf("seed %d: %s was skipped: %s", seed, events.StepID(i), feed.run.Steps[i].Reason)
				}
			}
		}
	}
	if skipped < 20 {
		t.Errorf("only %d steps were skipped because of a value", skipped)
	}
}

// What is excluded takes along what cannot do without its result, and nothing else.
func TestExcludedStepSkipsItsUsers(t *testing.T) {
	p, g := build(t, `
- shell: first
  register: v
- shell: needs {{ v.stdout }}
  register: w
- shell: default {{ v.stdout | default('none') }}
- shell: needs too {{ w.stdout }}
- shell: last
`)
	r := &fake{}
	s := begin(t, p, g, r, fact.Options{Forks: 1, Review: true})
	feed := watching(t, s, false)
	feed.until("the review", func() bool { return feed.run.Phase == events.Review && len(feed.run.Steps) > 0 })
	for _, c := range []events.Command{
		events.Exclude{Range: events.Range{From: 0, To: 1}}, events.Approve{Range: events.Range{From: 0, To: 5}}, events.Continue{},
	} {
		s.Send(events.Order{Command: c})
	}
	feed.until("the end", func() bool { return feed.run.Phase == events.Done })
	if want := []string{"default none", "last"}; !slices.Equal(r.order, want) {
		t.Errorf("ran %q, want %q", r.order, want)
	}
	for i, want := range map[int]string{
		1: "needs: the result of step-0001 «first», which is excluded",
		3: "needs: the result of step-0002 «needs {{ v.stdout }}», which was skipped",
	} {
		if got := feed.run.Steps[i].Reason; got != want {
			t.Errorf("%s was skipped: %q, want %q", events.StepID(i), got, want)
		}
	}
}
