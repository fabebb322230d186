package action

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"moon/exec"
	"moon/exec/facts"
	"moon/exec/spec"
)

var _ = exec.Register("package", exec.Action{Plan: planPackage})

// managersOf are the actions that package leaves the work to, by the package manager.
var managersOf = map[string]string{
	"apt": "apt", "dnf": "dnf", "yum": "dnf", "pacman": "pacman", "zypper": "zypper", "apk": "apk", "homebrew": "homebrew",
	"brew": "homebrew",
}

// planPackage does what the action of the machine's own package manager would do.
func planPackage(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PackageArgs)
	manager := args.Use
	if manager == "auto" {
		manager = findPackageManager(a)
	}
	name, ok := managersOf[manager]
	switch {
	case manager == "":
		return nil, errors.New("this machine has no package manager on its PATH")
	case !ok:
		return nil, fmt.Errorf("packages of %s are not known to moon; a command can install them", manager)
	}
	names := []any{}
	for _, n := range args.Name {
		names = append(names, n)
	}
	in := map[string]any{"state": args.State, "update_cache": args.UpdateCache}
	if len(names) > 0 {
		in["name"] = names
	}
	if args.Upgrade {
		// dnf and zypper upgrade everything by the name *, the others by an argument.
		switch name {
		case "dnf", "zypper":
			in["name"], in["state"] = []any{"*"}, "latest"
		default:
			in["upgrade"] = true
		}
	}
	// The action dnf also drives yum, if it is asked to.
	if manager == "yum" {
		in["use_backend"] = "yum"
	}
	// Further arguments are those of the manager's own action, which refuses them as if the step had named it.
	maps.Copy(in, args.Given())
	declared, _ := spec.Lookup(name)
	decoded, problems := declared.Decode(in)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	switch args := decoded.(type) {
	case *spec.AptArgs:
		return planApt(ctx, a, args)
	case *spec.DnfArgs:
		return planDnf(ctx, a, args)
	case *spec.PacmanArgs:
		return planPackages(ctx, a, &pacman{args})
	case *spec.ZypperArgs:
		return planPackages(ctx, a, &zypper{args})
	case *spec.ApkArgs:
		return planPackages(ctx, a, &apk{args})
	case *spec.HomebrewArgs:
		return planPackages(ctx, a, &homebrew{args})
	}
	return nil, fmt.Errorf("%s is not a package manager", name)
}

// findPackageManager is the machine's own, as the fact package_manager has it, but on the step's PATH.
func findPackageManager(a *exec.Attempt) string {
	for _, m := range facts.Managers {
		if a.Installed(m.Command) {
			return m.Name
		}
	}
	return ""
}
