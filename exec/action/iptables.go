package action

import (
	"context"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("iptables", exec.Action{Plan: planIptables})

// packetFilter is a step of iptables.
type packetFilter struct {
	*exec.Attempt
	args    *spec.IptablesArgs
	program string
}

func planIptables(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.IptablesArgs)
	f := packetFilter{a, args, map[string]string{"ipv4": "iptables", "ipv6": "ip6tables"}[args.IPVersion]}
	if err := lacksTool(a, f.program, "iptables"); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{
		"ip_version": args.IPVersion, "table": args.Table, "chain": noText(args.Chain), "flush": args.Flush,
		"rule": args.Shown, "state": args.State, "chain_management": args.ChainManagement,
	}}
	c.PlanNothing()
	switch {
	case args.Flush:
		f.plan(c, events.ChangeDelete, "flush "+strings.TrimSpace(args.Table+" "+args.Chain), f.tool("-F"))
		return c, nil
	case args.Policy != "":
		return c, f.planPolicy(ctx, c)
	case args.State == fsys.Absent && len(args.Rule) == 0:
		there, err := f.hasChain(ctx)
		if there {
			f.plan(c, events.ChangeDelete, "remove the chain "+args.Chain, f.tool("-X"))
		}
		return c, err
	}
	return c, f.planRule(ctx, c)
}

// label names what the step is about.
func (f packetFilter) label() string {
	return strings.TrimSpace(f.args.IPVersion + " " + f.args.Table + " " + f.args.Chain)
}

// tool is a call for the table and the chain.
func (f packetFilter) tool(action string, words ...string) exec.Tool {
	argv := []string{f.program, "-t", f.args.Table, action}
	if f.args.Chain != "" {
		argv = append(argv, f.args.Chain)
	}
	return exec.NewTool(append(argv, words...)...)
}

func (f packetFilter) plan(c *exec.Change, kind events.ChangeKind, words string, t exec.Tool) {
	if len(c.Resources) == 0 {
		c.AddResource(kind, "iptables", f.label())
	}
	planAfter(c, kind, func(ctx context.Context) error {
		said, err := f.RunToolReading(ctx, t)
		if err != nil && said.Code != 0 {
			return f.explain(said)
		}
		return err
	}, words)
}

// explain is what the program says of an error, without the line that points to its help.
func (f packetFilter) explain(said exec.Answer) error {
	said.Stderr, _, _ = strings.Cut(said.Stderr, "\nTry `")
	message := said.LastWords()
	if _, words, ok := strings.Cut(message, "): "); ok { // the version
		message = words
	}
	return fault.CommandError{Message: f.program + ": " + strings.TrimPrefix(message, f.program+": "), RC: &said.Code, Class: fault.Fatal}
}

var chainPolicy = pattern.New(`\(policy ([A-Z]+)`)

func (f packetFilter) planPolicy(ctx context.Context, c *exec.Change) error {
	said, err := f.AskTool(ctx, f.tool("-L"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(said.Stdout, "\n")
	policy := chainPolicy.FindStringSubmatch(first)
	switch {
	case said.Code != 0:
		return fault.Missing("", "%s", f.explain(said))
	case policy == nil:
		return fault.CommandError{Message: f.program + ": the chain " + f.args.Chain + " has no policy", Class: fault.Fatal}
	case policy[1] != f.args.Policy:
		f.plan(c, events.ChangeUpdate, "policy "+policy[1]+" → "+f.args.Policy, f.tool("-P", f.args.Policy))
	}
	return nil
}

// hasChain reports whether the chain exists.
func (f packetFilter) hasChain(ctx context.Context) (bool, error) {
	said, err := f.AskTool(ctx, f.tool("-L"))
	if err == nil && said.Code > 1 {
		err = f.explain(said)
	}
	return said.Code == 0 && err == nil, err
}

func (f packetFilter) planRule(ctx context.Context, c *exec.Change) error {
	said, err := f.AskTool(ctx, f.tool("-C", f.args.Rule...))
	if err != nil {
		return err
	}
	is, wanted := said.Code == 0, f.args.State != fsys.Absent
	switch {
	case is == wanted:
		return nil
	case !wanted:
		f.plan(c, events.ChangeDelete, "remove the rule", f.tool("-D", f.args.Rule...))
		return nil
	}
	there, err := f.hasChain(ctx)
	if err != nil {
		return err
	}
	switch {
	case !there && f.args.ChainManagement:
		undo := map[string]any{"chain": f.args.Chain, "table": f.args.Table, "ip_version": f.args.IPVersion}
		undo["state"], undo["chain_management"] = fsys.Absent, true
		c.AddCreated("iptables", f.label(), f.UndoWithTools("iptables", undo))
		f.plan(c, events.ChangeCreate, "create the chain "+f.args.Chain, f.tool("-N"))
	case !there:
		return fault.Missing("", "%s: there is no chain %s in the table %s; `chain_management: true` creates it", f.program, f.args.Chain, f.args.Table)
	// As it stands it is not a rule. A chain or a set that it names may come from an earlier step.
	case said.Code > 1:
		return fault.Missing("", "%s", f.explain(said))
	}
	t := f.tool("-A", f.args.Rule...)
	words := "append the rule"
	if f.args.Action == "insert" {
		words = "insert the rule"
		if f.args.RuleNum == "" {
			t = f.tool("-I", f.args.Rule...)
		} else {
			t = f.tool("-I", append([]string{f.args.RuleNum}, f.args.Rule...)...)
		}
	}
	c.AddCreated("iptables", f.label()+": "+strings.Join(f.args.Rule, " "), f.UndoWithTools("iptables", f.args.Removal()))
	f.plan(c, events.ChangeCreate, words, t)
	return nil
}
