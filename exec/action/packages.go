package action

import (
	"cmp"
	"context"
	"crypto/sha1" // it tells files apart, and protects nothing
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/internal/pattern"
)

// packager is a package manager, with what a step wants of it.
type packager interface {
	// predictTransaction finds out what is to be done, going by the lists of packages that are here, and changes nothing.
	predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error)
	// needsRefresh reports whether the step wants the lists fetched first; refreshLists does it.
	needsRefresh() bool
	refreshLists(ctx context.Context, a *exec.Attempt) error
	// listPatterns returns patterns of the files that refreshLists fetches.
	listPatterns() []string
}

// transaction is what a package manager would do, and the way to do it.
type transaction struct {
	changes []packageChange
	others  []string // what else is done, in words
	idle    bool     // nothing is asked for: the lists are all that matters
	do      func(context.Context) error
}

// packageChange is what happens to one package. From is "" for what is new, to for what goes.
type packageChange struct {
	name, from, to string
	asked          bool // by the step, and not only by another package
	down           bool // to is older
	purge          bool // with its configuration
}

// planPackages asks the package manager what it would do. Where the lists are to be fetched first nobody can know what
// will be in them: what is predicted then goes by those that are here, and the run asks again with the new ones.
func planPackages(ctx context.Context, a *exec.Attempt, p packager) (*exec.Change, error) {
	c := &exec.Change{Fields: map[string]any{"cache_updated": false}}
	if when := newestList(p.listPatterns()); !when.IsZero() {
		c.Fields["cache_update_time"] = int(when.Unix())
	}
	outdated := p.needsRefresh()
	t, err := p.predictTransaction(ctx, a)
	lacking, isLacking := errors.AsType[fault.NotYet](err)
	switch {
	case err == nil:
		describePackages(c, a, p, t)
	// A package that the old lists do not have may be in the new ones.
	case outdated && isLacking:
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, lacking.Message
	default:
		return nil, err
	}
	if !outdated {
		c.Apply = func(ctx context.Context) error { return t.runCommands(ctx) }
		return c, nil
	}
	// A step that asks for nothing but new lists.
	if t != nil && t.idle {
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, "the lists of packages may have news"
	}
	// Whatever was predicted: only the new lists say what there is to do.
	c.Always = true
	c.Apply = func(ctx context.Context) error {
		before := stampLists(p.listPatterns())
		if err := p.refreshLists(ctx, a); err != nil {
			return err
		}
		news := stampLists(p.listPatterns()) != before
		c.Fields["cache_updated"], c.Fields["cache_update_time"] = news, int(newestList(p.listPatterns()).Unix())
		t, err := p.predictTransaction(ctx, a)
		if err != nil {
			return err
		}
		describePackages(c, a, p, t)
		// Without packages to change, new lists are the change; if there are some, they are.
		if t.idle && news {
			c.Diff.Kind, c.Diff.Summary = events.ChangeUpdate, "new lists of packages"
		}
		return t.runCommands(ctx)
	}
	return c, nil
}

func (t *transaction) runCommands(ctx context.Context) error {
	if t.isEmpty() {
		return nil
	}
	return t.do(ctx)
}

func (t *transaction) isEmpty() bool { return len(t.changes) == 0 && len(t.others) == 0 }

// describePackages makes the change that of a transaction.
func describePackages(c *exec.Change, a *exec.Attempt, manager packager, t *transaction) {
	c.Resources = nil
	// Managers print in the order of their solver, which differs between two calls.
	slices.SortFunc(t.changes, func(x, y packageChange) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.from, y.from))
	})
	all := []any{}
	var text strings.Builder
	kinds := map[events.ChangeKind]bool{}
	for _, p := range t.changes {
		all = append(all, map[string]any{"name": p.name, "from": p.from, "to": p.to})
		if p.from != "" {
			text.WriteString("- " + strings.TrimSpace(p.name+" "+p.from) + "\n")
		}
		if p.to != "" {
			text.WriteString("+ " + strings.TrimSpace(p.name+" "+p.to) + "\n")
		}
		kinds[p.changeKind()] = true
		switch {
		case !p.asked:
		case p.from == "":
			c.AddCreated("package", p.name, removePackage(a, manager, p.name))
		default:
			c.AddResource(p.changeKind(), "package", p.name)
		}
	}
	c.Fields["packages"] = all
	c.Diff = events.Diff{Kind: events.ChangeUpdate, Summary: t.wordSummary()}
	if a.Diff && !a.NoLog {
		c.Diff.Text = text.String()
	}
	switch {
	case t.isEmpty():
		c.Diff.Kind = events.ChangeNone
	// If all packages have the same kind of change, that is the kind of the whole.
	case len(kinds) == 1 && len(t.others) == 0:
		for kind := range kinds {
			c.Diff.Kind = kind
		}
	}
}

