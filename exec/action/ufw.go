package action

import (
	"context"
	"fmt"
	"os"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("ufw", exec.Action{Plan: planUfw})

// ufwFiles have the rules, and what holds while the firewall is off.
const (
	ufwRules    = "/etc/ufw/user.rules"
	ufwRules6   = "/etc/ufw/user6.rules"
	ufwDefaults = "/etc/default/ufw"
	ufwConf     = "/etc/ufw/ufw.conf"
)

// ufwStep is a step of ufw with the status that ufw prints.
type ufwStep struct {
	*exec.Attempt
	args   *spec.UfwArgs
	status string
	c      *exec.Change
}

func planUfw(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	if err := lacksTool(a, "ufw", "ufw"); err != nil {
		return nil, err
	}
	said, err := a.AskTool(ctx, exec.NewTool("ufw", "status", "verbose"))
	if err != nil {
		return nil, err
	}
	if said.Code != 0 {
		return nil, ufwError(said)
	}
	s := ufwStep{a, a.Args.(*spec.UfwArgs), said.Stdout, &exec.Change{}}
	s.c.Fields = map[string]any{"commands": []any{}, "msg": strings.TrimRight(said.Stdout, "\n")}
	s.c.PlanNothing()
	s.planSwitch()
	s.planDefault()
	if s.args.Rule != "" {
		if err := s.planRule(ctx); err != nil {
			return nil, err
		}
	}
	s.planLogging()
	if s.c.Diff.Kind == events.ChangeNone {
		return s.c, nil
	}
	do := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		said, err := a.AskTool(ctx, exec.NewTool("ufw", "status", "verbose"))
		if err == nil {
			s.c.Fields["msg"] = strings.TrimRight(said.Stdout, "\n")
		}
		return err
	}
	return s.c, nil
}

func ufwError(said exec.Answer) error {
	message := strings.TrimPrefix(said.LastWords(), "ERROR: ")
	return fault.CommandError{Message: "ufw: " + message, RC: &said.Code, Class: fault.Fatal}
}

// add plans a command of ufw.
func (s *ufwStep) add(kind events.ChangeKind, summary string, words ...string) {
	s.c.Fields["commands"] = append(s.c.Fields["commands"].([]any), "ufw "+strings.Join(words, " "))
	planAfter(s.c, kind, func(ctx context.Context) error {
		said, err := s.RunToolReading(ctx, exec.NewTool(append([]string{"ufw"}, words...)...))
		if err != nil && said.Code != 0 {
			return ufwError(said)
		}
		return err
	}, summary)
}

func (s *ufwStep) planSwitch() {
	on := strings.Contains(s.status, "Status: active")
	switch state := s.args.State; {
	case state == "enabled" && !on:
		s.c.AddCreated("ufw", "enabled", s.UndoWithTools("ufw", map[string]any{"state": "disabled"}))
		s.add(events.ChangeUpdate, "enabled", "-f", "enable")
	case state == "disabled" && on:
		s.c.AddCreated("ufw", "disabled", s.UndoWithTools("ufw", map[string]any{"state": "enabled"}))
		s.add(events.ChangeUpdate, "disabled", "-f", "disable")
	case state == "reloaded":
		s.c.AddResource(events.ChangeUpdate, "ufw", "rules")
		s.add(events.ChangeUpdate, state, "-f", "reload")
	case state == "reset":
		s.c.AddResource(events.ChangeDelete, "ufw", "rules")
		s.add(events.ChangeUpdate, state, "-f", "reset")
	}
}

var ufwPolicies = pattern.New(`Default: (\w+) \(incoming\), (\w+) \(outgoing\), (\w+) \(routed\)`)

// policy is what happens to traffic of a direction; "" if it is unknown. The status tells only while the firewall is on.
func (s *ufwStep) policy(direction string) string {
	at := map[string]int{"incoming": 1, "outgoing": 2, "routed": 3}[direction]
	if m := ufwPolicies.FindStringSubmatch(s.status); m != nil {
		if m[at] == "disabled" { // nothing is forwarded, but a policy is set for when it is
			return s.setting(ufwDefaults, "DEFAULT_FORWARD_POLICY")
		}
		return m[at]
	}
	return s.setting(ufwDefaults, []string{"DEFAULT_INPUT_POLICY", "DEFAULT_OUTPUT_POLICY", "DEFAULT_FORWARD_POLICY"}[at-1])
}

// ufwWords are the policies of iptables as ufw calls them.
var ufwWords = strings.NewReplacer("accept", "allow", "drop", "deny")

