package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
	"moon/internal/pattern"
)

// gitStep is one git step being planned.
type gitStep struct {
	*exec.Attempt
	args *spec.GitArgs
	c    *exec.Change

	url     string // without a password
	env     map[string]string
	options []string // of git itself
	forget  string   // the command for ssh that remembers no host; "": any
	refs    map[string]string
	want    version
}

// version is what the step wants, as the repository has it.
type version struct {
	branch string // "" if it is none
	tag    string // likewise
	ref    string // the full name; "" for a commit
	commit string // "" if only a fetch can tell
}

// hideLogin takes a password out of the URL. Git asks for it through a helper that reads it from the environment, and only for
// this host: it is no argument, which anybody could read, and is not written into the working copy.
func (g *gitStep) hideLogin() {
	g.url = g.args.Repo
	// git must fail rather than ask: no one can answer it.
	g.env = map[string]string{"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": ""}
	u, err := url.Parse(g.args.Repo)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User != nil {
		if password, ok := u.User.Password(); ok {
			g.env["MOON_GIT_USER"], g.env["MOON_GIT_PASSWORD"] = u.User.Username(), password
			helper := `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$MOON_GIT_USER" "$MOON_GIT_PASSWORD"; }; f`
			// The empty helper clears those of the user's configuration, which would otherwise be asked first and store what worked.
			host := "credential." + u.Scheme + "://" + u.Host + ".helper="
			g.options = []string{"-c", host, "-c", host + helper}
			u.User = url.User(u.User.Username())
			g.url = u.String()
		}
	}
	g.setSSHCommand()
}

// refuseSteering refuses in a dry run a working copy of the project itself: its configuration can make git execute other programs.
func (g *gitStep) refuseSteering() error {
	if _, err := os.Stat(g.args.Dest); err != nil {
		return nil //nolint:nilerr // nothing is there that could steer it
	}
	return g.RefuseInProject(g.args.Dest)
}

// setSSHCommand sets the command that git reaches a host with. It never asks.
func (g *gitStep) setSSHCommand() {
	words := []string{"ssh", "-o", "BatchMode=yes"}
	if g.args.KeyFile != "" {
		words = append(words, "-o", "IdentitiesOnly=yes", "-i", shellQuote(g.args.KeyFile))
	}
	switch {
	case g.args.AcceptHostkey:
		words = append(words, "-o", "StrictHostKeyChecking=no")
	case g.args.AcceptNewHostkey:
		words = append(words, "-o", "StrictHostKeyChecking=accept-new")
	}
	if g.args.SSHOpts != "" {
		words = append(words, g.args.SSHOpts)
	}
	g.env["GIT_SSH_COMMAND"] = strings.Join(words, " ")
	if g.args.AcceptHostkey || g.args.AcceptNewHostkey {
		// New keys are written to the first file, and of an option the first value counts.
		nowhere := "ssh -o UserKnownHostsFile='/dev/null ~/.ssh/known_hosts ~/.ssh/known_hosts2'"
		g.forget = nowhere + strings.TrimPrefix(g.env["GIT_SSH_COMMAND"], "ssh")
	}
}

// shellQuote makes one word of a text for sh.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// buildCommand returns a call of git. Dir is "" where there is no working copy yet.
func (g *gitStep) buildCommand(dir string, args ...string) exec.Tool {
	program := g.args.Executable
	if program == "" {
		program = "git"
	}
	argv := append([]string{program}, g.options...)
	if dir != "" {
		argv = append(argv, "-C", dir)
	}
	return exec.Tool{Argv: underUmask(g.args.Umask, append(argv, args...)), Env: g.env}
}

// underUmask is a command that runs with a umask. That belongs to the whole process, and steps run side by side: a shell sets it for the
// command alone.
func underUmask(mask spec.Mode, argv []string) []string {
	if mask.IsZero() {
		return argv
	}
	return append([]string{process.ShellPath, "-c", fmt.Sprintf(`umask %04o; exec "$@"`, mask.Apply(0, false, 0)), argv[0]}, argv...)
}

// askGit asks git something that changes nothing.
func (g *gitStep) askGit(ctx context.Context, dir string, args ...string) (exec.Answer, error) {
	t := g.buildCommand(dir, append([]string{"--no-optional-locks"}, args...)...)
	if g.forget != "" {
		t.Env = maps.Clone(g.env)
		t.Env["GIT_SSH_COMMAND"] = g.forget
	}
	return g.AskTool(ctx, t)
}

// askLine is askGit for what must succeed; the answer is without the newline at its end.
func (g *gitStep) askLine(ctx context.Context, dir string, args ...string) (string, error) {
	said, err := g.askGit(ctx, dir, args...)
	if err != nil {
		return "", err
	}
	if said.Code != 0 {
		return "", g.explainFailure(said, fault.CommandError{RC: &said.Code, Class: fault.Fatal})
	}
	return strings.TrimRight(said.Stdout, "\n"), nil
}

