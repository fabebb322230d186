package action

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("group", exec.Action{Plan: planGroup})

func planGroup(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.GroupArgs)
	c, err := accountChange(ctx, args.Name, args.State)
	if err != nil {
		return nil, err
	}
	if err := planGroupChange(ctx, a, c, args); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func planGroupChange(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.GroupArgs) error {
	all, err := readAccounts(ctx, a, args.Local)
	if err != nil {
		return err
	}
	c.Fields["system"] = args.System
	is := all.findGroup(args.Name)
	if is != nil && is.name != args.Name {
		is = nil // found by its id
	}
	if is != nil {
		c.Fields["gid"] = is.gid
	}
	if args.State == fsys.Absent {
		return removeGroup(a, c, args, all, is)
	}
	if args.Gid != nil && !args.NonUnique && (is == nil || is.gid != *args.Gid) {
		if other := all.findGroup(strconv.Itoa(*args.Gid)); other != nil && other.gid == *args.Gid {
			return fault.Missing("", "gid %d is taken by group %s; non_unique: true lets both have it", *args.Gid, other.name)
		}
	}
	if is == nil {
		return makeGroup(a, c, args)
	}
	if args.Gid == nil || *args.Gid == is.gid {
		return nil
	}
	if err := lacksTool(a, "groupmod", shadowPackages); err != nil {
		return err
	}
	argv := []string{"groupmod", "-g", strconv.Itoa(*args.Gid)}
	if args.NonUnique {
		argv = append(argv, "-o")
	}
	c.PlanFor(events.ChangeUpdate, "group", args.Name, applyGroup(a, c, args, append(argv, args.Name)),
		fmt.Sprintf("gid %d → %d", is.gid, *args.Gid))
	return nil
}

func makeGroup(a *exec.Attempt, c *exec.Change, args *spec.GroupArgs) error {
	if err := lacksTool(a, "groupadd", shadowPackages); err != nil {
		return err
	}
	argv, words := []string{"groupadd"}, []string{"new group"}
	if args.Gid != nil {
		argv = append(argv, "-g", strconv.Itoa(*args.Gid))
		words = append(words, fmt.Sprintf("gid %d", *args.Gid))
	}
	if args.NonUnique {
		argv = append(argv, "-o")
	}
	if args.System {
		argv = append(argv, "-r")
	}
	argv = append(argv, limitOptions("GID_MIN", args.GidMin, "GID_MAX", args.GidMax)...)
	c.PlanCreation("group", args.Name, removeAccount(a, "group", args.Name, args.Local), applyGroup(a, c, args, append(argv, args.Name)), words...)
	c.AddPrediction(func(f *fsys.Overlay) { f.Name("group", args.Name) })
	return nil
}

// removeAccount takes a user or a group away again.
func removeAccount(a *exec.Attempt, action, name string, local bool) *events.Undo {
	in := map[string]any{"name": name, "state": fsys.Absent}
	if local {
		in["local"] = true
	}
	return a.UndoWithTools(action, in)
}

// limitOptions are the options that say from which range an id is taken.
func limitOptions(minName string, least *int, maxName string, most *int) (options []string) {
	for _, l := range []struct {
		name  string
		value *int
	}{{minName, least}, {maxName, most}} {
		if l.value != nil {
			options = append(options, "-K", fmt.Sprintf("%s=%d", l.name, *l.value))
		}
	}
	return options
}

func removeGroup(a *exec.Attempt, c *exec.Change, args *spec.GroupArgs, all *accounts, is *userGroup) error {
	if is == nil {
		delete(c.Fields, "gid")
		return nil
	}
	argv := []string{"groupdel"}
	if args.Force {
		argv = append(argv, "-f")
	} else if i := slices.IndexFunc(all.users, func(u account) bool { return u.gid == is.gid }); i >= 0 {
		return fault.Missing("", "group %s is user %s's own; force: true removes it anyway", args.Name, all.users[i].name)
	}
	if err := lacksTool(a, "groupdel", shadowPackages); err != nil {
		return err
	}
	words := "group " + args.Name
	if n := len(is.members); n > 0 {
		words += fmt.Sprintf(", which has %s", countPeople(n))
	}
	argv = append(argv, args.Name)
	c.PlanFor(events.ChangeDelete, "group", args.Name, func(ctx context.Context) error {
		delete(c.Fields, "gid")
		return changeAccounts(ctx, a, exec.NewTool(argv...))
	}, words)
	return nil
}

func countPeople(n int) string {
	if n == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", n)
}

// applyGroup runs a program and looks at what became of the group.
func applyGroup(a *exec.Attempt, c *exec.Change, args *spec.GroupArgs, argv []string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := changeAccounts(ctx, a, exec.NewTool(argv...)); err != nil {
			return err
		}
		all, err := readAccounts(ctx, a, args.Local)
		if err != nil {
			return err
		}
		if g := all.findGroup(args.Name); g != nil {
			c.Fields["gid"] = g.gid
		}
		return nil
	}
}
