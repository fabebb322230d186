package action

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var (
	_ = exec.Register("service_facts", exec.Action{Run: runServiceFacts, Effect: events.ChangeNone})
	_ = exec.Register("package_facts", exec.Action{Run: runPackageFacts, Effect: events.ChangeNone})
)

// factsResult is a result that makes something known under ansible_facts.
func factsResult(name string, value any) exec.Result {
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"ansible_facts": map[string]any{name: value}}}
}

func runServiceFacts(ctx context.Context, a *exec.Attempt) exec.Result {
	services := map[string]any{}
	switch {
	case isPresent("/run/systemd/system") && a.Installed("systemctl"):
		if err := systemdServices(ctx, a, services); err != nil {
			return a.Failure(ctx, err)
		}
	case a.Installed("rc-status"):
		said, err := a.AskTool(ctx, exec.NewTool("rc-status", "--all", "--servicelist", "--nocolor"))
		if err != nil {
			return a.Failure(ctx, err)
		}
		for line := range strings.Lines(said.Stdout) {
			name, rest, ok := strings.Cut(strings.TrimSpace(line), "[")
			if ok {
				name = strings.TrimSpace(name)
				state := map[bool]string{true: "running", false: "stopped"}[strings.Contains(rest, "started")]
				services[name] = map[string]any{"name": name, "state": state, "source": "openrc", "runlevel": "unknown"}
			}
		}
	default:
		if err := initServices(ctx, a, services); err != nil {
			return a.Failure(ctx, err)
		}
	}
	return factsResult("services", services)
}

// systemdServices asks for the units that are loaded, and for those that could be.
func systemdServices(ctx context.Context, a *exec.Attempt, services map[string]any) error {
	said, err := a.AskTool(ctx, exec.NewTool("systemctl", "list-units", "--all", "--type=service", "--no-legend", "--no-pager", "--plain"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(said.Stdout) {
		// A unit that failed or is masked has a symbol before its name.
		f := strings.Fields(strings.TrimLeft(line, "●*× "))
		if len(f) < 4 {
			continue
		}
		state := map[string]string{"running": "running", "failed": "failed"}[f[3]]
		if state == "" {
			state = "stopped"
		}
		status := map[string]string{"not-found": "not-found", "masked": "masked"}[f[1]]
		if status == "" {
			status = "unknown"
		}
		services[f[0]] = map[string]any{"name": f[0], "state": state, "status": status, "source": "systemd"}
	}
	said, err = a.AskTool(ctx, exec.NewTool("systemctl", "list-unit-files", "--type=service", "--no-legend", "--no-pager"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(said.Stdout) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if known, ok := services[f[0]].(map[string]any); ok {
			known["status"] = f[1]
			continue
		}
		services[f[0]] = map[string]any{
			// A template such as getty@.service is not started itself, so it has no state.
			"name":  f[0],
			"state": map[bool]string{true: "unknown", false: "inactive"}[strings.HasSuffix(f[0], "@.service")], "status": f[1],
			"source": "systemd",
		}
	}
	return nil
}

// initServices asks init scripts whether their services run.
func initServices(ctx context.Context, a *exec.Attempt, services map[string]any) error {
	if !a.Installed("service") {
		return nil
	}
	said, err := a.AskTool(ctx, exec.NewTool("service", "--status-all"))
	if err != nil {
		return err
	}
	// Services that cannot be asked are printed to stderr: [ ? ]  ssh
	for line := range strings.Lines(said.Stdout + said.Stderr) {
		f := strings.Fields(line) // [ + ]  ssh
		if len(f) == 4 && f[0] == "[" && f[2] == "]" {
			state := map[bool]string{true: "running", false: "stopped"}[f[1] == "+"]
			services[f[3]] = map[string]any{"name": f[3], "state": state, "source": "sysv"}
		}
	}
	return nil
}

// packageLists are the managers whose packages can be listed, in the order in which they are looked for.
var packageLists = []struct {
	names   []string
	command string
	list    func(context.Context, *exec.Attempt) (map[string][]any, error)
}{
	{[]string{"apt"}, "dpkg-query", dpkgList},
	{[]string{"rpm", "dnf", "yum", "zypper"}, "rpm", rpmList},
	{[]string{"pacman"}, "pacman", pacmanList},
	{[]string{"apk"}, "apk", apkList},
}

func runPackageFacts(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.PackageFactsArgs)
	packages := map[string]any{}
	asked := false
	for _, l := range packageLists {
		named := slices.ContainsFunc(l.names, func(name string) bool { return slices.Contains(args.Manager, name) })
		if !named && !slices.Contains(args.Manager, "auto") || !a.Installed(l.command) || asked && args.Strategy == "first" {
			continue
		}
		all, err := l.list(ctx, a)
		if err != nil {
			return a.Failure(ctx, err)
		}
		if len(all) == 0 && !named {
			continue // it is there, and not the machine's own
		}
		asked = true
		for name, list := range all {
			before, _ := packages[name].([]any)
			packages[name] = append(before, list...)
		}
	}
	if !asked {
		return a.Failure(ctx, errors.New("there is not a package manager here whose packages could be listed"))
	}
	return factsResult("packages", packages)
}

func dpkgList(ctx context.Context, a *exec.Attempt) (map[string][]any, error) {
	is, err := dpkgPackages(ctx, a)
	all := map[string][]any{}
	for name, list := range is {
		for _, p := range list {
			if p.isInstalled() {
				all[name] = append(all[name], map[string]any{"name": name, "version": p.version, "arch": p.arch, "source": "apt"})
			}
		}
	}
	return all, err
}

func rpmList(ctx context.Context, a *exec.Attempt) (map[string][]any, error) {
	said, err := a.AskTool(ctx, exec.NewTool("rpm", "--query", "--all", "--queryformat",
		`%{NAME}\t%{EPOCHNUM}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\n`))
	all := map[string][]any{}
	for line := range strings.Lines(said.Stdout) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			continue
		}
		p := map[string]any{"name": f[0], "version": f[2], "release": f[3], "arch": f[4], "epoch": nil, "source": "rpm"}
		if n, ok := spec.ParseInt(f[1]); ok && n > 0 {
			p["epoch"] = n
		}
		all[f[0]] = append(all[f[0]], p)
	}
	return all, err
}

func pacmanList(ctx context.Context, a *exec.Attempt) (map[string][]any, error) {
	said, err := a.AskTool(ctx, exec.NewTool("pacman", "--query"))
	all := map[string][]any{}
	for line := range strings.Lines(said.Stdout) {
		if f := strings.Fields(line); len(f) == 2 {
			all[f[0]] = append(all[f[0]], map[string]any{"name": f[0], "version": f[1], "source": "pacman"})
		}
	}
	return all, err
}

// apkList reads what apk has written down: a block of lines for each package.
func apkList(context.Context, *exec.Attempt) (map[string][]any, error) {
	f, err := os.Open("/lib/apk/db/installed")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	all := map[string][]any{}
	p := map[string]any{}
	for s := bufio.NewScanner(f); s.Scan(); {
		field, value, _ := strings.Cut(s.Text(), ":")
		switch name, _ := p["name"].(string); {
		case s.Text() == "" && name != "":
			p["source"] = "apk"
			all[name] = append(all[name], p)
			p = map[string]any{}
		case field == "P":
			p["name"] = value
		case field == "V":
			p["version"] = value
		case field == "A":
			p["arch"] = value
		}
	}
	return all, nil
}
