package action

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = exec.Register("composer", exec.Action{Plan: planComposer, Supplies: func(args any) string {
	a := args.(*spec.ComposerArgs)
	return cmp.Or(exec.QuoteGiven("composer_executable", a.ComposerProgram), exec.QuoteGiven("executable", a.PHP))
}})

// composerStep is a step of composer.
type composerStep struct {
	*exec.Attempt
	args    *spec.ComposerArgs
	options map[string]bool // those that the command has
}

// composerIdle are the words by which composer says that there was nothing to do.
var composerIdle = []string{"Nothing to install or update", "Nothing to install, update or remove"}

func planComposer(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	s := composerStep{Attempt: a, args: a.Args.(*spec.ComposerArgs)}
	if program := cmp.Or(s.args.PHP, s.args.ComposerProgram); program == "" {
		if err := lacksTool(a, "composer", "composer"); err != nil {
			return nil, err
		}
	}
	// Plugins of a project run in whatever composer does there.
	if err := a.RefuseInProject(s.args.WorkingDir); err != nil {
		return nil, err
	}
	if s.args.WorkingDir != "" && isMissing(a, s.args.WorkingDir) {
		return nil, fault.Missing(s.args.WorkingDir, "%s does not exist", s.args.WorkingDir)
	}
	if err := s.askOptions(ctx); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{}}
	if a.Predicts() {
		return c, s.predict(ctx, c)
	}
	s.planRun(c)
	return c, nil
}

// askOptions learns which options the command has: commands and versions of composer differ in them.
func (s *composerStep) askOptions(ctx context.Context) error {
	said, err := s.AskTool(ctx, s.tool("help", s.args.Command, "--no-interaction", "--format=json"))
	if err == nil && said.Code != 0 {
		err = said.Explain(fault.CommandError{Message: "composer", RC: &said.Code, Class: fault.Fatal})
	}
	if err != nil {
		return err
	}
	var help struct {
		Definition struct {
			Options map[string]any `json:"options"`
		} `json:"definition"`
	}
	// Warnings may stand before it.
	_, text, _ := strings.Cut(said.Stdout, "{")
	if err := json.Unmarshal([]byte("{"+text), &help); err != nil {
		return fmt.Errorf("composer help %s: %w", s.args.Command, err)
	}
	s.options = map[string]bool{}
	for name := range help.Definition.Options {
		s.options[name] = true
	}
	return nil
}

// tool is a call of composer.
func (s *composerStep) tool(words ...string) exec.Tool {
	composer := cmp.Or(s.args.ComposerProgram, "composer")
	argv := []string{composer}
	switch {
	case s.args.PHP != "" && s.args.ComposerProgram != "":
		argv = []string{s.args.PHP, composer}
	case s.args.PHP != "": // php looks for no program, so a shell does
		argv = []string{process.ShellPath, "-c", `exec "$0" "$(command -v composer)" "$@"`, s.args.PHP}
	}
	return exec.Tool{Argv: append(argv, words...)}
}

// run is the call of the command itself, or of its dry run.
func (s *composerStep) run(dry bool) exec.Tool {
	var words []string
	if s.args.Global {
		words = append(words, "global")
	}
	words = append(words, s.args.Command)
	for _, option := range s.args.Options() {
		if option.Given && s.options[option.Name] {
			words = append(words, "--"+option.Name)
		}
	}
	if !s.args.Global {
		words = append(words, "--working-dir", s.args.WorkingDir)
	}
	if dry {
		words = append(words, "--dry-run")
	}
	return s.tool(append(words, s.args.Words...)...)
}

// predict asks composer what it would do.
func (s *composerStep) predict(ctx context.Context, c *exec.Change) error {
	if !s.options["dry-run"] {
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, "composer "+s.args.Command+" has no dry run"
		return nil
	}
	said, err := s.AskTool(ctx, s.run(true))
	if err == nil && said.Code != 0 {
		err = said.Explain(fault.CommandError{Message: "composer", RC: &said.Code, Class: fault.Fatal})
	}
	if err != nil {
		return err
	}
	s.planRun(c)
	s.note(c, said)
	return nil
}

// packageLines are the packages that composer names, for the diff: "  - Installing acme/http (1.0)".
func (s *composerStep) packageLines(said exec.Answer) string {
	if !s.Diff || s.NoLog {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(said.Stdout + said.Stderr) {
		line = strings.TrimSpace(line)
		for sign, verbs := range map[string]string{"+": "Installing Locking Upgrading Updating Downgrading", "-": "Removing Uninstalling"} {
			if words := strings.Fields(line); len(words) > 2 && words[0] == "-" && strings.Contains(verbs, words[1]) {
				b.WriteString(sign + strings.Join(words[1:], " ") + "\n")
			}
		}
	}
	return b.String()
}

// planRun plans the command. Only when it has run it is known whether that was a change.
func (s *composerStep) planRun(c *exec.Change) {
	where := s.args.WorkingDir
	var made []string
	if where == "" {
		where = "packages of the user"
	} else {
		made = []string{filepath.Join(where, "vendor"), filepath.Join(where, "composer.lock")}
	}
	words := []string{"composer", s.args.Command}
	if s.args.Arguments != "" {
		words = append(words, s.args.Words...)
	}
	c.PlanFor(events.ChangeUpdate, "composer", where, func(ctx context.Context) error {
		record := c.Watch(true, made...)
		said, err := s.RunToolReading(ctx, s.run(false))
		s.note(c, said)
		record()
		return said.Explain(err, "Could not resolve host", "Connection timed out", "could not be fully loaded", "returned error: 5")
	}, strings.Join(words, " "))
}

// note puts into the result what composer said, and whether that was a change.
func (s *composerStep) note(c *exec.Change, said exec.Answer) {
	text := said.Stdout + said.Stderr
	c.Fields["stdout"], c.Fields["msg"] = text, strings.Join(strings.Fields(text), " ")
	c.Diff.Text = s.packageLines(said)
	for _, idle := range composerIdle {
		if strings.Contains(text, idle) {
			c.Diff.Kind, c.Diff.Summary = events.ChangeNone, ""
		}
	}
}
