// Package standin makes the tasks that stand for what has no task of its own in a playbook: the step that decides about an include, the
// step of an open place, a loop without items. Each is made once and kept by the task it stands for, as hosts and rounds share what is
// compiled of a task. It plans nothing.
//
//	task as written ──Decider, Finder, Empty, Failing, Excluded, WithModule, Applied──▶ task that is planned
package standin
