package plain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// TimesView is a view of the times of a run, called as Ansible's callback plugin that shows it.
type TimesView string

// The views.
const (
	Timer        TimesView = "timer"         // how long the run took
	ProfileTasks TimesView = "profile_tasks" // the tasks by their time, and where they begin
	ProfileRoles TimesView = "profile_roles" // the roles and actions by their time
)

// Times shows how long a run and its tasks took, next to another output or alone. A task lasts as long as any of its hosts works on it.
type Times struct {
	Views []TimesView

	SummaryOnly bool   // nothing is shown before the end
	Most        int    // how many tasks are listed; 0: 20, and all if it is negative
	Order       string // of the tasks: descending, which "" is, ascending or none

	first, last time.Time // of what was printed between tasks
}

// usualTasks is how many tasks are listed if nothing says how many.
const usualTasks = 20

// Follow reads to the end of a feed, and shows the times alone.
func (t *Times) Follow(w io.Writer, planFor func(digest string) *plan.Plan, feed <-chan []events.Record) error {
	var run events.Run
	var p *plan.Plan
	for batch := range feed {
		for _, r := range batch {
			run.Apply(r)
			if e, ok := r.Event.(events.PlanLoaded); ok {
				p = planFor(e.Digest)
			}
			if _, ok := r.Event.(events.RunCompleted); ok && !r.Again {
				t.printEnd(w, p, &run, r.Time)
			}
		}
	}
	return nil
}

// printBetween prints, where a task begins, when that is and how long everything took up to then.
func (t *Times) printBetween(w io.Writer, started, at time.Time) {
	if t.SummaryOnly || !slices.Contains(t.Views, ProfileTasks) && !slices.Contains(t.Views, ProfileRoles) {
		return
	}
	t.printNow(w, started, at)
}

func (t *Times) printNow(w io.Writer, started, at time.Time) {
	if t.first.IsZero() {
		t.first, t.last = started, started
	}
	fmt.Fprintln(w, filled(at.Local().Format("Monday 02 January 2006  15:04:05 -0700")+
		" ("+clock(at.Sub(t.last))+")       "+clock(at.Sub(t.first)), "*"))
	t.last = at
}

// filled is a text with signs up to the edge.
func filled(text, sign string) string {
	if text != "" {
		text += " "
	}
	return text + strings.Repeat(sign, max(columns-1-utf8.RuneCountInString(text), 3)) + " "
}

// clock is a time as hours, minutes and seconds.
func clock(d time.Duration) string {
	d = max(d, 0)
	ms := d.Milliseconds()
	return fmt.Sprintf("%d:%02d:%02d.%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
}

// printEnd prints what is known of the times when the run has ended.
func (t *Times) printEnd(w io.Writer, p *plan.Plan, run *events.Run, at time.Time) {
	if p == nil || len(t.Views) == 0 {
		return
	}
	tasks := timedTasks(p, run)
	for _, view := range t.Views {
		switch view {
		case ProfileTasks:
			printBanner(w, "TASKS RECAP")
			t.printNow(w, run.Started, at)
			fmt.Fprintln(w, filled("", "="))
			for _, task := range t.listed(tasks) {
				printTime(w, task.name, task.took)
			}
		case ProfileRoles:
			printBanner(w, "ROLES RECAP")
			t.printNow(w, run.Started, at)
			fmt.Fprintln(w, filled("", "="))
			var total time.Duration
			for _, role := range byRole(tasks) {
				printTime(w, role.name, role.took)
				total += role.took
			}
			fmt.Fprintln(w, filled("", "~"))
			printTime(w, "total", total)
		case Timer:
			printBanner(w, "PLAYBOOK RECAP")
			took := time.Duration(run.Result.DurationMS) * time.Millisecond
			fmt.Fprintf(w, "Playbook run took %d days, %d hours, %d minutes, %d seconds\n",
				took/(24*time.Hour), took/time.Hour%24, took/time.Minute%60, took/time.Second%60)
		}
	}
}

// printTime prints a line with the time on the right.
func printTime(w io.Writer, name string, took time.Duration) {
	name = termtext.CleanName(name) + " "
	seconds := fmt.Sprintf(" %.2fs", took.Seconds())
	const right = 9 // columns for the time
	fmt.Fprintln(w, name+strings.Repeat("-", max(columns-1-right-utf8.RuneCountInString(name), 0))+
		strings.Repeat("-", max(right-len(seconds), 0))+seconds)
}

// timedTask is a task, or a role, and how long it took.
type timedTask struct {
	name, role string
	took       time.Duration
}

// listed are the tasks that are shown, in their order.
func (t *Times) listed(tasks []timedTask) []timedTask {
	tasks = slices.Clone(tasks)
	switch t.Order {
	case "", "descending":
		slices.SortStableFunc(tasks, func(a, b timedTask) int { return cmp.Compare(b.took, a.took) })
	case "ascending":
		slices.SortStableFunc(tasks, func(a, b timedTask) int { return cmp.Compare(a.took, b.took) })
	}
	if most := cmp.Or(t.Most, usualTasks); most > 0 && len(tasks) > most {
		tasks = tasks[:most]
	}
	return tasks
}

// byRole sums the times of the tasks of each role, and of the tasks outside of roles by their actions.
func byRole(tasks []timedTask) (roles []timedTask) {
	for _, task := range tasks {
		i := slices.IndexFunc(roles, func(r timedTask) bool { return r.name == task.role })
		if i < 0 {
			i = len(roles)
			roles = append(roles, timedTask{name: task.role})
		}
		roles[i].took += task.took
	}
	slices.SortStableFunc(roles, func(a, b timedTask) int { return cmp.Compare(b.took, a.took) })
	return roles
}

// timedTasks are the tasks that the run has come to, in the order of the plan.
func timedTasks(p *plan.Plan, run *events.Run) (tasks []timedTask) {
	r := results{plan: p, run: *run}
	type span struct{ from, to time.Time }
	spans, at := map[taskKey][]span{}, map[taskKey]int{}
	for i := range min(len(p.Steps), len(run.Steps)) {
		s, done := &p.Steps[i], &run.Steps[i]
		if s.Loops() || done.Started.IsZero() || done.Outcome == events.Omitted { // of an open loop Ansible knows the rounds
			continue
		}
		reason, _, _ := strings.Cut(done.Reason, ":")
		if done.Outcome == events.Skipped && r.isAbsent(i, events.StepSkipped{Reason: events.SkipReason(reason)}) {
			continue
		}
		key := r.keyOf(i)
		if _, ok := at[key]; !ok {
			action := cmp.Or(ansibleWords[s.Action], s.Action)
			at[key] = len(tasks)
			tasks = append(tasks, timedTask{name: status.TaskTitle(s.Role, r.taskTitle(i)), role: cmp.Or(s.Role, action)})
		}
		if done.Ended.After(done.Started) {
			spans[key] = append(spans[key], span{done.Started, done.Ended})
		}
	}
	for key, list := range spans {
		// Hosts work at the same time, and that counts once.
		slices.SortFunc(list, func(a, b span) int { return a.from.Compare(b.from) })
		var end time.Time
		for _, s := range list {
			if s.from.Before(end) {
				s.from = end
			}
			if s.to.After(s.from) {
				tasks[at[key]].took += s.to.Sub(s.from)
				end = s.to
			}
		}
	}
	return tasks
}
