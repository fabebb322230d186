package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
	"moon/internal/suggest"
)

var _ = exec.Register("apt", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planApt(ctx, a, a.Args.(*spec.AptArgs))
}})

func planApt(ctx context.Context, a *exec.Attempt, args *spec.AptArgs) (*exec.Change, error) {
	p := &apt{args: args}
	c, err := planPackages(ctx, a, p)
	if c == nil {
		return nil, err
	}
	c.Unlock = p.removeFetched
	// The words of the simulation stand if there is nothing to do; those of the act itself take their place.
	apply := c.Apply
	c.Apply = func(ctx context.Context) error {
		err := apply(ctx)
		p.registerOutput(c)
		return err
	}
	p.registerOutput(c)
	return c, err
}

// registerOutput registers what apt-get has said, which plays look into: of what it did, or would do.
func (p *apt) registerOutput(c *exec.Change) {
	if p.heard == nil {
		return
	}
	for name, text := range map[string]string{"stdout": p.heard.Stdout, "stderr": p.heard.Stderr} {
		lines := []any{}
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
		c.Fields[name], c.Fields[name+"_lines"] = text, lines
	}
}

// apt has apt-get say what it would do (-s) and then do it, with the same words.
type apt struct {
	args *spec.AptArgs
	file string // of args.Deb, on this machine
	name string // of the package in it
	temp string // where it was fetched to

	heard *exec.Answer // the last call of apt-get; nil: there was none
}

// aptLists is where apt keeps its lists; partial is touched by every update, also one without news.
const aptLists = "/var/lib/apt/lists"

func (*apt) listPatterns() []string { return []string{aptLists + "/*_*"} }

// needsRefresh is true also of what must be fetched to know what it is.
func (p *apt) needsRefresh() bool { return p.listsAreStale() || p.isRemote() && p.temp == "" }

func (p *apt) isRemote() bool { return strings.Contains(p.args.Deb, "://") }

func (p *apt) listsAreStale() bool {
	if !p.args.UpdateCache {
		return false
	}
	// A list has the date that the server gave it. Only the directories and the stamp say when the lists were last asked for.
	last := newestList([]string{aptLists, aptLists + "/partial", "/var/lib/apt/periodic/update-success-stamp"})
	if len(filesOf(p.listPatterns())) == 0 {
		return true
	}
	return !time.Now().Before(last.Add(p.args.CacheValidTime))
}

// failedLists is what apt-get update says of lists that it could not fetch, and then ends well.
var failedLists = pattern.New(`(?m)^[WE]: Some index files failed to download`)

func (p *apt) refreshLists(ctx context.Context, a *exec.Attempt) error {
	if p.listsAreStale() {
		if err := p.updateLists(ctx, a); err != nil {
			return err
		}
	}
	if p.isRemote() {
		return p.fetchFile(ctx, a)
	}
	return nil
}

// fetchFile gets the .deb file the way apt gets packages, so that its proxies hold.
func (p *apt) fetchFile(ctx context.Context, a *exec.Attempt) (err error) {
	if p.temp, err = os.MkdirTemp("", "moon-deb-"); err != nil {
		return err
	}
	p.file = filepath.Join(p.temp, "package.deb")
	said, err := a.RunToolReading(ctx, exec.NewTool("/usr/lib/apt/apt-helper", "download-file", p.args.Deb, p.file))
	if err != nil && said.Code != 0 && fault.Stopped(ctx) == "" {
		return packageError("apt-helper", said, "")
	}
	return err
}

// removeFetched removes what was fetched.
func (p *apt) removeFetched() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp) // what is left is in the directory for that
	}
}

