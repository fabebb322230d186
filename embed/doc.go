// Package embed plans and runs playbooks inside another program: what moon plan and moon run do, without a terminal.
//
//	Playbook ──Plan──▶ Plan ──Start──▶ Run ──▶ Events · Send · Wait
//	                    │
//	                    └──▶ Steps · WriteJSON · WriteTree
//
// A program reads a playbook into a Plan, looks at its steps, and starts it as often as it likes. A Run tells what happens as events, those
// of docs/events.md, and takes commands: stop, pause, approve. It leaves a journal and the output of every step in a directory, where moon
// show, moon attach and moon resume find it.
//
//	plan, err := embed.Playbook{Path: "site.yml", Vars: map[string]any{"version": "1.4"}}.Plan(ctx)
//	if err != nil {
//		return err // with the file and the line of every mistake
//	}
//	run, err := plan.Start(ctx, embed.Options{})
//	if err != nil {
//		return err
//	}
//	for e := range run.Events(ctx) {
//		fmt.Println(events.Type(e.Event), e.Step)
//	}
//	result, err := run.Wait()
//
// Nothing is read from standard input and nothing is written to standard output; questions of vars_prompt are answered by Playbook.Answers.
// Signals stay with the program: it cancels the context of Start to stop a run in order. Steps that become other users, and hosts, need a
// program at the far end: main has to call Agent first.
//
// Actions of plugins and modules in Python next to a playbook are not available here. The names of this package stay as they are within
// a version 1; until then CHANGELOG.md says what changes.
package embed
