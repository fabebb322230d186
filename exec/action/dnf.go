package action

import (
	"context"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("dnf", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planDnf(ctx, a, a.Args.(*spec.DnfArgs))
}, Supplies: func(a any) string {
	return exec.QuoteGiven("conf_file",
		a.(*spec.DnfArgs).ConfFile)
}}) // which may name a directory of plugins

// dnf has dnf, or yum, show its transaction and take no for the answer (--assumeno), and then says yes. What is there
// already is asked of rpm, which is quicker and needs no lists.
type dnf struct{ args *spec.DnfArgs }

func (*dnf) listPatterns() []string {
	return []string{"/var/cache/dnf/*/repodata/repomd.xml", "/var/cache/libdnf5/*/repodata/repomd.xml", "/var/cache/yum/*/*/*/repomd.xml"}
}

func (d *dnf) needsRefresh() bool { return d.args.UpdateCache }

func (d *dnf) refreshLists(ctx context.Context, a *exec.Attempt) error {
	_, err := runManager(ctx, a, exec.NewTool(d.buildCommand(a, "-y", "makecache", "--refresh")...), 0)
	return err
}

func (d *dnf) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	args := d.args
	t := &transaction{idle: len(args.Name) == 0 && !args.AutoRemove}
	is, err := rpmVersions(ctx, a)
	if err != nil {
		return nil, err
	}
	all := slices.Contains(args.Name, "*")
	var words []string
	switch {
	case all:
		words = d.buildUpgrade("upgrade")
	case args.State == "absent":
		words = append([]string{"remove"}, args.Name...)
		if args.AutoRemove {
			words[0] = "autoremove"
		}
	case args.State == "latest":
		there, lacking, err := d.splitNames(ctx, a)
		if err != nil {
			return nil, err
		}
		if args.UpdateOnly {
			lacking = nil
		}
		// An installation also takes what is there to its newest version, but for some names it does not: globs.
		if len(lacking) > 0 {
			words = append([]string{"install"}, append(lacking, there...)...)
		} else if len(there) > 0 {
			words = d.buildUpgrade(append([]string{"upgrade"}, there...)...)
		}
	case len(args.Name) > 0:
		_, lacking, err := d.splitNames(ctx, a)
		if err != nil {
			return nil, err
		}
		if len(lacking) > 0 {
			words = append([]string{"install"}, lacking...)
		}
	}
	if len(words) == 0 && args.AutoRemove {
		words = []string{"autoremove"}
	}
	if len(words) == 0 {
		return t, nil
	}
	// --assumeno prints the table and then ends with 1, as if a person had said no: the status alone means nothing.
	said, err := a.AskTool(ctx, exec.NewTool(d.buildCommand(a, append([]string{"--assumeno"}, words...)...)...))
	if err != nil {
		return nil, err
	}
	t.changes = readDnf(said.Stdout, is)
	if m := dnfUnknown.FindStringSubmatch(said.Stdout + said.Stderr); m != nil && args.State != "absent" && !args.SkipBroken && !all {
		return nil, fault.Missing("", "there is no package %s; update_cache: true fetches newer lists", strings.TrimSpace(m[1]+m[2]))
	}
	if said.Code != 0 && len(t.changes) == 0 && !dnfNothing.MatchString(said.Stdout+said.Stderr) {
		return nil, packageError(d.commandName(a), said, "")
	}
	for i := range t.changes {
		t.changes[i].asked = !all && d.asksFor(t.changes[i].name)
	}
	// Nothing is installed, so there is nothing to remove later: that packages come is said in words.
	if args.DownloadOnly && len(t.changes) > 0 {
		var names []string
		for _, change := range t.changes {
			names = append(names, change.name)
		}
		t.changes, t.others = nil, []string{"download " + strings.Join(names, ", ")}
	}
	t.do = func(ctx context.Context) error {
		_, err := runManager(ctx, a, exec.NewTool(d.buildCommand(a, append([]string{"-y"}, words...)...)...), 0)
		return err
	}
	return t, nil
}

var (
	dnfUnknown = pattern.New(`(?m)^(?:No match for argument: (.+)|No package (.+) available\.?)$`)
	dnfNothing = pattern.New(`(?m)Nothing to do|No packages? marked for`)
)

// asksFor reports whether a package is one that the step names: itself, with a version or by a pattern.
func (d *dnf) asksFor(name string) bool {
	return slices.ContainsFunc(d.args.Name, func(asked string) bool {
		return asked == name || strings.HasPrefix(asked, name+"-") || strings.HasPrefix(asked, name+".") ||
			strings.HasPrefix(asked, name+" ") || versionMatches(asked, name)
	})
}

// splitNames asks rpm which of the names something that is installed goes by. Groups, files and patterns are dnf's.
func (d *dnf) splitNames(ctx context.Context, a *exec.Attempt) (there, lacking []string, err error) {
	for _, name := range d.args.Name {
		if strings.HasPrefix(name, "@") || strings.Contains(name, "://") || strings.HasSuffix(name, ".rpm") {
			lacking = append(lacking, name)
			continue
		}
		question := []string{"rpm", "-q", "--whatprovides", "--", name}
		if strings.ContainsAny(name, "*?[") {
			question = []string{"rpm", "-qa", "--", name}
		}
		said, err := a.AskTool(ctx, exec.NewTool(question...))
		if err != nil {
			return nil, nil, err
		}
		if said.Code != 0 && len(question) == 5 { // a name with a version is none that anything provides
			if said, err = a.AskTool(ctx, exec.NewTool("rpm", "-q", "--", name)); err != nil {
				return nil, nil, err
			}
		}
		if said.Code == 0 && strings.TrimSpace(said.Stdout) != "" {
			there = append(there, name)
		} else {
			lacking = append(lacking, name)
		}
	}
	return there, lacking, nil
}

