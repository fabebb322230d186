package events

// TaskEnds is how a task has ended on one host: its only step, or the items of its loop.
type TaskEnds struct{ ran, changed, skipped, failed, unreachable, rescued, ignored, included int }

// StepEnd is a step that has ended, as far as counting goes.
type StepEnd struct {
	Action  string
	Outcome Outcome
	Reason  SkipReason // of a skipped one
	Tried   bool       // it has begun, whatever came of it
	Touched bool       // it has failed and changed something nevertheless
	Ignored bool
	Rescued bool
}

// Take takes in the end of a step. What never was a task's turn counts nowhere: what tags or a person leave out, a handler nobody has
// notified. A step that finds its work done already is ok.
func (t *TaskEnds) Take(e StepEnd) {
	found := e.Action == "loop" && (e.Outcome == OK || e.Outcome == Changed) // its rounds count
	if found || e.Action == "meta" || e.Action == "include_role" && e.Outcome != Skipped {
		return // users of plays see no task there
	}
	switch e.Outcome {
	case OK, Changed:
		t.ran++
		if e.Outcome == Changed {
			t.changed++
		}
		if e.Action == "include_tasks" {
			t.included++
		}
	case Skipped:
		switch e.Reason {
		case SkipWhen, SkipAction, SkipPlugin:
			t.skipped++
		case SkipCreates, SkipRemoves, SkipUnless, SkipOnlyIf, SkipUpToDate:
			t.ran++
		case SkipUser:
			if e.Tried { // it failed, and a person let it be
				t.skipped++
			}
		case SkipTags, SkipUnchanged, SkipNeeds:
		}
	case Failed, Timeout, Rejected, Unreachable, Lost:
		switch {
		case e.Ignored:
			t.ran++
			t.ignored++
			if e.Touched {
				t.changed++
			}
		case e.Outcome == Unreachable || e.Outcome == Lost:
			t.unreachable++
		case e.Rescued:
			t.rescued++
		default:
			t.failed++
		}
	case None, Omitted, Cancelled:
	}
}

// Add counts the task, once.
func (t *TaskEnds) Add(c *HostCounts) {
	switch {
	case t.unreachable > 0:
		c.Unreachable++
	case t.failed > 0:
		c.Failed++
	case t.rescued > 0:
		c.Rescued++
	case t.ran > 0:
		c.OK += max(t.included, 1) // each file is one
		c.Changed += min(t.changed, 1)
		c.Ignored += min(t.ignored, 1)
	case t.skipped > 0:
		c.Skipped++
	}
}
