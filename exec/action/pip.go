package action

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("pip", exec.Action{Plan: planPip, Supplies: pipNames})

// pipNames is what of the arguments names a program: a virtual environment has one, if it is there.
func pipNames(args any) string {
	a := args.(*spec.PipArgs)
	if a.Executable != "" {
		return exec.QuoteGiven("executable", a.Executable)
	}
	if _, err := os.Stat(filepath.Join(a.Virtualenv, "bin", "pip")); a.Virtualenv != "" && err == nil {
		return "the program " + filepath.Join(a.Virtualenv, "bin", "pip")
	}
	return ""
}

// piped is what a step wants of pip, and where.
type piped struct {
	args *spec.PipArgs
	pip  []string // the command
	venv []string // the command that makes the virtual environment; nil: it is there

	fresh map[string]string // what is missing, by what the step calls it
}

func planPip(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PipArgs)
	if args.Chdir != "" {
		job, own := *a.Job, *a
		// A change of directory is for this action alone, so it works on a copy of the job.
		job.Cwd, job.Roams = args.Chdir, false
		own.Job = &job
		a = &own
	}
	p := &piped{args: args, fresh: map[string]string{}}
	c := &exec.Change{Fields: map[string]any{
		"name": facts.AnyList(args.Packages), "state": args.State, "version": args.Version, "requirements": args.Requirements,
		"virtualenv": args.Virtualenv,
	}}
	if err := p.findPip(a); err != nil {
		return nil, err
	}
	argv := p.buildCommand()
	c.Fields["cmd"] = strings.Join(argv, " ")
	lacking, sure, err := p.listMissing(ctx, a)
	if err != nil {
		return nil, err
	}
	var words []string
	if p.venv != nil {
		words = append(words, "make "+args.Virtualenv)
	}
	switch {
	case args.State == fsys.Absent && len(lacking) > 0:
		words = append(words, "remove "+strings.Join(lacking, ", "))
	case len(lacking) > 0:
		words = append(words, "install "+strings.Join(lacking, ", "))
	case args.State != fsys.Absent && args.Requirements != "":
		words = append(words, "install what "+args.Requirements+" asks for")
	}
	// An environment that is not there has nothing in it to remove.
	if len(words) == 0 || p.venv != nil && args.State == fsys.Absent {
		return c.PlanNothing(), nil
	}
	kind := events.ChangeUpdate
	if !sure {
		kind = events.ChangeUnknown
	}
	for _, name := range lacking {
		if bare := p.fresh[name]; bare != "" {
			c.AddCreated("package", name, p.removePackage(a, bare))
		} else {
			c.AddResource(events.ChangeUpdate, "package", name)
		}
	}
	c.Plan(kind, func(ctx context.Context) error {
		if args.Virtualenv != "" {
			defer c.Watch(true, args.Virtualenv)()
		}
		// The environment is made first: pip is in it.
		made := p.venv != nil
		if made {
			if err := a.RunTool(ctx, exec.NewTool(underUmask(args.Umask, p.venv)...)); err != nil {
				return err
			}
		}
		did := made
		if len(args.Packages) > 0 || args.Requirements != "" {
			said, err := a.RunToolReading(ctx, exec.NewTool(underUmask(args.Umask, argv)...))
			if err != nil {
				return packageErrorOr(said, err)
			}
			// pip succeeds whether it did anything or not; only its output says which.
			did = did || pipDid.MatchString(said.Stdout)
		}
		c.Diff.Kind = events.ChangeNone
		if did {
			c.Diff.Kind = events.ChangeUpdate
		}
		return nil
	}, strings.Join(words, ", "))
	return c, nil
}

// removePackage takes a package away again. What was installed for it stays.
func (p *piped) removePackage(a *exec.Attempt, name string) *events.Undo {
	in := map[string]any{"name": name, "state": fsys.Absent}
	for arg, text := range map[string]string{"virtualenv": p.args.Virtualenv, "executable": p.args.Executable} {
		if text != "" {
			in[arg] = text
		}
	}
	// A Python that the system looks after lets pip remove nothing without it, as it lets it install nothing.
	if always := "--break-system-packages"; slices.Contains(p.args.Options, always) {
		in["extra_args"] = always
	}
	return a.UndoWithTools("pip", in)
}

// packageErrorOr words what pip says is wrong.
func packageErrorOr(said exec.Answer, err error) error {
	if said.Code == 0 {
		return err
	}
	return packageError("pip", said, "")
}

// pipDid is what pip says of a change; it ends well without one too.
var pipDid = pattern.New(`(?m)^\s*Successfully (?:un)?installed`)

