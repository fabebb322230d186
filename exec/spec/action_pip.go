package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// PipArgs are the arguments of pip. Once decoded, Packages are the single requirements, Options the words of ExtraArgs and
// Maker those of VirtualenvCommand.
type PipArgs struct {
	Name         []string `arg:"name" doc:"Packages, as a list or text with commas, with versions in the form of pip: flask, flask==3.0, git+https://…."`
	Version      string   `arg:"version" doc:"Version of the one package."`
	Requirements string   `arg:"requirements" kind:"path" doc:"The requirements file."`
	State        string   `arg:"state" default:"present" enum:"present|absent|latest|forcereinstall" doc:"present or absent; latest upgrades them, forcereinstall installs them again."`
	Virtualenv   string   `arg:"virtualenv" kind:"path" doc:"The virtual environment to use. It is created if missing."`
	Maker        string   `arg:"virtualenv_command" implied:"virtualenv, or python3 -m venv where that is not installed" doc:"The command that creates it."`
	Python       string   `arg:"virtualenv_python" doc:"The Python to create it with."`
	SitePackages bool     `arg:"virtualenv_site_packages" default:"false" doc:"Give it access to the system packages."`
	Executable   string   `arg:"executable" implied:"pip3, or pip" doc:"The pip to use, by its path or name."`
	ExtraArgs    string   `arg:"extra_args" doc:"Further options for pip."`
	Editable     bool     `arg:"editable" default:"false" doc:"Install a directory in editable mode."`
	Umask        Mode     `arg:"umask" implied:"that of moon" doc:"The umask that pip and the program which creates the environment run with: 077."`
	Chdir        string   `arg:"chdir" kind:"path" implied:"the step's cwd" doc:"The directory to run pip in."`

	Packages []string
	Options  []string
}

var _ = declareAction(&Action{
	Name:    "pip",
	Doc:     "Installs, upgrades and removes packages of Python.",
	Check:   true,
	Dropped: []string{"use_mirrors"},
	Diff:    true,
	Process: "*",
	Proxies: true,
	args:    reflect.TypeFor[PipArgs](),
	Returns: []Return{
		{"name", "The packages."},
		{"state", "The requested state."},
		{"version", "The requested version."},
		{"requirements", "The file with requirements."},
		{"virtualenv", "The virtual environment."},
		{"cmd", "The command."},
	},
	Least: "pip: x",
	Free:  "name",
	Example: `- pip:
    name: demo
    executable: /usr/bin/pip3
    extra_args: --no-index --find-links /work --break-system-packages
`,
})

var pipName = pattern.New(`^[A-Za-z0-9./_~+:@\[]`)

func (a *PipArgs) validateArgs(given func(string) bool) []Problem {
	problems := checkUmask(a.Umask)
	for _, name := range a.Name {
		// A comma may also stand between two conditions for a version.
		for part := range strings.SplitSeq(name, ",") {
			part = strings.TrimSpace(part)
			// "foo>=1,<2" is one package with two conditions, "foo,bar" are two.
			if n := len(a.Packages); n > 0 && part != "" && strings.ContainsAny(part[:1], "<>=!~") {
				a.Packages[n-1] += "," + part
			} else if part != "" {
				a.Packages = append(a.Packages, part)
			}
		}
	}
	for _, p := range a.Packages {
		if !pipName.MatchString(p) {
			problems = append(problems, Problem{"name", "`name` has " + nameValue(p) + ", which is not a package name", ""})
		}
	}
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case len(a.Packages) == 0 && a.Requirements == "" && a.Virtualenv == "":
		add("", "`pip` has nothing to do", "give `name` or `requirements`")
	case a.Version != "" && len(a.Packages) != 1:
		add("version", "`version` goes with one `name`", "write the versions with the names: flask==3.0")
	case a.Version != "" && a.State != "present" && a.State != "forcereinstall":
		add("version", "`version` goes with `state: present`", "")
	case a.State == "latest" && a.Requirements != "" && len(a.Packages) == 0:
	case a.Virtualenv != "" && given("executable"):
		add("executable", "`executable` and `virtualenv` exclude each other", "a virtual environment has a pip of its own")
	}
	var wrong []Problem
	a.Options, wrong = extraWords("extra_args", a.ExtraArgs)
	return append(problems, wrong...)
}
