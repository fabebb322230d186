package exec

import (
	"path/filepath"
	"slices"
	"strings"
)

// A prediction comes before approval, and a playbook may come from anywhere. So a dry run executes nothing that the playbook
// supplies or names, unless the job says that its files are trusted: no program by a path, none that an option names, and no
// program of the system in an environment or a directory by which the playbook could steer it.

// supplied is why something cannot be predicted: asking would execute what the playbook names.
type supplied struct{ what string }

func (s supplied) Error() string {
	return "it needs " + s.what + ", which only a trusted playbook may have before approval; look at it, then run moon trust"
}

// refuseSupplied is an error in a dry run of a playbook that is not trusted. What says what the playbook names.
func (a *Attempt) refuseSupplied(what string) error {
	if !a.ahead || a.Trusted {
		return nil
	}
	return supplied{what}
}

// Supplies says what of the playbook a dry run of the job would execute, or be steered by, as far as its arguments show: "`ssh_opts`";
// "" if there is nothing. Only a job that is Trusted is gone through then.
func Supplies(job *Job) string {
	if job.Details != nil && strings.Contains(job.Details.Python, "/") && !ofSystem(job.Details.Python) {
		return "the interpreter " + job.Details.Python
	}
	if names := actions[job.Action].Supplies; names != nil && job.Args != nil {
		return names(job.Args)
	}
	return ""
}

// MaySupply reports whether arguments of an action can name a program that a dry run would execute.
func MaySupply(action string) bool { return actions[action].Supplies != nil }

// QuoteGiven is an argument's name in quotes, if the argument is given.
func QuoteGiven(name, value string) string {
	if value == "" {
		return ""
	}
	return "`" + name + "`"
}

// refuseAsking says why a dry run may not ask this program.
func (a *Attempt) refuseAsking(argv []string) error {
	for name := range a.Env {
		if !slices.Contains(harmlessEnv, name) && !strings.HasPrefix(name, "LC_") {
			return a.refuseSupplied("a program of the system with the environment variable " + name)
		}
	}
	if strings.Contains(argv[0], "/") && !ofSystem(argv[0]) {
		return a.refuseSupplied("the program " + argv[0])
	}
	return nil
}

// harmlessEnv are variables of the environment that make no program execute or load anything.
var harmlessEnv = []string{
	"DEBIAN_FRONTEND", "LANG", "LANGUAGE", "TERM", "TZ",
	"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY",
}

// systemPrograms are directories whose programs moon itself names by their path. Nothing comes into them with a playbook.
var systemPrograms = []string{"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/etc/init.d/"}

func ofSystem(path string) bool {
	path = filepath.Clean(path)
	return slices.ContainsFunc(systemPrograms, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

// RefuseInProject refuses a directory whose own files steer the program that is started in it, such as the configuration of a git
// repository, if it is part of the playbook's project, or the project a part of it.
func (a *Attempt) RefuseInProject(dir string) error {
	if a.Project == "" || dir == "" {
		return nil
	}
	project, dir := resolved(a.Project), resolved(dir)
	// In both directions: a repository above the playbook belongs to the project as well.
	if within(dir, project) || within(project, dir) {
		return a.refuseSupplied("the settings in " + dir)
	}
	return nil
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within reports whether a path is a directory, or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