func (p *apt) updateLists(ctx context.Context, a *exec.Attempt) error {
	delay := time.Second
	for try := 0; ; try++ {
		said, err := runManager(ctx, a, exec.Tool{Argv: p.buildCommand("update"), Env: aptEnv}, p.args.LockTimeout)
		// apt-get update succeeds with a warning if a list could not be fetched, and uses the old one. A step that asks for new lists
		// fails.
		if err == nil && failedLists.MatchString(said.Stderr) {
			said.Stderr = strings.ReplaceAll(said.Stderr, "W: ", "E: ")
			err = packageError("apt-get", said, "")
		}
		if e, ok := errors.AsType[fault.CommandError](err); !ok || e.Class != fault.Transient || try >= p.args.UpdateRetries {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		// The delay doubles from one second up to the limit of the playbook.
		case <-time.After(min(delay, p.args.UpdateDelay)):
		}
		delay *= 2
	}
}

// aptEnv keeps packages from asking. Their scripts make things, such as databases, in the language of the machine that
// runs them, so that must know more than ASCII.
var aptEnv = map[string]string{
	"DEBIAN_FRONTEND": "noninteractive", "DEBIAN_PRIORITY": "critical", "APT_LISTCHANGES_FRONTEND": "none", "LC_ALL": "C.UTF-8",
}

func (p *apt) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	is, err := dpkgPackages(ctx, a)
	if err != nil {
		return nil, err
	}
	t := &transaction{}
	orders, err := p.planOrders(ctx, a, is)
	if err != nil {
		return nil, err
	}
	var todo []order
	for _, o := range orders {
		// Each is simulated against what is installed now, not against what the one before it would leave.
		changes, err := p.simulateOrder(ctx, a, o)
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			t.changes, todo = append(t.changes, changes...), append(todo, o)
		}
	}
	cleans, err := p.planCleaning(ctx, a, t)
	if err != nil {
		return nil, err
	}
	marks := p.listUnmarked(is)
	if len(marks) > 0 {
		t.others = append(t.others, "mark "+strings.Join(marks, ", ")+" as manually installed")
	}
	args := p.args
	t.idle = len(orders) == 0 && len(args.Name) == 0 && args.Deb == "" && !args.Clean && !args.AutoClean
	t.do = func(ctx context.Context) error {
		for _, o := range todo {
			if err := p.carryOut(ctx, a, o); err != nil {
				return err
			}
		}
		if len(marks) > 0 {
			if _, err := runManager(ctx, a, exec.NewTool(append([]string{"apt-mark", "manual", "--"}, marks...)...),
				args.LockTimeout); err != nil {
				return err
			}
		}
		// Cleaned last: the installation itself fills the cache.
		for _, verb := range cleans {
			if _, err := runManager(ctx, a, exec.Tool{Argv: p.buildCommand(verb), Env: aptEnv}, args.LockTimeout); err != nil {
				return err
			}
		}
		return nil
	}
	return t, nil
}

// order is one call of apt-get.
type order struct {
	words []string // options and the verb
	names []string
}

// planOrders returns the calls that the step needs. Installing and removing are one; what is no longer needed goes with it, or
// afterwards.
func (p *apt) planOrders(ctx context.Context, a *exec.Attempt, is dpkgStatus) ([]order, error) {
	args := p.args
	switch {
	case args.Deb != "":
		return p.debOrders(ctx, a, is)
	case args.Upgrade == "safe":
		// Without --with-new-pkgs a package stays back whose new version needs one that is not installed, as those of kernels do.
		return []order{{words: p.buildAuto("upgrade", "--with-new-pkgs")}}, nil
	case args.Upgrade == "full":
		return []order{{words: p.buildAuto("dist-upgrade")}}, nil
	case args.State == "build-dep":
		return []order{{p.buildAuto("build-dep"), args.Name}}, nil
	}
	names, err := p.selectNames(ctx, a, is)
	if err != nil {
		return nil, err
	}
	switch {
	case len(names) > 0 && args.State == "absent":
		return []order{{p.buildAuto("remove"), names}}, nil
	case args.State == "fixed":
		return []order{{p.buildAuto("install", "--fix-broken"), names}}, nil
	case len(names) > 0:
		return []order{{p.buildAuto("install"), names}}, nil
	case args.AutoRemove:
		return []order{{words: []string{"autoremove"}}}, nil
	}
	return nil, nil
}

