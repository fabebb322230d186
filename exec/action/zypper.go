package action

import (
	"context"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("zypper", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planPackages(ctx, a, &zypper{a.Args.(*spec.ZypperArgs)})
}, Supplies: func(a any) string { return exec.QuoteGiven("extra_args", a.(*spec.ZypperArgs).ExtraArgs) }})

// zypper has zypper say what it would do (--dry-run), as XML, and then do it.
type zypper struct{ args *spec.ZypperArgs }

// The exit statuses of zypper that are no errors: something is to be started again, and something was not found.
const (
	zypperReboot   = 102
	zypperRestart  = 103
	zypperNotFound = 104
)

func (*zypper) listPatterns() []string { return []string{"/var/cache/zypp/raw/*/repodata/repomd.xml"} }

func (z *zypper) needsRefresh() bool { return z.args.UpdateCache }

func (z *zypper) refreshLists(ctx context.Context, a *exec.Attempt) error {
	_, err := runManager(ctx, a, z.buildCommand(false, "refresh"), z.args.LockTimeout)
	return err
}

func (z *zypper) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	args := z.args
	t := &transaction{idle: len(args.Name) == 0}
	names, err := z.selectNames(ctx, a)
	if err != nil || len(names) == 0 {
		return t, err
	}
	all := slices.Contains(names, "*")
	verb := "install"
	options := []string{"--dry-run"}
	switch {
	case args.State == "dist-upgrade":
		verb, names = "dist-upgrade", nil
	case all:
		verb, names = "update", nil
	case args.State == "absent":
		verb = "remove"
	}
	options = append(options, z.optionsFor(verb)...)
	if len(names) > 0 {
		options = append(append(options, "--"), names...)
	}
	said, err := a.AskTool(ctx, z.buildCommand(true, append([]string{verb}, options...)...))
	if err != nil {
		return nil, err
	}
	stream, bad := readZypper(said.Stdout)
	if m := zypperUnknown.FindStringSubmatch(stream.joinErrors()); m != nil && verb == "install" {
		// zypper reports names that it does not know among its errors, not by the code alone.
		return nil, fault.Missing("", "there is no %s %s; update_cache: true fetches newer lists", args.Type, m[1])
	}
	if bad != nil || said.Code != 0 && !slices.Contains([]int{zypperReboot, zypperRestart, zypperNotFound}, said.Code) {
		if text := stream.joinErrors(); text != "" {
			said.Stderr = "error: " + text
		}
		return nil, packageError("zypper", said, "")
	}
	t.changes = stream.listChanges()
	for i := range t.changes {
		t.changes[i].asked = z.asksFor(t.changes[i].name)
	}
	t.do = func(ctx context.Context) error {
		// The command that was simulated, less --dry-run.
		_, err := runManager(ctx, a, z.buildCommand(false, append([]string{verb}, options[1:]...)...), args.LockTimeout, zypperReboot,
			zypperRestart)
		return err
	}
	return t, nil
}

var zypperUnknown = pattern.New(`No provider of '([^']+)' found`)

func (z *zypper) asksFor(name string) bool {
	return slices.ContainsFunc(z.args.Name, func(asked string) bool {
		if i := strings.IndexAny(asked, "<>="); i >= 0 {
			asked = asked[:i]
		}
		return asked != "*" && versionMatches(strings.TrimSpace(asked[strings.LastIndexByte(asked, ':')+1:]), name)
	})
}

// selectNames returns the names that zypper must be asked about. What rpm finds installed is as it shall be, unless the newest is
// wanted or it is no package.
func (z *zypper) selectNames(ctx context.Context, a *exec.Attempt) ([]string, error) {
	args := z.args
	if args.Type != "package" || args.State == "latest" || args.State == "dist-upgrade" || args.Force {
		return args.Name, nil
	}
	var names []string
	for _, name := range args.Name {
		// Patterns, versions and repositories are zypper's to interpret.
		if strings.ContainsAny(name, "*?<>=:/+[") {
			names = append(names, name)
			continue
		}
		said, err := a.AskTool(ctx, exec.NewTool("rpm", "-q", "--whatprovides", "--", name))
		if err != nil {
			return nil, err
		}
		if (said.Code == 0) == (args.State == "absent") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (z *zypper) optionsFor(verb string) []string {
	args := z.args
	var options []string
	for _, o := range []struct {
		on     bool
		verbs  string
		option string
	}{
		{true, "install update dist-upgrade", "--auto-agree-with-licenses"},
		{args.DisableRecommends, "install update dist-upgrade", "--no-recommends"},
		{args.Force, "install", "--force"},
		{args.ForceResolution, "install update remove", "--force-resolution"},
		{args.OldPackage, "install", "--oldpackage"},
		{args.ReplaceFiles, "install update dist-upgrade", "--replacefiles"},
		{args.VendorChange, "dist-upgrade", "--allow-vendor-change"},
		{args.CleanDeps, "remove", "--clean-deps"},
	} {
		if o.on && slices.Contains(strings.Fields(o.verbs), verb) {
			options = append(options, o.option)
		}
	}
	if args.Type != "package" && (verb == "install" || verb == "remove") {
		options = append(options, "--type="+args.Type)
	}
	return append(options, args.Extra...)
}

func (z *zypper) buildCommand(asXML bool, words ...string) exec.Tool {
	argv := []string{"zypper", "--non-interactive"}
	if asXML {
		argv = append(argv, "--xmlout")
	}
	if z.args.DisableGPGCheck {
		argv = append(argv, "--no-gpg-checks")
	}
	if z.args.AutoImportKeys {
		argv = append(argv, "--gpg-auto-import-keys")
	}
	return exec.Tool{
		Argv: append(argv, words...),
		// libzypp itself waits that long for its lock.
		Env: map[string]string{"ZYPP_LOCK_TIMEOUT": strconv.Itoa(int(z.args.LockTimeout.Seconds()))},
	}
}

// zypperStream is what zypper says as XML.
type zypperStream struct {
	Messages []struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	} `xml:"message"`
	Summary struct {
		Groups []zypperGroup `xml:",any"`
	} `xml:"install-summary"`
}

// zypperGroup is what is done to some packages: to-install, to-upgrade and so on.
type zypperGroup struct {
	XMLName   xml.Name
	Solvables []struct {
		Name string `xml:"name,attr"`
		Now  string `xml:"edition,attr"`
		Old  string `xml:"edition-old,attr"`
	} `xml:"solvable"`
}

func readZypper(text string) (*zypperStream, error) {
	s := &zypperStream{}
	return s, xml.Unmarshal([]byte(text), s)
}

func (s *zypperStream) joinErrors() string {
	var all []string
	for _, m := range s.Messages {
		if m.Type == "error" {
			all = append(all, strings.TrimSpace(m.Text))
		}
	}
	return strings.Join(all, "; ")
}

func (s *zypperStream) listChanges() []packageChange {
	var changes []packageChange
	for _, g := range s.Summary.Groups {
		for _, p := range g.Solvables {
			c := packageChange{name: p.Name, from: p.Old, to: p.Now}
			switch g.XMLName.Local {
			case "to-remove":
				c.from, c.to = p.Now, ""
			case "to-downgrade":
				c.down = true
			case "to-reinstall":
				c.from = p.Now
			}
			changes = append(changes, c)
		}
	}
	return changes
}