// findPip looks for pip: the one of the virtual environment, the one that is named, or the system's.
func (p *piped) findPip(a *exec.Attempt) error {
	if env := p.args.Virtualenv; env != "" {
		p.pip = []string{filepath.Join(env, "bin", "pip")}
		if _, err := os.Stat(filepath.Join(env, "bin", "python")); err == nil {
			return nil
		}
		maker, err := spec.Words(p.args.Maker)
		if err != nil {
			return err
		}
		if len(maker) == 0 {
			maker = []string{"virtualenv"}
			if !a.Installed("virtualenv") {
				maker = []string{"python3", "-m", "venv"}
			}
		}
		if p.args.SitePackages {
			maker = append(maker, "--system-site-packages")
		}
		if p.args.Python != "" {
			// `python3 -m venv` is made for another Python by that Python itself; virtualenv takes it as an option.
			if strings.HasSuffix(maker[len(maker)-1], "venv") && len(maker) > 2 {
				maker[0] = p.args.Python
			} else {
				maker = append(maker, "-p", p.args.Python)
			}
		}
		p.venv = append(maker, env)
		return lacksTool(a, maker[0], "python3-venv")
	}
	for _, name := range []string{p.args.Executable, "pip3", "pip"} {
		if name != "" && a.Installed(name) {
			p.pip = []string{name}
			return nil
		}
		// One that the step names is not replaced by another.
		if name != "" && p.args.Executable != "" {
			break
		}
	}
	if p.args.Executable != "" {
		return fault.Missing("", "%s is not there", p.args.Executable)
	}
	return lacksTool(a, "pip3", "python3-pip")
}

// buildCommand returns the command for what the step wants.
func (p *piped) buildCommand() []string {
	args := p.args
	argv := append([]string{}, p.pip...)
	switch args.State {
	case fsys.Absent:
		argv = append(argv, "uninstall", "-y")
	case "latest":
		argv = append(argv, "install", "-U")
	case "forcereinstall":
		argv = append(argv, "install", "-U", "--force-reinstall")
	default:
		argv = append(argv, "install")
	}
	argv = append(argv, args.Options...)
	for _, name := range args.Packages {
		if args.Editable {
			argv = append(argv, "-e")
		}
		if args.Version != "" {
			name += "==" + args.Version
		}
		argv = append(argv, name)
	}
	if args.Requirements != "" {
		argv = append(argv, "-r", args.Requirements)
	}
	return argv
}

// listMissing returns the packages that something is to be done about. It is not sure of what only pip itself can decide.
func (p *piped) listMissing(ctx context.Context, a *exec.Attempt) (names []string, sure bool, err error) {
	args := p.args
	is := map[string]string{}
	if p.venv == nil {
		// pip looks for a newer pip by itself, which takes a request to the network.
		said, err := a.AskTool(ctx, exec.NewTool(append(append([]string{}, p.pip...), "list", "--format=freeze",
			"--disable-pip-version-check")...))
		if err != nil {
			return nil, false, err
		}
		if said.Code != 0 {
			return nil, false, packageError("pip", said, "")
		}
		for line := range strings.Lines(said.Stdout) {
			name, version, _ := strings.Cut(strings.TrimSpace(line), "==")
			is[pipKey(name)] = version
		}
	}
	sure = args.Requirements == ""
	for _, wanted := range args.Packages {
		m := requirement.FindStringSubmatch(wanted)
		if m == nil {
			names, sure = append(names, wanted), false // an address, or a path
			continue
		}
		// Names differ in case, - and _ and mean the same package.
		version, there := is[pipKey(m[1])]
		if !there && args.State != fsys.Absent {
			p.fresh[wanted] = m[1]
		}
		exact := args.Version
		if m[2] == "==" {
			exact = m[3]
		}
		switch {
		case args.State == fsys.Absent:
			if there {
				names = append(names, wanted)
			}
		case args.State == "forcereinstall", !there, exact != "" && exact != version:
			// Which versions satisfy >= or ~= only pip decides.
			names = append(names, wanted)
		case args.State == "latest", m[2] != "" && exact == "":
			names, sure = append(names, wanted), false
		}
	}
	return names, sure, nil
}

// requirement is a name, perhaps with extras, and a condition for its version.
var requirement = pattern.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:(==|>=|<=|!=|~=|<|>|===)\s*(.*))?$`)

var separators = pattern.New(`[-_.]+`)

// pipKey is the name by which pip compares: it takes the separators for the same.
func pipKey(name string) string {
	return separators.ReplaceAllString(strings.ToLower(name), "-")
}