func (p *apt) buildAuto(verb string, options ...string) []string {
	if p.args.AutoRemove {
		options = append(options, "--auto-remove")
	}
	return append(options, verb)
}

// aptName is a package as a step writes it.
type aptName struct{ name, arch, version, release string }

func readAptName(text string) (n aptName) {
	n.name, n.version, _ = strings.Cut(text, "=")
	n.name, n.release, _ = strings.Cut(n.name, "/")
	n.name, n.arch, _ = strings.Cut(n.name, ":")
	return n
}

// String is the name as apt-get takes it.
func (n aptName) String() string {
	with := func(mark, text string) string {
		if text == "" {
			return ""
		}
		return mark + text
	}
	return n.name + with(":", n.arch) + with("=", n.version) + with("/", n.release)
}

// selectNames returns the names that apt-get must be given, since they are not as the step wants them.
func (p *apt) selectNames(ctx context.Context, a *exec.Attempt, is dpkgStatus) ([]string, error) {
	args := p.args
	var names []string
	var known []string // every package there is, read once
	for _, text := range args.Name {
		n := readAptName(text)
		each := []aptName{n}
		if strings.ContainsAny(n.name, "*?[") {
			// What is to be removed can only be what dpkg knows; what is to be installed may be any name of the lists.
			all := slices.Collect(maps.Keys(is))
			if args.State != "absent" {
				if known == nil {
					var err error
					if known, err = aptNames(ctx, a); err != nil {
						return nil, err
					}
				}
				all = known
			}
			each = n.expandPattern(all)
			if len(each) == 0 && args.State != "absent" {
				return nil, fault.Missing("", "no package matches %s; update_cache: true fetches newer lists", n.name)
			}
		}
		for _, n := range each {
			if p.lacksPackage(is, n) {
				names = append(names, n.String())
			}
		}
	}
	return names, nil
}

func (n aptName) expandPattern(known []string) []aptName {
	var all []aptName
	for _, name := range slices.Sorted(slices.Values(known)) {
		if ok, err := path.Match(n.name, name); ok && err == nil {
			all = append(all, aptName{name, n.arch, n.version, n.release})
		}
	}
	return all
}

// lacksPackage reports whether a package is not as the step wants it.
func (p *apt) lacksPackage(is dpkgStatus, n aptName) bool {
	has := is.findPackage(n)
	there := has != nil && has.isInstalled() && versionMatches(n.version, has.version)
	switch p.args.State {
	case "absent":
		// Purging also concerns a package that was removed but has left its configuration behind.
		return there || p.args.Purge && has != nil && n.version == ""
	case "latest":
		// Whether there is a newer version only apt knows, so what is installed is named as well.
		return there || !p.args.OnlyUpgrade && (n.version != "" || len(is.listProviders(n.name)) == 0 || has != nil)
	}
	// A virtual package is there if anything provides it. A version of one has no meaning to dpkg, so apt decides.
	return !there && (n.version != "" || len(is.listProviders(n.name)) == 0)
}

func versionMatches(pattern, version string) bool {
	if pattern == "" || pattern == version {
		return true
	}
	ok, err := path.Match(pattern, version)
	return ok && err == nil
}

// listUnmarked returns packages that the step asks for by name, and that would go with the packages they were installed for.
func (p *apt) listUnmarked(is dpkgStatus) []string {
	if p.args.State != "present" && p.args.State != "latest" {
		return nil
	}
	var auto map[string]bool
	var names []string
	for _, text := range p.args.Name {
		has := is.findPackage(readAptName(text))
		if has == nil || !has.isInstalled() {
			continue
		}
		if auto == nil {
			auto = autoInstalled()
		}
		arch := has.arch
		if native := is.findPackage(aptName{name: "dpkg"}); arch == "all" && native != nil {
			arch = native.arch // as apt has it
		}
		if auto[has.name+" "+arch] {
			names = append(names, has.name)
		}
	}
	return names
}