// removePackage takes a package away again that was not there. What was installed for it stays, since others may need it by now, and so
// does its configuration.
func removePackage(a *exec.Attempt, manager packager, name string) *events.Undo {
	in := map[string]any{"name": name, "state": "absent"}
	action := ""
	switch p := manager.(type) {
	case *apt:
		action = "apt"
	case *dnf:
		action = "dnf"
		if p.args.Backend != "auto" {
			in["use_backend"] = p.args.Backend
		}
	case *pacman:
		action = "pacman"
	case *zypper:
		action = "zypper"
	case *apk:
		action = "apk"
	case *homebrew:
		action = "homebrew"
	default:
		return nil
	}
	return a.UndoWithTools(action, in)
}

func (p packageChange) changeKind() events.ChangeKind {
	switch {
	case p.from == "":
		return events.ChangeCreate
	case p.to == "":
		return events.ChangeDelete
	}
	return events.ChangeUpdate
}

// shownNames is how many packages a summary names for each thing that is done.
const shownNames = 4

// wordSummary words a transaction: what the step asks for by name, and how much comes with it.
func (t *transaction) wordSummary() string {
	var order, words []string
	done := map[string][]string{}
	rest := 0
	for _, p := range t.changes {
		verb, what := p.wordChange()
		switch {
		case !p.asked:
			rest++
			continue
		case done[verb] == nil:
			order = append(order, verb)
		}
		done[verb] = append(done[verb], what)
	}
	for _, verb := range order {
		list := done[verb]
		if len(list) > shownNames {
			// The capacity is cut as well, or the append would write into the list itself.
			list = append(list[:shownNames:shownNames], fmt.Sprintf("and %d more", len(list)-shownNames))
		}
		words = append(words, verb+" "+strings.Join(list, ", "))
	}
	switch {
	case rest > 0 && len(words) == 0:
		words = append(words, t.wordCounts())
	case rest == 1:
		words = append(words, "with 1 other package")
	case rest > 0:
		words = append(words, fmt.Sprintf("with %d other packages", rest))
	}
	return strings.Join(append(words, t.others...), ", ")
}

// wordCounts words what is done to packages that nobody named.
func (t *transaction) wordCounts() string {
	count := map[string]int{}
	for _, p := range t.changes {
		verb, _ := p.wordChange()
		count[verb]++
	}
	var words []string
	for _, verb := range []string{"install", "upgrade", "downgrade", "remove", "purge"} {
		switch n := count[verb]; {
		case n == 1:
			words = append(words, verb+" 1 package")
		case n > 1:
			words = append(words, fmt.Sprintf("%s %d packages", verb, n))
		}
	}
	return strings.Join(words, ", ")
}

func (p packageChange) wordChange() (verb, what string) {
	switch {
	case p.from == "":
		return "install", strings.TrimSpace(p.name + " " + p.to)
	case p.to == "" && p.purge:
		return "purge", p.name
	case p.to == "":
		return "remove", p.name
	case p.down:
		return "downgrade", p.name + " " + p.from + " → " + p.to
	}
	return "upgrade", p.name + " " + p.from + " → " + p.to
}

