package exec

import (
	"context"
	"fmt"
	"strings"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("debconf", action{plan: planDebconf})

func planDebconf(ctx context.Context, a *attempt) (*change, error) {
	args := a.Args.(*spec.DebconfArgs)
	if err := lacksTool(a, "debconf-show", "debconf"); err != nil {
		return nil, err
	}
	is, err := readAnswers(ctx, a, args.Name)
	if err != nil {
		return nil, err
	}
	c := &change{fields: map[string]any{"current": is}}
	if args.Question == "" {
		return c.none(), nil
	}
	was, answered := is[args.Question].(string)
	if args.Type == "password" {
		if was, answered, err = readPassword(ctx, a, args); err != nil {
			return nil, err
		}
	}
	if answered && was == *args.Value {
		return c.none(), nil
	}
	words := fmt.Sprintf("%s: %s → %s", args.Question, quoteEmpty(was), quoteEmpty(*args.Value))
	c.fields["previous"] = map[string]any{args.Question: was}
	if args.Type == "password" || a.NoLog {
		words = args.Question + ": another answer"
		delete(c.fields, "previous")
	}
	c.as(events.ChangeUpdate, "debconf", args.Question, func(ctx context.Context) error {
		selection := strings.Join([]string{args.Name, args.Question, args.Type, *args.Value}, " ") + "\n"
		set := tool{argv: []string{"debconf-set-selections"}, stdin: &selection}
		if args.Unseen {
			set.argv = append(set.argv, "--unseen")
		}
		if err := a.tell(ctx, set); err != nil {
			return err
		}
		if args.Type != "password" {
			c.fields["current"] = map[string]any{args.Question: *args.Value}
		}
		return nil
	}, words)
	return c, nil
}

// readAnswers are the questions of a package that have answers. A star in front says that somebody has seen the question.
func readAnswers(ctx context.Context, a *attempt, name string) (map[string]any, error) {
	said, err := a.ask(ctx, program("debconf-show", name))
	if err != nil {
		return nil, err
	}
	if said.code != 0 {
		return nil, fmt.Errorf("debconf-show %s: %s", name, said.last())
	}
	is := map[string]any{}
	for line := range strings.Lines(said.stdout) {
		question, answer, ok := strings.Cut(strings.TrimRight(strings.TrimLeft(line, "* "), "\n"), ":")
		if ok {
			is[question] = strings.TrimSpace(answer)
		}
	}
	return is, nil
}

// readPassword asks for an answer that debconf-show does not show.
func readPassword(ctx context.Context, a *attempt, args *spec.DebconfArgs) (answer string, ok bool, err error) {
	get := "GET " + args.Question + "\n"
	said, err := a.ask(ctx, tool{argv: []string{"debconf-communicate", args.Name}, stdin: &get})
	if err != nil {
		return "", false, err
	}
	code, answer, _ := strings.Cut(strings.TrimRight(said.stdout, "\n"), " ")
	return answer, code == "0", nil
}
