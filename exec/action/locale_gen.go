package action

import (
	"context"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("locale_gen", exec.Action{Plan: planLocaleGen})

const localeFile = "/etc/locale.gen"

func planLocaleGen(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.LocaleGenArgs)
	if err := lacksTool(a, "locale-gen", "locales"); err != nil {
		return nil, err
	}
	var unknown, switched []string
	c, err := planEdit(ctx, a, edit{path: localeFile, hint: "; the package locales has it"}, func(text string) (edited, says string) {
		edited, unknown, switched = switchLocales(text, args.Name, args.State != fsys.Absent)
		return edited, args.State + ": " + strings.Join(args.Name, ", ")
	})
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 && args.State != fsys.Absent {
		c.Close()
		return nil, fault.Missing(localeFile, "the locale %s is not among those of %s", unknown[0], localeFile)
	}
	c.Fields, c.Result = map[string]any{"name": facts.AnyList(args.Name)}, nil
	// The file alone does not say whether the locale was made: it may have been edited by hand.
	if args.State != fsys.Absent && c.Diff.Kind == events.ChangeNone && haveLocales(ctx, a, args.Name) ||
		args.State == fsys.Absent && c.Diff.Kind == events.ChangeNone {
		return c, nil
	}
	write, words := c.Apply, c.Diff.Summary
	if c.Diff.Kind == events.ChangeNone { // the line is there, and the locale was never made
		write, words = nil, "made: "+strings.Join(args.Name, ", ")
	}
	for _, name := range args.Name {
		if args.State != fsys.Absent && slices.Contains(switched, name) {
			c.AddCreated("locale", name, a.UndoWithTools("locale_gen", map[string]any{"name": name, "state": fsys.Absent}))
		} else {
			c.AddResource(events.ChangeUpdate, "locale", name)
		}
	}
	c.Plan(events.ChangeUpdate, func(ctx context.Context) error {
		if write != nil {
			if err := write(ctx); err != nil {
				return err
			}
			// The step is about a locale; which bytes its file has is of no interest to a play.
			delete(c.Fields, "checksum")
			delete(c.Fields, "md5sum")
		}
		return a.RunTool(ctx, exec.NewTool("locale-gen"))
	}, words)
	return c, nil
}

// switchLocales takes the # from the lines of locales, or puts it there. It returns those that have no line, and
// those that were not so before.
func switchLocales(text string, names []string, on bool) (edited string, unknown, switched []string) {
	d := lines.Read(text)
	for _, name := range names {
		found := false
		for i := range d.Lines {
			line := d.Line(i)
			bare := strings.TrimSpace(strings.TrimLeft(line, "# \t"))
			if words := strings.Fields(bare); len(words) != 2 || words[0] != name {
				continue
			}
			found = true
			off := strings.HasPrefix(strings.TrimSpace(line), "#")
			if on == off {
				switched = append(switched, name)
			}
			switch {
			case on && off:
				d.Put(i, i+1, bare)
			case !on && !off:
				d.Put(i, i+1, "# "+bare)
			}
		}
		if !found {
			unknown = append(unknown, name)
		}
	}
	return d.String(), unknown, switched
}

// haveLocales reports whether all of them were made. The system spells their character sets in another way: utf8.
func haveLocales(ctx context.Context, a *exec.Attempt, names []string) bool {
	said, err := a.AskTool(ctx, exec.NewTool("locale", "-a"))
	if err != nil || said.Code != 0 {
		return false
	}
	have := strings.Fields(said.Stdout)
	for i := range have {
		have[i] = plainLocale(have[i])
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(have, plainLocale(name)) })
}

func plainLocale(name string) string {
	language, set, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	set, variant, _ := strings.Cut(set, "@")
	return language + "." + strings.ToLower(strings.ReplaceAll(set, "-", "")) + "@" + variant
}