// buildCommand returns a call of apt-get with the options of the step.
func (p *apt) buildCommand(words ...string) []string {
	args := p.args
	argv := []string{"apt-get", "-y", "-q"}
	for option := range strings.SplitSeq(args.DpkgOptions, ",") {
		if option != "" {
			argv = append(argv, "-o", "Dpkg::Options::=--"+option)
		}
	}
	// With a pty of its own dpkg would draw a progress bar into the output. apt itself waits for the lock that another program holds.
	argv = append(argv, "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout="+strconv.Itoa(int(args.LockTimeout.Seconds())))
	if args.InstallRecommends != nil {
		argv = append(argv, map[bool]string{true: "--install-recommends", false: "--no-install-recommends"}[*args.InstallRecommends])
	}
	if args.DefaultRelease != "" {
		argv = append(argv, "-t", args.DefaultRelease)
	}
	for _, o := range []struct {
		on     bool
		option string
	}{
		{args.OnlyUpgrade, "--only-upgrade"},
		{args.Purge, "--purge"},
		{args.AllowUnauthenticated || args.Force, "--allow-unauthenticated"},
		{args.AllowDowngrade || args.Force, "--allow-downgrades"},
		{args.AllowChangeHeld || args.Force, "--allow-change-held-packages"},
		{args.Force, "--allow-remove-essential"},
		{args.FailOnAutoremove, "--no-remove"},
	} {
		if o.on {
			argv = append(argv, o.option)
		}
	}
	return append(argv, words...)
}

func (o order) buildCommand() []string {
	if len(o.names) == 0 {
		return o.words
	}
	return append(append(slices.Clone(o.words), "--"), o.names...)
}

// simulateOrder asks apt-get what an order would do.
func (p *apt) simulateOrder(ctx context.Context, a *exec.Attempt, o order) ([]packageChange, error) {
	argv := p.buildCommand(append([]string{"-s", "-o", "Dir::Log::Planner="}, o.buildCommand()...)...) // even a simulation is logged
	said, err := a.AskTool(ctx, exec.Tool{Argv: argv, Env: aptEnv})
	if err != nil {
		return nil, err
	}
	p.heard = &said
	// apt-get takes a name that it does not know for a regular expression, and would install everything that matches.
	if m := byRegex.FindStringSubmatch(said.Stdout); m != nil {
		return nil, p.explainUnknown(ctx, a, m[1])
	}
	if said.Code != 0 {
		return nil, p.explainRefusal(ctx, a, said)
	}
	changes := readAptSimulation(said.Stdout)
	asked := map[string]bool{}
	for _, name := range o.names {
		n := readAptName(name)
		asked[n.name] = true
	}
	if p.name != "" {
		asked[p.name] = true
	}
	// For a virtual package apt names the one that it takes: that is what the step asked for.
	for _, m := range instead.FindAllStringSubmatch(said.Stdout, -1) {
		asked[m[1]] = asked[m[1]] || asked[m[2]]
	}
	for i := range changes {
		name, _, _ := strings.Cut(changes[i].name, ":")
		changes[i].asked = asked[name]
	}
	for name := range asked {
		base, plus := strings.CutSuffix(name, "+") // apt takes that off if there is no such package
		if plus && slices.ContainsFunc(changes, func(c packageChange) bool { return c.name == base }) {
			return nil, p.explainUnknown(ctx, a, name)
		}
	}
	return changes, nil
}

