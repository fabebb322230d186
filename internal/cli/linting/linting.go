package linting

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/internal/termtext"
	"moon/internal/vaulting"
	"moon/plan"
	"moon/plan/lint"
)

// Lint is the command.
type Lint struct {
	Playbooks []string `arg:"" optional:"" name:"playbook" help:"The playbooks, with all that they name; default moon.yml or playbook.yml."`
	Only      []string `sep:"," placeholder:"RULE" help:"Only these rules."`
	Skip      []string `sep:"," placeholder:"RULE" help:"Not these rules."`
	With      []string `sep:"," placeholder:"RULE" help:"Also these rules, which are not looked for otherwise, such as fqcn."`
	Fix       bool     `env:"-" help:"Fix what can be fixed without changing what a playbook does."`
	List      bool     `env:"-" help:"List the rules."`
	Format    string   `enum:"text,json,github,sarif" default:"text" help:"text, json, github (annotations) or sarif (for code scanning)."`
}

// Help is the longer help of the command.
func (Lint) Help() string {
	return `Looks in playbooks, and in the roles and files of tasks that they name, for what works and is likely to hurt later. A comment # noqa: RULE on
a line, or on the first line of its task, says that it is meant. The exit status is 1 if something is found. Nothing is run or planned;
moon validate finds errors.

  moon lint site.yml
  moon lint --list
  moon lint --fix --skip name-missing site.yml
  moon lint --format github site.yml`
}

// finding is one with the name of its file as seen from here.
type finding struct {
	rule string
	diag.Diagnostic
	fixes bool
}

// Run looks, and fixes.
func (c *Lint) Run(call *app.Invocation) error {
	rules, err := c.rules()
	if err != nil {
		return err
	}
	if c.List {
		return list(call, rules)
	}
	if len(c.Playbooks) == 0 {
		if c.Playbooks, err = usual(); err != nil {
			return err
		}
	}
	var all []finding
	fixed, broken := 0, false
	for _, path := range c.Playbooks {
		o, err := options(call, path)
		if err != nil {
			return err
		}
		found := lint.Run(o, rules)
		if len(found.Problems) > 0 {
			if err := nearby.FromHere(o, found.Problems).Print(call.Err); err != nil {
				return err
			}
			broken = true
			continue
		}
		if found.Errors > 0 {
			fmt.Fprintf(call.Err, "moon: %s has %s, so that not everything was looked at; moon validate shows them\n", termtext.CleanName(path),
				plan.CountOf(found.Errors, "error"))
		}
		if c.Fix {
			n, err := fix(found.Findings)
			if err != nil {
				return err
			}
			if fixed += n; n > 0 {
				found = lint.Run(o, rules) // what is left, where it is now
			}
		}
		for _, f := range found.Findings {
			named := nearby.FromHere(o, diag.List{f.Diagnostic})[0]
			// What two playbooks name is said once.
			if one := (finding{f.Rule, named, f.Edit != nil}); !slices.ContainsFunc(all,
				func(old finding) bool { return old.rule == one.rule && old.Pos == one.Pos }) {
				all = append(all, one)
			}
		}
	}
	if err := c.write(call, all, rules); err != nil {
		return err
	}
	if fixed > 0 {
		fmt.Fprintf(call.Err, "%s fixed\n", plan.CountOf(fixed, "place"))
	}
	switch {
	case broken:
		return app.NewExit(app.ExitUsage, "")
	case len(all) > 0:
		return app.NewExit(app.ExitFailed, "")
	}
	return nil
}

// rules are those that were asked for.
func (c *Lint) rules() (rules []lint.Rule, err error) {
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
	}
	for _, id := range slices.Concat(c.Only, c.Skip, c.With) {
		if !slices.Contains(ids, id) {
			hint := "moon lint --list lists the rules"
			if meant := suggest.DidYouMean(id, ids); meant != "" {
				hint = meant
			}
			return nil, app.Usage("there is no rule %q; %s", id, hint)
		}
	}
	for _, r := range lint.Rules() {
		asked := slices.Contains(c.Only, r.ID) || slices.Contains(c.With, r.ID) || len(c.Only) == 0 && (c.List || !r.Optional)
		if asked && !slices.Contains(c.Skip, r.ID) {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func list(call *app.Invocation, rules []lint.Rule) error {
	slices.SortFunc(rules, func(a, b lint.Rule) int { return strings.Compare(a.ID, b.ID) })
	t := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	for _, r := range rules {
		fixes := ""
		if r.Fixes {
			fixes = "  (--fix)"
		}
		if r.Optional {
			fixes += "  (--with " + r.ID + ")"
		}
		fmt.Fprintf(t, "%s\t%s%s\n", r.ID, r.About, fixes)
	}
	return t.Flush()
}

func usual() ([]string, error) {
	for _, name := range []string{"moon.yml", "playbook.yml"} {
		if _, err := os.Stat(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, app.Usage("no playbook given, and there is no moon.yml or playbook.yml here")
}

// options are what is needed to find what a playbook names.
func options(call *app.Invocation, path string) (o plan.Options, err error) {
	if o.Dir, err = os.Getwd(); err != nil {
		return o, app.Usage("the working directory cannot be read: %s", err)
	}
	if _, err := os.Stat(path); err != nil {
		return o, app.Usage("%s", app.Unreadable(path, err))
	}
	o.Home, _ = os.UserHomeDir() // without one, ~ stays as it is
	o.Path, o.Given, o.Stdin, o.Secrets = path, path, call.In, call.Secrets
	o.Presets = app.PresetsDir(o.Home)
	_, err = app.SearchAnsible(&o)
	return o, err
}

// fix makes the edits of findings, file by file.
func fix(found []lint.Finding) (fixed int, err error) {
	files := map[string][]lint.Finding{}
	for _, f := range found {
		if f.Edit != nil {
			files[f.Path] = append(files[f.Path], f)
		}
	}
	for _, path := range plan.SortedKeys(files) {
		text, err := vaulting.Read(path)
		if err != nil {
			return fixed, app.Usage("%s", err)
		}
		now, n := lint.Fix(string(text), files[path])
		if n == 0 {
			continue
		}
		if err := vaulting.Replace(path, []byte(now)); err != nil {
			return fixed, app.NewExit(app.ExitDisk, err.Error())
		}
		fixed += n
	}
	return fixed, nil
}
