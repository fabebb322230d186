package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/suggest"
)

// systemd asks systemctl.
type systemd struct{ args *spec.ServiceArgs }

func (s *systemd) buildCommand(words ...string) exec.Tool {
	t := exec.NewTool("systemctl")
	if s.args.Scope != "system" {
		t.Argv = append(t.Argv, "--"+s.args.Scope)
	}
	// Without a login session, as after su, the variable is not set and systemctl does not find the manager of the user.
	if s.args.Scope == "user" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		t.Env = map[string]string{"XDG_RUNTIME_DIR": fmt.Sprintf("/run/user/%d", os.Geteuid())}
	}
	t.Argv = append(t.Argv, words...)
	return t
}

func (s *systemd) rereadUnits(ctx context.Context, a *exec.Attempt) error {
	for _, o := range []struct {
		on   bool
		verb string
	}{{s.args.DaemonReexec, "daemon-reexec"}, {s.args.DaemonReload, "daemon-reload"}} {
		if !o.on {
			continue
		}
		if said, err := a.RunToolReading(ctx, s.buildCommand(o.verb)); err != nil {
			return systemdError(said, err)
		}
	}
	return nil
}

func (s *systemd) readState(ctx context.Context, a *exec.Attempt) (*serviceState, error) {
	args := s.args
	if len(args.Words) > 0 {
		return nil, errors.New("systemd gives a service no arguments; they belong into its unit")
	}
	is := &serviceState{}
	// Units of all users are enabled or not; no manager runs them that could say more.
	if args.Scope != "global" {
		said, err := a.AskTool(ctx, s.buildCommand("show", "--no-pager", "--", args.Name))
		if err != nil {
			return nil, err
		}
		if said.Code != 0 {
			return nil, systemdError(said, fault.CommandError{Message: "systemctl: " + findComplaint(said), RC: &said.Code, Class: fault.Fatal})
		}
		// `show` succeeds for any name; only the load state says whether there is such a unit.
		is.status = readProperties(said.Stdout)
		switch is.status["LoadState"] {
		case "not-found":
			if args.OnlyLooks() {
				return is, nil
			}
			return nil, noService(args.Name, s.suggestUnit(ctx, a))
		case "error", "bad-setting":
			return nil, fmt.Errorf("the unit of %s cannot be used; `systemctl status %s` says why", args.Name, args.Name)
		}
		is.running = slices.Contains([]any{"active", "activating", "reloading", "refreshing"}, is.status["ActiveState"])
		is.masked = is.status["LoadState"] == "masked"
	}
	said, err := a.AskTool(ctx, s.buildCommand("is-enabled", "--", args.Name))
	if err != nil {
		return nil, err
	}
	switch word := strings.TrimSpace(said.Stdout); word {
	case "enabled", "alias", "linked":
		is.enabled = word == "enabled"
	case "static", "generated", "transient":
		// A generated unit comes from an init script, which can be enabled as such.
		is.enabled, is.static = said.Code == 0, word != "generated"
	case "masked", "masked-runtime":
		is.masked = true
	case "not-found", "":
		if args.Scope == "global" || is.status["UnitFileState"] != "" {
			return nil, noService(args.Name, s.suggestUnit(ctx, a))
		}
	}
	if is.masked && (args.Masked == nil || *args.Masked) &&
		(args.Enabled != nil && *args.Enabled || args.State != "" && args.State != "stopped") {
		return nil, fmt.Errorf("%s is masked; masked: false lifts that", args.Name)
	}
	return is, nil
}

// readProperties reads lines of NAME=VALUE.
func readProperties(text string) map[string]any {
	m := map[string]any{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			m[name] = value
		}
	}
	return m
}

// suggestUnit suggests a unit for a name that no unit has.
func (s *systemd) suggestUnit(ctx context.Context, a *exec.Attempt) string {
	said, err := a.AskTool(ctx, s.buildCommand("list-unit-files", "--no-legend", "--no-pager", "--plain"))
	if err != nil {
		return ""
	}
	var names []string
	for line := range strings.Lines(said.Stdout) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0], strings.TrimSuffix(words[0], ".service"))
		}
	}
	return suggest.DidYouMean(s.args.Name, names)
}

func (s *systemd) runVerb(ctx context.Context, a *exec.Attempt, verb string) error {
	words := []string{}
	// Enabling and masking only change links; there is no job that could be waited for.
	if s.args.NoBlock && !slices.Contains([]string{"enable", "disable", "mask", "unmask"}, verb) {
		words = append(words, "--no-block")
	}
	if s.args.Force && (verb == "enable" || verb == "mask") {
		words = append(words, "--force")
	}
	said, err := a.RunToolReading(ctx, s.buildCommand(append(words, verb, "--", s.args.Name)...))
	if err == nil || fault.Stopped(ctx) != "" || said.Code == 0 {
		return err
	}
	if verb == "start" || verb == "restart" || verb == "reload" {
		return s.explainFailure(ctx, a, verb, said)
	}
	return systemdError(said, fault.CommandError{Message: "systemctl: " + findComplaint(said), RC: &said.Code, Class: fault.Fatal})
}

// explainFailure finds out what kept a service from starting, and shows the end of its log.
func (s *systemd) explainFailure(ctx context.Context, a *exec.Attempt, verb string, said exec.Answer) error {
	journal := []string{"journalctl"}
	if s.args.Scope == "user" {
		journal = append(journal, "--user")
	}
	logged := false
	if a.Installed("journalctl") {
		// The log goes to the output of the step, where a person looks first.
		logged = a.RunTool(ctx, exec.NewTool(append(journal, "--no-pager", "-n", "20", "-u", s.args.Name)...)) == nil
	}
	e := fault.CommandError{Message: "systemctl: " + findComplaint(said), RC: &said.Code, Class: fault.Fatal}
	now, err := a.AskTool(ctx, s.buildCommand("show", "--no-pager", "--property=Result,ExecMainStatus", "--", s.args.Name))
	if p := readProperties(now.Stdout); err == nil && p["Result"] != "success" && p["Result"] != nil {
		e.Message = fmt.Sprintf("%s could not be %s: %v", s.args.Name,
			map[string]string{"start": "started", "restart": "restarted", "reload": "reloaded"}[verb], p["Result"])
		if p["Result"] == "exit-code" {
			e.Message += fmt.Sprintf(" (exit status %v)", p["ExecMainStatus"])
		}
		if logged {
			e.Message += "; the last lines of its log are in the output"
		}
	}
	return systemdError(said, e)
}

// systemdError says who may do what was not allowed.
func systemdError(said exec.Answer, err error) error {
	text := said.Stderr + said.Stdout
	e, ok := errors.AsType[fault.CommandError](err)
	if !ok {
		return err
	}
	switch {
	case strings.Contains(text, "Interactive authentication required"), strings.Contains(text, "Access denied"),
		strings.Contains(text, "Permission denied"):
		e.Message += "; it must run as root"
	case strings.Contains(text, "Failed to connect to bus"), strings.Contains(text, "has not been booted with systemd"):
		e.Message += "; systemd does not run here, or not for this user"
	}
	return e
}
