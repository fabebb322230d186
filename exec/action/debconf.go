package action

import (
	"context"
	"fmt"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("debconf", exec.Action{Plan: planDebconf})

func planDebconf(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DebconfArgs)
	if err := lacksTool(a, "debconf-show", "debconf"); err != nil {
		return nil, err
	}
	is, err := readAnswers(ctx, a, args.Name)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"current": is}}
	if args.Question == "" {
		return c.PlanNothing(), nil
	}
	was, answered := is[args.Question].(string)
	if args.Type == "password" {
		if was, answered, err = readPassword(ctx, a, args); err != nil {
			return nil, err
		}
	}
	if answered && was == *args.Value {
		return c.PlanNothing(), nil
	}
	words := fmt.Sprintf("%s: %s → %s", args.Question, quoteEmpty(was), quoteEmpty(*args.Value))
	c.Fields["previous"] = map[string]any{args.Question: was}
	if args.Type == "password" || a.NoLog {
		// The summary and the result are stored; neither may have a password.
		words = args.Question + ": another answer"
		delete(c.Fields, "previous")
	}
	c.PlanFor(events.ChangeUpdate, "debconf", args.Question, func(ctx context.Context) error {
		selection := strings.Join([]string{args.Name, args.Question, args.Type, *args.Value}, " ") + "\n"
		set := exec.Tool{Argv: []string{"debconf-set-selections"}, Stdin: &selection}
		if args.Unseen {
			set.Argv = append(set.Argv, "--unseen")
		}
		if err := a.RunTool(ctx, set); err != nil {
			return err
		}
		if args.Type != "password" {
			c.Fields["current"] = map[string]any{args.Question: *args.Value}
		}
		return nil
	}, words)
	return c, nil
}

// readAnswers are the questions of a package that have answers. A star in front says that somebody has seen the question.
func readAnswers(ctx context.Context, a *exec.Attempt, name string) (map[string]any, error) {
	said, err := a.AskTool(ctx, exec.NewTool("debconf-show", name))
	if err != nil {
		return nil, err
	}
	if said.Code != 0 {
		return nil, fmt.Errorf("debconf-show %s: %s", name, said.LastWords())
	}
	is := map[string]any{}
	for line := range strings.Lines(said.Stdout) {
		question, answer, ok := strings.Cut(strings.TrimRight(strings.TrimLeft(line, "* "), "\n"), ":")
		if ok {
			is[question] = strings.TrimSpace(answer)
		}
	}
	return is, nil
}

// readPassword asks for an answer that debconf-show does not show.
func readPassword(ctx context.Context, a *exec.Attempt, args *spec.DebconfArgs) (answer string, ok bool, err error) {
	get := "GET " + args.Question + "\n"
	said, err := a.AskTool(ctx, exec.Tool{Argv: []string{"debconf-communicate", args.Name}, Stdin: &get})
	if err != nil {
		return "", false, err
	}
	code, answer, _ := strings.Cut(strings.TrimRight(said.Stdout, "\n"), " ")
	return answer, code == "0", nil
}