// changeWith lets git change something.
func (g *gitStep) changeWith(ctx context.Context, dir string, args ...string) error {
	said, err := g.RunToolReading(ctx, g.buildCommand(dir, args...))
	if e, ok := errors.AsType[fault.CommandError](err); ok {
		return g.explainFailure(said, e)
	}
	return err
}

// transientWords are words of git and ssh about what may be gone a moment later.
var transientWords = pattern.New(`(?i)could not resolve host|connection (timed out|refused|reset)|operation timed out|early eof|remote end hung up|` +
	`temporary failure|returned error: (429|5\d\d)|index\.lock|another git process|tls connection was`)

// explainFailure puts what git says first of an error in the place of its exit status: what follows is advice.
func (g *gitStep) explainFailure(said exec.Answer, e fault.CommandError) error {
	e.Message = "git: " + said.LastWords()
	for line := range strings.Lines(said.Stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "ssh: ") ||
			strings.HasPrefix(line, "Host key ") {
			e.Message = "git: " + line
			break
		}
	}
	if transientWords.MatchString(said.Stderr) {
		e.Class = fault.Transient
	}
	return e
}

// askRemote learns which branches and tags the repository has.
func (g *gitStep) askRemote(ctx context.Context) error {
	if path, ok := g.localRepo(); ok {
		if _, err := g.Overlay.Stat(path); err != nil {
			return fault.Missing(path, "repo %s does not exist", path)
		}
	}
	from := g.url
	if path, ok := g.localRepo(); ok {
		from = path // a dry run is not in the directory that it is relative to
	}
	// --symref says which branch HEAD stands for.
	words := []string{"ls-remote", "--symref", "--", from, "HEAD", "refs/heads/*", "refs/tags/*"}
	if strings.HasPrefix(g.args.Version, "refs/") {
		words = append(words, g.args.Version)
	}
	text, err := g.askLine(ctx, "", words...)
	if err != nil {
		return err
	}
	g.refs = map[string]string{}
	head := ""
	for line := range strings.Lines(text) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if target, symbolic := strings.CutPrefix(id, "ref: "); symbolic && name == "HEAD" {
			head = target
		} else if ok {
			g.refs[name] = id
		}
	}
	return g.resolveVersion(head)
}

// localRepo is the path of a repository on this machine.
func (g *gitStep) localRepo() (string, bool) {
	path, isFile := strings.CutPrefix(g.url, "file://")
	// host:path is the address of an ssh server.
	if !isFile && (strings.Contains(path, ":") || path == "") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.Cwd, path)
	}
	return path, true
}

var (
	wholeCommit = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	shortCommit = pattern.New(`^[0-9a-f]{4,64}$`)
)

// resolveVersion finds the version among what the repository has.
func (g *gitStep) resolveVersion(head string) error {
	name := g.args.Version
	branch, tag := "refs/heads/"+name, "refs/tags/"+name
	switch {
	case name == "HEAD" && g.refs["HEAD"] == "":
		return fault.Missing(g.args.Dest, "repo %s has no commit yet", spec.ShownURL(g.url))
	case name == "HEAD":
		g.want = version{branch: strings.TrimPrefix(head, "refs/heads/"), ref: head, commit: g.refs["HEAD"]}
	case g.refs[branch] != "":
		g.want = version{branch: name, ref: branch, commit: g.refs[branch]}
	case g.refs[tag+"^{}"] != "": // a tag with a message is an object of its own
		g.want = version{tag: name, ref: tag, commit: g.refs[tag+"^{}"]}
	case g.refs[tag] != "":
		g.want = version{tag: name, ref: tag, commit: g.refs[tag]}
	case g.refs[name] != "":
		g.want = version{ref: name, commit: g.refs[name]}
	case wholeCommit.MatchString(name):
		g.want = version{commit: name}
	// Refs alone do not resolve a short id; it is looked up once everything is fetched.
	case shortCommit.MatchString(name) || g.args.Refspec != "":
	default:
		return fault.Missing(g.args.Dest, "repo %s has no branch, tag or commit %s", spec.ShownURL(g.url), name)
	}
	return nil
}

// shortenCommit returns as much of a commit as people read.
func shortenCommit(commit string) string { return commit[:min(len(commit), 7)] }

// wordVersion returns the version in words: "def5678 (main)".
func (g *gitStep) wordVersion() string {
	if g.want.commit == "" || g.args.Version == g.want.commit {
		return shortenCommit(g.args.Version)
	}
	name := g.args.Version
	if g.want.branch != "" {
		name = g.want.branch
	}
	return shortenCommit(g.want.commit) + " (" + name + ")"
}

// isEmpty reports whether nothing is in the way of a clone.
func (g *gitStep) isEmpty(path string) (bool, error) {
	if at, ok := g.Overlay.Look(path); ok {
		return at.Kind == fsys.Absent || at.Kind == fsys.Directory && at.Fresh, nil
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	return err == nil && len(entries) == 0, err
}