var (
	// Where there is no such package apt takes the name for a pattern, and installs whatever matches.
	byRegex = pattern.New(`(?m)^Note, selecting '[^']+' for (?:regex|glob) '([^']+)'`)
	instead = pattern.New(`(?m)^Note, selecting '([^']+)' instead of '([^']+)'`)

	aptInst    = pattern.New(`(?m)^Inst (\S+)(?: \[([^\]]*)\])? \((\S+)`)
	aptRemv    = pattern.New(`(?m)^(Remv|Purg) (\S+)(?: \[([^\]]*)\])?`)
	aptDown    = pattern.New(`(?m)^The following packages will be DOWNGRADED:\n((?: .*\n)+)`)
	aptUnknown = pattern.New(`(?m)^E: Unable to locate package (\S+)`)
	aptNothing = pattern.New(`(?m)^E: Package '([^']+)' has no installation candidate`)
	aptVersion = pattern.New(`(?m)^E: (?:Version|Release) '([^']+)' for '([^']+)' was not found`)
	aptVirtual = pattern.New(`(?m)^  (\S+) \S+.*$`)
)

// readAptSimulation reads what apt-get -s prints. What goes to make room for a newer version is no removal.
func readAptSimulation(text string) []packageChange {
	var changes []packageChange
	seen := map[string]int{}
	add := func(c packageChange) {
		if i, twice := seen[c.name]; twice {
			changes[i].purge = changes[i].purge || c.purge
			if changes[i].to == "" {
				changes[i].to = c.to
			}
			return
		}
		seen[c.name] = len(changes)
		changes = append(changes, c)
	}
	// The lines of the simulation do not say up or down; the summary above them does.
	var down []string
	if m := aptDown.FindStringSubmatch(text); m != nil {
		down = strings.Fields(m[1])
	}
	for _, m := range aptRemv.FindAllStringSubmatch(text, -1) {
		if m[3] == "" {
			m[3] = "config-files" // of what is removed already, which has a version only where it can be installed no more
		}
		add(packageChange{name: m[2], from: m[3], purge: m[1] == "Purg"})
	}
	for _, m := range aptInst.FindAllStringSubmatch(text, -1) {
		add(packageChange{name: m[1], from: m[2], to: m[3], down: slices.Contains(down, m[1])})
	}
	return changes
}

// explainRefusal words why apt-get would not do it, with the way out.
func (p *apt) explainRefusal(ctx context.Context, a *exec.Attempt, said exec.Answer) error {
	if m := aptUnknown.FindStringSubmatch(said.Stderr); m != nil {
		return p.explainUnknown(ctx, a, m[1])
	}
	if m := aptVersion.FindStringSubmatch(said.Stderr); m != nil {
		return fault.Missing("", "there is no %s of package %s; `apt-cache policy %s` lists what there is", m[1], m[2], m[2])
	}
	if m := aptNothing.FindStringSubmatch(said.Stderr); m != nil {
		var others []string
		if _, list, ok := strings.Cut(said.Stdout, "Package "+m[1]+" is a virtual package provided by:\n"); ok {
			list, _, _ = strings.Cut(list, "\n\n")
			for _, v := range aptVirtual.FindAllStringSubmatch(list+"\n", -1) {
				others = append(others, v[1])
			}
		}
		if len(others) == 0 {
			return fault.Missing("", "package %s is in none of the lists any more; update_cache: true fetches newer ones", m[1])
		}
		return fault.Missing("", "package %s is provided by several; name one of %s", m[1], strings.Join(slices.Compact(others), ", "))
	}
	for text, field := range map[string]string{
		"--allow-change-held-packages": "allow_change_held_packages", "--allow-downgrades": "allow_downgrade",
		"--allow-unauthenticated": "allow_unauthenticated", "--allow-remove-essential": "force",
	} {
		if strings.Contains(said.Stderr, "without "+text) {
			return packageError("apt-get", said, field+": true allows that")
		}
	}
	if strings.Contains(said.Stderr, "Unmet dependencies") {
		return packageError("apt-get", said, "state: fixed puts that right")
	}
	return packageError("apt-get", said, "")
}

// explainUnknown returns the error of a name that no list has.
func (*apt) explainUnknown(ctx context.Context, a *exec.Attempt, name string) error {
	hint := ""
	if known, err := aptNames(ctx, a); err == nil {
		hint = suggest.DidYouMean(name, known)
	}
	if hint == "" {
		hint = "update_cache: true fetches newer lists"
	}
	return fault.Missing("", "there is no package %s; %s", name, hint)
}

