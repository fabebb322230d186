package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/cli/surroundings"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/doctor"
	"moon/plan/show"
)

type doctorCmd struct {
	playbookFlags
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help says what is looked at.
func (doctorCmd) Help() string {
	return `Reads a playbook of plays or steps, and every playbook, role, file of tasks or variables and template that it names literally. It continues
after errors that would stop planning, so one list has everything that moon does not support: keys, modules, lookups, filters, plugins,
settings in ansible.cfg. The exit status is 1 if the list is not empty.

  moon doctor site.yml
  moon doctor --format json site.yml`
}

// checkup is all that doctor found.
type checkup struct {
	*doctor.Survey
	Settings []surroundings.Setting
	Programs []surroundings.Program
	Root     string
}

func (c *doctorCmd) Run(call *app.Invocation) error {
	defer hastily()()
	o, err := c.planOptions(call)
	if err != nil {
		return err
	}
	o.Outside.Exports = nil // what another playbook has exported is about today, and not about what moon supports
	s := doctor.NewSurvey(o)
	// Not even the playbook could be read, so there is nothing to survey.
	if s.Files == 0 {
		return c.complain(call, nil, nearby.FromHere(o, s.Diagnostics))
	}
	found := checkup{Survey: s, Root: rootOf(o)}
	if !s.Steps { // what Ansible's settings and other machines are about
		found.Settings, found.Programs = surroundings.IgnoredSettings(o.Dir, o.Home), surroundings.Programs()
	}
	// JSON has paths from the root, which it names; text has those from here.
	if c.Format != "json" {
		s.Diagnostics, s.Unfollowed = nearby.FromHere(o, s.Diagnostics), nearby.FromHere(o, s.Unfollowed)
	}
	if c.Format == "json" {
		err = found.json(call.Doc)
	} else {
		err = found.text(call.Out)
	}
	if err != nil {
		return err
	}
	if !found.sound() || c.Strict && len(s.Diagnostics) > 0 {
		return app.NewExit(app.ExitFailed, "")
	}
	return nil
}

func (c checkup) sound() bool { return c.Sound() && len(c.Settings) == 0 }

// placesShown is how many of the places of a module are named.
const placesShown = 3

func (c checkup) text(w io.Writer) error {
	name := termtext.CleanName(c.File)
	if c.Steps {
		fmt.Fprintf(w, "%s: a playbook of steps, %s in %s\n", name, plan.CountOf(c.Tasks, "step"), plan.CountOf(c.Files, "file"))
	} else {
		fmt.Fprintf(w, "%s: %s, %s in %s\n", name, plan.CountOf(c.Plays, "play"), plan.CountOf(c.Tasks, "task"),
			plan.CountOf(c.Files, "file"))
	}
	// What stops the playbook comes first, what explains it last.
	if len(c.Foreign) > 0 {
		fmt.Fprintf(w, "\nModules that moon does not know\n")
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		for _, f := range c.Foreign {
			var places []string
			for _, pos := range f.At[:min(placesShown, len(f.At))] {
				places = append(places, fmt.Sprintf("%s:%d", termtext.CleanName(pos.File), pos.Line))
			}
			if more := len(f.At) - placesShown; more > 0 {
				places = append(places, fmt.Sprintf("%d more", more))
			}
			fmt.Fprintf(t, "  %s\t%d×\t%s\n", termtext.CleanName(f.Name), len(f.At), strings.Join(places, ", "))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(w, "  hint: a module in library/ or a plugin may bring them; moon actions lists what there is")
	}
	for _, part := range []struct {
		title string
		list  diag.List
	}{{"Found", c.Diagnostics}, {"Not looked into", c.Unfollowed}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n", part.title)
		if err := part.list.Print(w); err != nil {
			return err
		}
	}
	if len(c.Settings) > 0 {
		fmt.Fprintf(w, "\nIgnored Ansible settings\n")
		for _, s := range c.Settings {
			place := termtext.CleanName(s.File)
			if s.Line > 0 {
				place = fmt.Sprintf("%s:%d", place, s.Line)
			}
			fmt.Fprintf(w, "  %s: %s = %s\n    hint: %s\n", place, termtext.CleanName(s.Name), termtext.CleanName(s.Value), s.Hint)
		}
	}
	if len(c.Programs) > 0 {
		fmt.Fprintf(w, "\nThis machine\n")
	}
	for _, p := range c.Programs {
		if p.Path != "" {
			fmt.Fprintf(w, "  %s: %s\n", p.Name, termtext.CleanName(p.Path))
		} else {
			fmt.Fprintf(w, "  %s: not found; %s\n", p.Name, p.For)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", c.summary())
	return err
}

// summary is the last line.
func (c checkup) summary() string {
	if c.sound() {
		// With warnings only the playbook runs.
		if c.Steps {
			return cmp.Or(c.Diagnostics.Summary(), "no mistakes found") + "; moon plan shows what it will do"
		}
		if n := c.Diagnostics.Count(diag.Warning); n > 0 {
			return "nothing was found that moon cannot do; " + c.Diagnostics.Summary()
		}
		return "nothing was found that moon cannot do"
	}
	var parts []string
	if n := len(c.Foreign); n > 0 {
		parts = append(parts, plan.CountOf(n, "unknown module"))
	}
	if s := c.Diagnostics.Summary(); s != "" {
		parts = append(parts, s)
	}
	if n := len(c.Settings); n > 0 {
		parts = append(parts, plan.CountOf(n, "setting")+" ignored")
	}
	return strings.Join(parts, ", ")
}

func (c checkup) json(w io.Writer) error {
	modules := []map[string]any{}
	for _, f := range c.Foreign {
		places := []map[string]any{}
		for _, pos := range f.At {
			places = append(places, map[string]any{"file": pos.File, "line": pos.Line, "column": pos.Column})
		}
		modules = append(modules, map[string]any{"name": f.Name, "count": len(f.At), "places": places})
	}
	enc := json.NewEncoder(w)
	// The reader is a program and not a browser, so < stays.
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{
		"playbook": c.File, "root": c.Root, "form": c.form(), "files": c.Files, "plays": c.Plays, "tasks": c.Tasks, "sound": c.sound(),
		"modules":     modules,
		"diagnostics": show.DiagnosticsJSON(c.Diagnostics), "not_followed": show.DiagnosticsJSON(c.Unfollowed),
		"settings": append([]surroundings.Setting{}, c.Settings...), "programs": append([]surroundings.Program{}, c.Programs...),
	})
}

// form is what kind of playbook it is.
func (c checkup) form() string {
	if c.Steps {
		return "steps"
	}
	return "plays"
}
