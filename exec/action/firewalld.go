package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("firewalld", exec.Action{Plan: planFirewalld})

// firewall is a step of firewalld.
type firewall struct {
	*exec.Attempt
	args    *spec.FirewalldArgs
	offline bool // the daemon is not running, so only its files can be changed
}

// notRunning is the exit status of firewall-cmd without its daemon.
const notRunning = 252

func planFirewalld(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	f := firewall{Attempt: a, args: a.Args.(*spec.FirewalldArgs)}
	if err := lacksTool(a, "firewall-cmd", "firewalld"); err != nil {
		return nil, err
	}
	said, err := a.AskTool(ctx, exec.NewTool("firewall-cmd", "--state"))
	if err != nil {
		return nil, err
	}
	switch f.offline = said.Code == notRunning; {
	case said.Code != 0 && !f.offline:
		return nil, firewallError(said)
	// An earlier step may start it.
	case f.offline && f.args.Immediate:
		return nil, fault.Missing("", "firewalld is not running; start it, or give `permanent: true` without `immediate`")
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	changed := map[bool]bool{} // by permanent
	for _, permanent := range []bool{true, false} {
		if permanent && !f.args.Lasting || !permanent && !f.args.Immediate {
			continue
		}
		is, err := f.ask(ctx, permanent)
		if err != nil {
			return nil, err
		}
		if is == f.args.On {
			continue
		}
		changed[permanent] = true
		kind := map[bool]events.ChangeKind{true: events.ChangeCreate, false: events.ChangeDelete}[f.args.On]
		if f.args.Option == "target" || f.args.Option == "interface" { // there was another one
			kind = events.ChangeUpdate
		}
		planAfter(c, kind, func(ctx context.Context) error {
			said, err := f.RunToolReading(ctx, exec.NewTool(f.setWords(permanent)...))
			if err != nil && said.Code != 0 {
				return firewallError(said)
			}
			return err
		}, map[bool]string{true: "permanently", false: "now"}[permanent]+": "+f.words())
	}
	says := []string{"Non-permanent operation"}
	switch {
	case f.args.Lasting && f.args.Immediate:
		says[0] = "Permanent and Non-Permanent(immediate) operation"
	case f.args.Lasting:
		says[0] = "Permanent operation"
	}
	if len(changed) > 0 {
		zone, err := f.zone(ctx)
		if err != nil {
			return nil, err
		}
		says = append(says, f.report(zone)...)
		f.record(c, zone, changed)
	}
	if f.offline {
		says = append(says, "(offline operation: only on-disk configs were altered)")
	}
	c.Fields["msg"] = strings.Join(says, ", ")
	return c, nil
}

// zone is the zone of the step by its name. The default may be another one when the change is to be undone.
func (f firewall) zone(ctx context.Context) (string, error) {
	if f.args.Zone != "" {
		return f.args.Zone, nil
	}
	said, err := f.AskTool(ctx, exec.NewTool(f.command(false, false, "--get-default-zone")...))
	if err == nil && said.Code != 0 {
		err = firewallError(said)
	}
	return strings.TrimSpace(said.Stdout), err
}

func firewallError(said exec.Answer) error {
	message := strings.TrimPrefix(said.LastWords(), "Error: ")
	return fault.CommandError{Message: "firewalld: " + message, RC: &said.Code, Class: fault.Fatal}
}

// command is a call for the files or for what is in effect, for the zone of the step.
func (f firewall) command(permanent, zone bool, words ...string) []string {
	argv := []string{"firewall-cmd"}
	switch {
	case f.offline:
		argv = []string{"firewall-offline-cmd"}
	case permanent:
		argv = append(argv, "--permanent")
	}
	if zone && f.args.Zone != "" {
		argv = append(argv, "--zone="+f.args.Zone)
	}
	return append(argv, words...)
}

// option is an option for what the step is about: --query-service=http.
func (f firewall) option(verb string) string {
	word := "--" + verb + "-" + f.args.Option
	if f.args.Value != "" {
		word += "=" + f.args.Value
	}
	return word
}

// ask finds out whether what the step is about is there.
func (f firewall) ask(ctx context.Context, permanent bool) (bool, error) {
	argv := f.command(permanent, true, f.option("query"))
	switch f.args.Option {
	case "":
		argv = f.command(permanent, false, "--get-zones")
	case "target":
		argv = f.command(permanent, true, "--get-target")
	}
	said, err := f.AskTool(ctx, exec.NewTool(argv...))
	if err != nil {
		return false, err
	}
	switch {
	// A query says no, and ends with 1; anything else is an error, such as a zone that an earlier step may create.
	case said.Code == 1 && strings.TrimSpace(said.Stdout) == "no":
		return false, nil
	case said.Code != 0:
		return false, fault.Missing("", "%s", firewallError(said))
	case f.args.Option == "":
		return slices.Contains(strings.Fields(said.Stdout), f.args.Zone), nil
	case f.args.Option == "target":
		return firewallTarget(said.Stdout) == firewallTarget(f.args.Value), nil
	}
	return true, nil
}

// firewallTarget is a target as firewall-cmd prints it: REJECT for %%REJECT%%.
func firewallTarget(text string) string { return strings.Trim(strings.TrimSpace(text), "%") }

// setWords is the command that makes it so.
func (f firewall) setWords(permanent bool) []string {
	on := f.args.On
	switch {
	case f.args.Option == "" && on:
		return f.command(true, false, "--new-zone="+f.args.Zone)
	case f.args.Option == "":
		return f.command(true, false, "--delete-zone="+f.args.Zone)
	case f.args.Option == "target" && on:
		return f.command(true, true, "--set-target="+f.args.Value)
	case f.args.Option == "target":
		return f.command(true, true, "--set-target=default")
	case f.args.Option == "interface" && on:
		return f.command(permanent, true, f.option("change"))
	case !on:
		return f.command(permanent, true, f.option("remove"))
	}
	words := []string{f.option("add")}
	forever := []string{"source", "interface", "icmp-block-inversion", "masquerade"}
	if !permanent && f.args.Timeout > 0 && !slices.Contains(forever, f.args.Option) {
		words = append(words, fmt.Sprintf("--timeout=%d", f.args.Timeout))
	}
	return f.command(permanent, true, words...)
}

func (f firewall) words() string {
	what := strings.TrimSpace(f.args.Option + " " + f.args.Value)
	if what == "" {
		what = "zone " + f.args.Zone
	}
	return what + map[bool]string{true: " on", false: " off"}[f.args.On]
}

// report says what was changed, in the words that conditions of plays may look for.
func (f firewall) report(zone string) []string {
	value, on, state := f.args.Value, f.args.On, f.args.State
	pick := func(added, removed string) []string {
		return []string{map[bool]string{true: added, false: removed}[on]}
	}
	changed := func(what string) []string { return []string{"Changed " + what + " to " + state} }
	switch f.args.Option {
	case "":
		return append(pick("Added zone "+zone, "Removed zone "+zone), changed("zone "+zone)...)
	case "target":
		return pick(fmt.Sprintf("Set zone %s target to %s", zone, value), fmt.Sprintf("Reset zone %s target to default", zone))
	case "masquerade":
		return pick("Added masquerade to zone "+zone, "Removed masquerade from zone "+zone)
	case "source":
		return pick("Added "+value+" to zone "+zone, "Removed "+value+" from zone "+zone)
	case "interface":
		return pick("Changed "+value+" to zone "+zone, "Removed "+value+" from zone "+zone)
	case "icmp-block-inversion":
		return changed("icmp-block-inversion " + f.args.IcmpInversion)
	case "forward-port":
		if !strings.Contains(value, ":toaddr=") {
			value += ":toaddr="
		}
		return changed("port_forward " + value)
	case "rich-rule":
		return changed("rich_rule " + value)
	}
	return changed(f.args.Option + " " + value)
}

// record notes what was added, to be taken away where it was added: in the files, in effect, or both.
func (f firewall) record(c *exec.Change, zone string, changed map[bool]bool) {
	name := zone + ": " + f.words()
	if f.args.Option == "" {
		name = zone
	}
	if !f.args.On || f.args.Option == "target" || f.args.Option == "interface" {
		c.AddResource(c.Diff.Kind, "firewalld", name)
		return
	}
	undo := map[string]any{"state": "disabled", "permanent": changed[true], "immediate": changed[false]}
	if f.args.Option == "" {
		undo = map[string]any{"state": "absent", "permanent": true}
	}
	for field, value := range map[string]string{
		"zone": zone, "service": f.args.Service, "port": f.args.Port, "protocol": f.args.Protocol, "rich_rule": f.args.RichRule,
		"source": f.args.Source, "icmp_block": f.args.IcmpBlock,
	} {
		if value != "" {
			undo[field] = value
		}
	}
	switch f.args.Option {
	case "masquerade":
		undo["masquerade"] = true
	case "icmp-block-inversion":
		undo["icmp_block_inversion"] = true
	case "forward-port":
		undo["port_forward"] = f.args.PortForward
	}
	c.AddCreated("firewalld", name, f.UndoWithTools("firewalld", undo))
}
