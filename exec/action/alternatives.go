package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("alternatives", exec.Action{Plan: planAlternatives})

// alternatives are what update-alternatives displays of a name.
type alternatives struct {
	manual bool
	uses   string // the path that is used
	link   string
	all    map[string]alternative
	slaves map[string]string // links by name
}

type alternative struct {
	priority int
	slaves   map[string]string // paths by name
}

var (
	alternativeLine = pattern.New(`^(/.*) - (?:family \S+ )?priority (\d+)$`)
	alternativeLink = pattern.New(`^\s*link \S+ is (.*)$`)
	slaveLine       = pattern.New(`^\s+(?:slave|follower) (\S+): (.*)$`)
	slaveLink       = pattern.New(`^\s*(?:slave|follower) (\S+) is (.*)$`)
)

// readAlternatives reads both spellings, of Debian and of Fedora.
func readAlternatives(text string) alternatives {
	is := alternatives{all: map[string]alternative{}, slaves: map[string]string{}}
	last := ""
	for i, line := range strings.Split(text, "\n") {
		switch m := alternativeLine.FindStringSubmatch(line); {
		case i == 0:
			is.manual = strings.Contains(line, "manual")
		case m != nil:
			priority, _ := strconv.Atoi(m[2]) // it is digits
			last, is.all[m[1]] = m[1], alternative{priority, map[string]string{}}
		case strings.Contains(line, "link currently points to "):
			_, is.uses, _ = strings.Cut(line, "link currently points to ")
		default:
			if m := alternativeLink.FindStringSubmatch(line); m != nil {
				is.link = m[1]
			}
			if m := slaveLink.FindStringSubmatch(line); m != nil {
				is.slaves[m[1]] = m[2]
			}
			if m := slaveLine.FindStringSubmatch(line); m != nil && last != "" && m[2] != "(null)" {
				is.all[last].slaves[m[1]] = m[2]
			}
		}
	}
	return is
}

func planAlternatives(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.AlternativesArgs)
	if err := lacksTool(a, "update-alternatives", "dpkg (Debian), alternatives or chkconfig (Fedora, RHEL)"); err != nil {
		return nil, err
	}
	said, err := a.AskTool(ctx, exec.NewTool("update-alternatives", "--display", args.Name))
	if err != nil {
		return nil, err
	}
	var is alternatives
	if said.Code == 0 { // otherwise there is no such name
		is = readAlternatives(said.Stdout)
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	var done []string
	do := func(kind events.ChangeKind, says, summary string, words ...string) {
		done = append(done, says)
		planAfter(c, kind, func(ctx context.Context) error {
			said, err := a.RunToolReading(ctx, exec.NewTool(append([]string{"update-alternatives"}, words...)...))
			return said.Explain(err)
		}, summary)
	}
	has, there := is.all[args.Path]
	switch {
	case args.State == fsys.Absent && there:
		c.AddResource(events.ChangeDelete, "alternative", args.Name+": "+args.Path)
		do(events.ChangeDelete, fmt.Sprintf("Remove alternative '%s' from '%s'.", args.Path, args.Name), "removed",
			"--remove", args.Name, args.Path)
	case args.State == fsys.Absent:
	case !there || args.Priority != nil && *args.Priority != has.priority || args.Slaves != nil && !hasSlaves(has, args.Slaves):
		words, err := installAlternative(a, args, is)
		if err != nil {
			return nil, err
		}
		kind := events.ChangeUpdate
		if there {
			c.AddResource(kind, "alternative", args.Name+": "+args.Path)
		} else {
			kind = events.ChangeCreate
			c.AddCreated("alternative", args.Name+": "+args.Path, a.UndoWithTools("alternatives", map[string]any{
				"name": args.Name, "path": args.Path, "state": fsys.Absent,
			}))
		}
		do(kind, fmt.Sprintf("Install alternative '%s' for '%s'.", args.Path, args.Name), "installed", words...)
	}
	switch {
	case args.State == "selected" && is.uses != args.Path:
		do(events.ChangeUpdate, fmt.Sprintf("Set alternative '%s' for '%s'.", args.Path, args.Name), "selected",
			"--set", args.Name, args.Path)
	case args.State == "auto" && is.manual:
		do(events.ChangeUpdate, fmt.Sprintf("Set alternative to auto for '%s'.", args.Name), "automatic", "--auto", args.Name)
	}
	if len(c.Resources) == 0 && c.Diff.Kind != events.ChangeNone {
		c.AddResource(events.ChangeUpdate, "alternative", args.Name+": "+args.Path)
	}
	c.Fields["msg"] = strings.Join(done, " ")
	return c, nil
}

// hasSlaves reports whether an alternative has these links and no others.
func hasSlaves(has alternative, want []spec.Subcommand) bool {
	return len(has.slaves) == len(want) &&
		!slices.ContainsFunc(want, func(s spec.Subcommand) bool { return has.slaves[s.Name] != s.Path })
}

// installAlternative is the command that adds an alternative, or changes it. It replaces the links that follow, so if none are given,
// those are given that there are.
func installAlternative(a *exec.Attempt, args *spec.AlternativesArgs, is alternatives) ([]string, error) {
	if _, err := a.Overlay.Stat(args.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(args.Path, "%s does not exist", args.Path)
	}
	link, priority := args.Link, is.all[args.Path].priority
	if link == "" {
		link = is.link
	}
	switch _, there := is.all[args.Path]; {
	case link == "":
		return nil, fmt.Errorf("there is no alternative %s yet; give its `link`, as /usr/bin/%s", args.Name, args.Name)
	case args.Priority != nil:
		priority = *args.Priority
	case !there:
		priority = 50
	}
	words := []string{"--install", link, args.Name, args.Path, strconv.Itoa(priority)}
	slaves := args.Slaves
	if slaves == nil {
		has := is.all[args.Path].slaves
		for _, name := range slices.Sorted(maps.Keys(has)) {
			slaves = append(slaves, spec.Subcommand{Name: name, Path: has[name], Link: is.slaves[name]})
		}
	}
	for _, s := range slaves {
		words = append(words, "--slave", s.Link, s.Name, s.Path)
	}
	return words, nil
}