func (d *dnf) buildUpgrade(words ...string) []string {
	if d.args.Security {
		words = append([]string{"--security"}, words...)
	}
	if d.args.Bugfix {
		words = append([]string{"--bugfix"}, words...)
	}
	return words
}

func (d *dnf) commandName(a *exec.Attempt) string {
	switch {
	case d.args.Backend != "auto":
		return d.args.Backend
	case a.Installed("dnf") || !a.Installed("yum"):
		return "dnf"
	}
	return "yum"
}

func (d *dnf) buildCommand(a *exec.Attempt, words ...string) []string {
	args := d.args
	without, with := "--disableplugin", "--enableplugin"
	if d.commandName(a) == "dnf5" { // which has renamed them
		without, with = "--disable-plugin", "--enable-plugin"
	}
	argv := slices.Concat([]string{d.commandName(a)}, optionsOf("--disablerepo", args.DisableRepo),
		optionsOf("--enablerepo", args.EnableRepo), optionsOf("--exclude", args.Exclude),
		optionsOf(without, args.DisablePlug), optionsOf(with, args.EnablePlug))
	if args.ReleaseVer != "" {
		argv = append(argv, "--releasever="+args.ReleaseVer)
	}
	if args.ConfFile != "" {
		argv = append(argv, "--config="+args.ConfFile)
	}
	argv = append(argv, d.fetchOptions(a)...)
	if args.WeakDeps != nil {
		argv = append(argv, "--setopt=install_weak_deps="+map[bool]string{true: "True", false: "False"}[*args.WeakDeps])
	}
	for _, o := range []struct {
		on     bool
		option string
	}{
		{args.NoGPGCheck, "--nogpgcheck"}, {args.Erasing, "--allowerasing"}, {args.NoBest, "--nobest"}, {args.SkipBroken, "--skip-broken"},
	} {
		if o.on {
			argv = append(argv, o.option)
		}
	}
	return append(argv, words...)
}

// fetchOptions are the options about what is fetched, and where to.
func (d *dnf) fetchOptions(a *exec.Attempt) (argv []string) {
	five := d.commandName(a) == "dnf5"
	if d.args.CacheOnly {
		argv = append(argv, "--cacheonly")
	}
	switch {
	case d.args.DisableExcludes == "":
	case five:
		argv = append(argv, "--setopt=disable_excludes="+d.args.DisableExcludes)
	default:
		argv = append(argv, "--disableexcludes="+d.args.DisableExcludes)
	}
	if d.args.DownloadOnly {
		argv = append(argv, "--downloadonly")
	}
	switch {
	case d.args.DownloadDir == "" || !d.args.DownloadOnly:
	case five:
		argv = append(argv, "--setopt=destdir="+d.args.DownloadDir)
	default:
		argv = append(argv, "--downloaddir="+d.args.DownloadDir)
	}
	if !d.args.SSLVerify {
		argv = append(argv, "--setopt=sslverify=False")
	}
	return argv
}

// optionsOf are the values of an option, each with the option.
func optionsOf(option string, values []string) []string {
	var words []string
	for _, v := range values {
		words = append(words, option+"="+v)
	}
	return words
}

// rpmVersions is what is installed, by name and architecture.
func rpmVersions(ctx context.Context, a *exec.Attempt) (map[string]string, error) {
	said, err := a.AskTool(ctx, exec.NewTool("rpm", "-qa", "--qf", `%{NAME}.%{ARCH} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`))
	if err != nil {
		return nil, err
	}
	if said.Code != 0 {
		return nil, packageError("rpm", said, "")
	}
	is := map[string]string{}
	for line := range strings.Lines(said.Stdout) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		is[name] = version
	}
	return is, nil
}

// readDnf reads the table of a transaction. A package begins a line with one space; where its columns do not fit it goes
// on in lines that begin with more.
func readDnf(text string, is map[string]string) []packageChange {
	var changes []packageChange
	section := ""
	var words []string
	end := func() {
		if c, ok := dnfChange(section, words, is); ok {
			changes = append(changes, c)
		}
		words = nil
	}
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "  "):
			if len(words) > 0 && len(words) < 3 {
				words = append(words, strings.Fields(line)...)
			}
			continue
		case strings.HasPrefix(line, " "):
			end()
			words = strings.Fields(line)
			continue
		}
		end()
		section = strings.TrimSpace(line)
		if strings.HasPrefix(section, "Transaction Summary") {
			break
		}
	}
	return changes
}

// dnfChange is a line of the table, with what the section above it does to packages.
func dnfChange(section string, words []string, is map[string]string) (c packageChange, ok bool) {
	verb, _, _ := strings.Cut(section, " ")
	if !strings.HasSuffix(section, ":") || len(words) < 3 {
		return c, false
	}
	c = packageChange{name: words[0], to: words[2], from: is[words[0]+"."+words[1]]}
	switch strings.TrimSuffix(verb, ":") {
	case "Installing":
		c.from = ""
	case "Removing":
		c.from, c.to = words[2], ""
	case "Downgrading":
		c.down = true
	case "Upgrading", "Updating", "Reinstalling":
	default:
		return c, false // what is skipped, and why
	}
	return c, true
}