// stampLists tells whether lists of packages are the same as before: their times say only when they were fetched.
func stampLists(patterns []string) string {
	h := sha1.New()
	for _, file := range filesOf(patterns) {
		f, err := os.Open(file)
		if err != nil {
			continue // it has just gone
		}
		// The name belongs to the digest: a list that was renamed is another one.
		_, _ = fmt.Fprintln(h, file)
		_, _ = io.Copy(h, f) // what cannot be read is the same as before
		_ = f.Close()        // it was only read
	}
	return string(h.Sum(nil))
}

// newestList is when the last of the lists was fetched; zero if there are none.
func newestList(patterns []string) time.Time {
	var last time.Time
	for _, file := range filesOf(patterns) {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

func filesOf(patterns []string) []string {
	var files []string
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are moon's own
		files = append(files, found...)
	}
	return files
}

// What package managers say when somebody else holds their lock, when the network is to blame, and when the user may
// not.
var (
	packagesLocked = pattern.New(`(?i)could not get lock|frontend lock.* (?:is|was) locked|unable to lock database|system management is locked|holding the yum lock|another active homebrew|already locked|failed to obtain .*lock`)
	packagesDenied = pattern.New(`(?i)permission denied|are you root|superuser privileges|unless you are root|root privileges|need to be root`)
	packagesLost   = pattern.New(`(?i)temporary failure|could not resolve|couldn't resolve|connection (?:timed out|refused|failed|reset)|failed to fetch|failed to download|cannot download|failed retrieving file|network error|temporary error|cannot retrieve|curl error|unable to connect|could not connect|network is unreachable|cannot initiate the connection|hash sum mismatch|download \(curl\)`)
	packagesGone   = pattern.New(`\b404\b`)
)

// packageError is what is wrong in the words of a package manager, and whether it may pass.
func packageError(tool string, said exec.Answer, hint string) error {
	text := said.Stderr + "\n" + said.Stdout
	e := fault.CommandError{Message: tool + ": " + findComplaint(said), RC: &said.Code, Class: fault.Fatal}
	switch {
	// Without rights the same words appear as for a lock that is held, so this is looked at first.
	case packagesDenied.MatchString(text) && os.Geteuid() != 0:
		e.Message += "; it must run as root"
	case packagesLocked.MatchString(text):
		e.Class = fault.Transient
	case packagesGone.MatchString(text):
		e.Message += "; the lists of packages may be too old: update_cache: true fetches them"
	case packagesLost.MatchString(text):
		e.Class = fault.Transient
	case hint != "":
		e.Message += "; " + hint
	}
	return e
}

var errorLine = pattern.New(`(?im)^\s*(?:E|error|fatal): *(.*\S)`)

// findComplaint returns what a program says is wrong: its lines that say error, or the last.
func findComplaint(said exec.Answer) string {
	var lines []string
	for _, m := range errorLine.FindAllStringSubmatch(said.Stderr+"\n"+said.Stdout, -1) {
		if !slices.Contains(lines, m[1]) {
			lines = append(lines, m[1])
		}
	}
	if len(lines) == 0 {
		return cmp.Or(said.LastWords(), fmt.Sprintf("exit status %d", said.Code))
	}
	return strings.Join(lines[:min(len(lines), 3)], "; ")
}

// lockTick is how often it is tried again while somebody else holds a lock.
const lockTick = time.Second

// runManager tells a package manager to do something. While somebody else holds its lock it is tried again, as long as the
// step waits for that.
func runManager(ctx context.Context, a *exec.Attempt, t exec.Tool, wait time.Duration, good ...int) (exec.Answer, error) {
	deadline := time.Now().Add(wait)
	for {
		said, err := a.RunToolReading(ctx, t)
		if err == nil || said.Code == 0 || fault.Stopped(ctx) != "" {
			return said, err
		}
		// Some managers succeed with other codes than 0: a restart is needed.
		if slices.Contains(good, said.Code) {
			return said, nil
		}
		// Everything else is final: the caller's retries are the step's, and not this loop's.
		if !packagesLocked.MatchString(said.Stderr+said.Stdout) || packagesDenied.MatchString(said.Stderr) || time.Now().After(deadline) {
			return said, packageError(t.Argv[0], said, "")
		}
		select {
		case <-ctx.Done():
			return said, context.Cause(ctx)
		case <-time.After(lockTick):
		}
	}
}