// aptNames is every package there is.
func aptNames(ctx context.Context, a *exec.Attempt) ([]string, error) {
	said, err := a.AskTool(ctx, exec.NewTool("apt-cache", "pkgnames"))
	if err != nil {
		return nil, err
	}
	return strings.Fields(said.Stdout), nil
}

// carryOut has apt-get do what was predicted.
func (p *apt) carryOut(ctx context.Context, a *exec.Attempt, o order) (err error) {
	if p.args.PolicyRcD != nil {
		restore, err := tellServices(*p.args.PolicyRcD)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, restore()) }()
	}
	said, err := runManager(ctx, a, exec.Tool{Argv: p.buildCommand(o.buildCommand()...), Env: aptEnv}, p.args.LockTimeout)
	p.heard = &said
	if err != nil && said.Code != 0 && fault.Stopped(ctx) == "" {
		// dpkg was interrupted once, and refuses all else until that is settled.
		if strings.Contains(said.Stderr, "dpkg --configure -a") {
			return packageError("apt-get", said, "state: fixed does that")
		}
	}
	return err
}

// planCleaning returns what is deleted from the cache of downloaded packages, and with which words.
func (p *apt) planCleaning(ctx context.Context, a *exec.Attempt, t *transaction) ([]string, error) {
	var verbs []string
	if p.args.Clean {
		if n := len(filesOf([]string{"/var/cache/apt/archives/*.deb", "/var/cache/apt/archives/partial/*.deb"})); n > 0 {
			t.others, verbs = append(t.others, "delete "+countFiles(n)+" from the cache"), append(verbs, "clean")
		}
	}
	if p.args.AutoClean {
		said, err := a.AskTool(ctx, exec.NewTool("apt-get", "-s", "autoclean"))
		if err != nil {
			return nil, err
		}
		if n := len(regexp.MustCompile(`(?m)^Del `).FindAllString(said.Stdout, -1)); n > 0 {
			t.others, verbs = append(t.others, "delete "+countFiles(n)+" that are outdated from the cache"), append(verbs, "autoclean")
		}
	}
	return verbs, nil
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// debOrders are the calls for a .deb file. One that is at an address must be fetched to know what is in it.
func (p *apt) debOrders(ctx context.Context, a *exec.Attempt, is dpkgStatus) ([]order, error) {
	file := p.args.Deb
	if p.isRemote() {
		// Only the run fetches it, before it asks again; a dry run downloads nothing.
		if p.temp == "" {
			return nil, fault.Missing("", "what is at %s is known only once it is fetched", file)
		}
		file = p.file
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Cwd, file)
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fault.Missing(file, "%s", fault.Describe(err))
	}
	said, err := a.AskTool(ctx, exec.NewTool("dpkg-deb", "--show", "--showformat=${Package}\t${Version}\t${Architecture}", "--", file))
	if err != nil {
		return nil, err
	}
	fields := strings.Split(said.Stdout, "\t")
	if said.Code != 0 || len(fields) != 3 {
		return nil, fmt.Errorf("%s is not a Debian package:  %s", file, said.LastWords())
	}
	p.name = fields[0]
	if has := is.findPackage(aptName{name: fields[0], arch: fields[2]}); has != nil && has.isInstalled() && has.version != fields[1] &&
		!p.args.AllowDowngrade && !p.args.Force {
		// dpkg answers with its exit status: 0 means that what is installed is newer, which a step without allow_downgrade keeps.
		newer, err := a.AskTool(ctx, exec.NewTool("dpkg", "--compare-versions", has.version, "gt", fields[1]))
		if err != nil || newer.Code == 0 {
			return nil, err
		}
	} else if has != nil && has.isInstalled() && has.version == fields[1] {
		return nil, nil
	}
	return []order{{p.buildAuto("install"), []string{file}}}, nil
}