// setting is a value of a file of shell variables, in the words of ufw.
func (s *ufwStep) setting(file, name string) string {
	text, _ := os.ReadFile(file) // without it the value is unknown
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == name {
			return ufwWords.Replace(strings.ToLower(strings.Trim(value, `"'`)))
		}
	}
	return ""
}

func (s *ufwStep) planDefault() {
	direction := s.args.Direction
	if direction == "" {
		direction = "incoming"
	}
	is := s.policy(direction)
	if s.args.Default == "" || is == s.args.Default {
		return
	}
	s.c.AddResource(events.ChangeUpdate, "ufw", "default "+direction)
	s.add(events.ChangeUpdate, fmt.Sprintf("default %s %s → %s", direction, is, s.args.Default), "default", s.args.Default, direction)
}

var ufwLogging = pattern.New(`Logging: (on|off)(?: \((\w+)\))?`)

func (s *ufwStep) planLogging() {
	want := s.args.Logging
	is := s.setting(ufwConf, "LOGLEVEL")
	if m := ufwLogging.FindStringSubmatch(s.status); m != nil {
		if is = m[2]; m[1] == "off" {
			is = "off"
		}
	}
	if want == "" || want == is || want == "on" && is != "off" && is != "" {
		return
	}
	s.c.AddResource(events.ChangeUpdate, "ufw", "logging")
	s.add(events.ChangeUpdate, fmt.Sprintf("logging %s → %s", is, want), "logging", want)
}

// ufwNumber is the line of a rule in what ufw numbers.
var ufwNumber = pattern.New(`(?m)^\[ *\d+\] .*$`)

// planRule has ufw say what a rule would do. It prints the rules that its files would have then, or that it skips the rule.
func (s *ufwStep) planRule(ctx context.Context) error {
	var words []string
	if s.args.Route {
		words = append(words, "route")
	}
	if s.args.Delete {
		words = append(words, "delete")
	}
	if s.args.Insert != nil && !s.args.Delete {
		var ipv6 []bool
		// Numbers count from the rules that are there, those of IPv6 behind those of IPv4.
		if s.args.RelativeTo != "zero" {
			said, err := s.AskTool(ctx, exec.NewTool("ufw", "status", "numbered"))
			if err != nil {
				return err
			}
			for _, line := range ufwNumber.FindAllString(said.Stdout, -1) {
				ipv6 = append(ipv6, strings.Contains(line, "(v6)"))
			}
		}
		words = append(words, s.args.InsertWords(ipv6)...)
	}
	words = append(words, s.args.RuleWords()...)
	said, err := s.AskTool(ctx, exec.NewTool(append([]string{"ufw", "--dry-run"}, words...)...))
	if err != nil {
		return err
	}
	if said.Code != 0 {
		return ufwError(said)
	}
	if s.hasRules(said.Stdout) {
		return nil
	}
	name := strings.Join(s.args.RuleWords(), " ")
	if s.args.Delete {
		s.c.AddResource(events.ChangeDelete, "ufw_rule", name)
		s.add(events.ChangeDelete, "rule removed", words...)
		return nil
	}
	undo := s.args.RuleFields()
	undo["delete"] = true
	s.c.AddCreated("ufw_rule", name, s.UndoWithTools("ufw", undo))
	s.add(events.ChangeCreate, "rule added", words...)
	return nil
}

// hasRules reports whether a dry run of ufw would leave the rules as they are: it says that it skips what there is, or could not delete
// what there is not, or the rules of the files that it prints are those that they have. Which of the two files it prints depends on the
// addresses of the rule.
func (s *ufwStep) hasRules(printed string) bool {
	skipped := strings.TrimSpace(printed) != ""
	for line := range strings.Lines(printed) {
		skipped = skipped && (strings.HasPrefix(line, "Skipping ") || strings.HasPrefix(line, "Could not delete non-existent"))
	}
	if skipped {
		return true
	}
	var has []string
	for _, file := range []string{ufwRules, ufwRules6} {
		text, err := fsys.ReadRegular(file)
		if err != nil {
			return false
		}
		if strings.Contains(printed, map[string]string{ufwRules: ":ufw-user-input", ufwRules6: ":ufw6-user-input"}[file]) {
			has = append(has, ufwTuples(string(text))...)
		}
	}
	return strings.Join(has, "") == strings.Join(ufwTuples(printed), "")
}

// ufwTuples are the rules in a file of ufw.
func ufwTuples(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "### tuple ###") {
			all = append(all, strings.TrimSpace(line)+"\n")
		}
	}
	return all
}
