// A program with a playbook in it: it shows the plan, runs it, and says what changed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"moon/embed"
	"moon/events"
)

const playbook = `
steps:
  - name: the directory of the site
    file: {path: "{{ site }}", state: directory}
  - name: its front page
    copy: {dest: "{{ site }}/index.html", content: "<h1>{{ title }}</h1>\n"}
  - name: say so
    shell: echo {{ title }} is in {{ site }}
    changed_when: false
`

func main() {
	embed.Agent() // if moon has started this program for another user, or on a host
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	// Ctrl-C stops the run in order, and its journal is complete.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	plan, err := embed.Playbook{Path: "-", Text: playbook, Vars: map[string]any{"site": "public", "title": "Hello"}}.Plan(ctx)
	if err != nil {
		return err // every mistake, with its line
	}
	defer plan.Close()
	for _, step := range plan.Steps {
		fmt.Printf("%s  %-6s  %s\n", step.ID, step.Action, step.Name)
	}

	run, err := plan.Start(ctx, embed.Options{})
	if err != nil {
		return err
	}
	for record := range run.Events(ctx) {
		switch e := record.Event.(type) {
		case events.StepOutput:
			fmt.Println("  |", e.Line)
		case events.StepCompleted:
			fmt.Printf("%s  changed: %t\n", plan.Steps[record.Step].ID, e.Changed)
		case events.StepFailed:
			fmt.Printf("%s  failed: %s\n", plan.Steps[record.Step].ID, e.Error)
		}
	}
	result, err := run.Wait()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d of %d steps changed something\n", result.Outcome, result.Changed, result.TotalSteps)
	if !result.Success {
		return fmt.Errorf("moon show %s says more", run.ID)
	}
	return nil
}
