package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"moon/internal/termtext"
	"moon/plan"
)

// AskPrompts asks what vars_prompt wants to know, on the terminal, line by line, whatever standard input is. Without a terminal
// the defaults count; what has none is named.
func (call *Invocation) AskPrompts(list []plan.Prompt) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return Defaults(list)
	}
	defer func() { _ = tty.Close() }() // what was written was seen
	return AnswersOn(tty, list, func(question string) (string, error) { return call.askHidden(tty, question) })
}

// Defaults answers where there is nobody to ask.
func Defaults(list []plan.Prompt) (map[string]string, error) {
	answers, open := map[string]string{}, []string(nil)
	for _, p := range list {
		if answers[p.Name] = p.Default; p.Default == "" {
			open = append(open, fmt.Sprintf("  -e %s=…   %s", p.Name, p.Question()))
		}
	}
	if len(open) > 0 {
		return nil, Usage("the playbook asks for variables, and there is no terminal to ask on. Give them:\n%s\nnothing was run",
			strings.Join(open, "\n"))
	}
	return answers, nil
}

// AnswersOn asks one question after the other. What is private is read by secretly.
func AnswersOn(tty io.ReadWriter, list []plan.Prompt, secretly func(question string) (string, error)) (map[string]string, error) {
	in := bufio.NewReader(tty)
	// One reader for all questions: it may have read ahead.
	ask := func(p plan.Prompt, more string) (string, error) {
		question := termtext.CleanName(p.Question()) + more
		if p.Default != "" && !p.Private {
			question += " [" + termtext.CleanName(p.Default) + "]"
		}
		question += ": "
		if p.Private {
			return secretly(question)
		}
		if _, err := io.WriteString(tty, question); err != nil {
			return "", err
		}
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return "", NewExit(ExitInterrupted, "") // ctrl-d cancels, before anything runs
		}
		return strings.TrimRight(line, "\r\n"), err
	}
	answers := map[string]string{}
	for _, p := range list {
		for {
			answer, err := ask(p, "")
			if err != nil {
				return nil, err
			}
			if p.Confirm {
				again, err := ask(p, " (again)")
				if err != nil {
					return nil, err
				}
				if again != answer {
					if _, err := io.WriteString(tty, "that is not the same; start again\n"); err != nil {
						return nil, err
					}
					continue
				}
			}
			if answer == "" {
				answer = p.Default
			}
			answers[p.Name] = answer
			break
		}
	}
	return answers, nil
}
