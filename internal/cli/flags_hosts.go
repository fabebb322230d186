package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/cli/targets"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/plain"
)

// hostFlags are the flags of commands that plan, as far as they are about plays and their hosts. They are spelled as scripts that
// call ansible-playbook spell them.
type hostFlags struct {
	Inventory     []string `short:"i" sep:"none" env:"MOON_INVENTORY,ANSIBLE_INVENTORY" placeholder:"FILE" help:"Inventory: a file, a directory, a program that prints it, or host names with a comma (web1,web2,); may be given several times."`
	Limit         string   `short:"l" env:"-" placeholder:"PATTERN" help:"Only run on these hosts."`
	NoConnect     bool     `help:"Plan without connecting: facts of other machines stay unknown until the run."`
	NoProbe       bool     `help:"Ask no step while planning: what stat, find, slurp and getent find stays unknown until the run."`
	Probe         bool     `help:"Also run commands with check_mode: false and changed_when: false while planning."`
	ForceHandlers bool     `help:"Also run notified handlers on hosts that have failed."`
	User          string   `short:"u" env:"-" aliases:"remote-user" placeholder:"NAME" help:"Default SSH user."`
	PrivateKey    string   `aliases:"key-file" env:"-" type:"path" placeholder:"FILE" help:"SSH private key."`
	Connection    string   `short:"c" env:"-" placeholder:"ssh|local" help:"Default connection type."`
	Become        bool     `short:"b" env:"-" help:"Become another user by default."`
	BecomeUser    string   `env:"-" placeholder:"NAME" help:"User to become (default root)."`
	BecomeMethod  string   `env:"-" placeholder:"sudo|su|doas" help:"Privilege escalation method."`
	SSHCommonArgs sshArgs  `name:"ssh-common-args" env:"-" placeholder:"ARGS" help:"Extra ssh arguments."`
	ModulePath    []string `short:"M" env:"-" placeholder:"DIR" help:"Additional module directories; may be given several times."`

	AskPass    bool `short:"k" env:"-" hidden:""`
	FlushCache bool `env:"-" help:"Clear the facts that are kept of the hosts (fact_caching)."`

	ask        func([]plan.Prompt) (map[string]string, error) // what vars_prompt wants to know; nil: line by line
	answered   map[string]string                              // what was answered before
	unanswered error                                          // why there are no answers
}

// sshArgs are arguments of ssh: they begin with a dash, which is no flag of moon's.
type sshArgs string

// Decode takes the next word, whatever it looks like.
func (a *sshArgs) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().IsEOL() {
		return errors.New("missing value, as in '-o ProxyJump=bastion'")
	}
	text, _ := ctx.Scan.Pop().Value.(string)
	*a = sshArgs(text)
	return nil
}

// hosts gives the planner what the flags say. Paths start in dir.
func (f *hostFlags) hosts(o *plan.Options, dir string) error {
	if f.AskPass {
		return app.Usage("--ask-pass: moon never types the password of a login; use a key (--private-key FILE), ssh-agent, or a connection that is open already (ControlMaster in ~/.ssh/config)")
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	for _, source := range f.Inventory {
		if source == "" { // of a variable of the environment that was emptied
			continue
		}
		o.Hosts.Inventory = append(o.Hosts.Inventory, app.InventorySource(source, dir))
	}
	// As in PATH, several directories may stand in one value.
	for _, path := range f.ModulePath {
		for one := range strings.SplitSeq(path, string(filepath.ListSeparator)) {
			if !filepath.IsAbs(one) {
				one = filepath.Join(dir, one)
			}
			o.ModulePath = append(o.ModulePath, one)
		}
	}
	o.Hosts.Limit, o.Mode.ForceHandlers, o.Hosts.NoConnect = f.Limit, f.ForceHandlers, f.NoConnect
	o.Hosts.NoProbe, o.Hosts.Commands = f.NoProbe, f.Probe && !f.NoProbe
	o.Login.User, o.Login.PrivateKey, o.Login.Connection = f.User, f.PrivateKey, f.Connection
	o.Login.Become, o.Login.BecomeUser, o.Login.BecomeMethod = f.Become, f.BecomeUser, f.BecomeMethod
	o.Login.SSHArgs = string(f.SSHCommonArgs)
	return nil
}

// checkHosts refuses words that nothing is known by.
func (f *hostFlags) checkHosts() error {
	connections, methods := []string{"", "ssh", "local", "smart"}, []string{"", "sudo", "su", "doas"}
	switch {
	case !slices.Contains(connections, f.Connection):
		return app.Usage("--connection must be ssh or local; this is %q", f.Connection)
	case !slices.Contains(methods, f.BecomeMethod):
		return app.Usage("--become-method must be sudo, su or doas; this is %q", f.BecomeMethod)
	}
	return nil
}

// forPlays refuses flags that say nothing about a playbook of steps.
func (f *planFlags) forPlays(p *plan.Plan) error {
	if p == nil || p.Dialect.Rules().OverHosts {
		return nil
	}
	flag := f.ofPlays(p)
	switch flag {
	case "":
		return nil
	case "--become", "--become-user", "--become-method":
		return app.Usage("%s is about plays over hosts, and %s is a playbook of steps: write `become: true` on its steps, or on a block around them", flag, termtext.CleanName(p.RootFile))
	}
	return app.Usage("%s is about plays over hosts, and %s is a playbook of steps, which run on this machine; write `hosts:` or `delegate_to:` on steps to run them on others", flag, termtext.CleanName(p.RootFile))
}

// overrideHosts puts flags that are given in the place of those a run had.
func (f *hostFlags) overrideHosts(o *plan.Options, dir string) error {
	var given plan.Options
	if err := f.hosts(&given, dir); err != nil {
		return err
	}
	if len(given.Hosts.Inventory) > 0 {
		o.Hosts.Inventory = given.Hosts.Inventory
	}
	if len(given.ModulePath) > 0 {
		o.ModulePath = given.ModulePath
	}
	for _, g := range []struct{ to, given *string }{
		{&o.Hosts.Limit, &given.Hosts.Limit},
		{&o.Login.User, &given.Login.User},
		{&o.Login.PrivateKey, &given.Login.PrivateKey},
		{&o.Login.Connection, &given.Login.Connection},
		{&o.Login.BecomeUser, &given.Login.BecomeUser},
		{&o.Login.BecomeMethod, &given.Login.BecomeMethod},
		{&o.Login.SSHArgs, &given.Login.SSHArgs},
	} {
		if *g.given != "" {
			*g.to = *g.given
		}
	}
	o.Mode.ForceHandlers, o.Hosts.NoConnect, o.Login.Become = o.Mode.ForceHandlers || given.Mode.ForceHandlers, o.Hosts.NoConnect ||
		given.Hosts.NoConnect, o.Login.Become ||
		given.Login.Become
	o.Hosts.NoProbe, o.Hosts.Commands = o.Hosts.NoProbe || given.Hosts.NoProbe, o.Hosts.Commands || given.Hosts.Commands
	return nil
}

// listFlags print what a run would be about, as ansible-playbook prints it, instead of running.
type listFlags struct {
	List        bool `env:"-" help:"List what can be named behind the playbook: steps, blocks and tags; run nothing."`
	ListHosts   bool `env:"-" help:"List the hosts of the plays; run nothing."`
	ListTasks   bool `env:"-" help:"List the tasks of the plays; run nothing."`
	ListTags    bool `env:"-" help:"List the tags of the plays; run nothing."`
	SyntaxCheck bool `env:"-" help:"Check for errors; run nothing."`
}

func (f *listFlags) asked() bool {
	return f.List || f.ListHosts || f.ListTasks || f.ListTags || f.SyntaxCheck
}

// list prints what was asked for. A plan that can be made has no mistakes, so there is nothing more to check.
func (f *listFlags) list(w io.Writer, p *plan.Plan, playbook string) error {
	if f.List {
		return targets.Write(w, p, cmp.Or(playbook, p.RootFile))
	}
	plays := slices.ContainsFunc(p.Scopes, func(s plan.Scope) bool { return s.Kind == plan.ScopePlay })
	if !plays && (f.ListHosts || f.ListTasks || f.ListTags) {
		return app.Usage("--list-hosts, --list-tasks and --list-tags are about plays; moon plan --flat lists the steps")
	}
	fmt.Fprintf(w, "\nplaybook: %s\n", termtext.CleanName(cmp.Or(playbook, p.RootFile))) // as given
	number := 0
	for i := range p.Scopes {
		if p.Scopes[i].Kind == plan.ScopePlay {
			number++
			f.listPlay(w, p, &p.Scopes[i], number)
		}
	}
	return nil
}

func (f *listFlags) listPlay(w io.Writer, p *plan.Plan, play *plan.Scope, number int) {
	if !f.ListHosts && !f.ListTasks && !f.ListTags {
		return
	}
	fmt.Fprintf(w, "\n  play #%d (%s): %s\tTAGS: [%s]\n", number, termtext.CleanName(play.Play.Pattern), termtext.CleanName(play.Name),
		listed(play.Play.Tags))
	if f.ListHosts {
		fmt.Fprintf(w, "    pattern: ['%s']\n    hosts (%d):\n", termtext.CleanName(play.Play.Pattern), len(play.Play.Hosts))
		for _, h := range play.Play.Hosts {
			fmt.Fprintf(w, "      %s\n", termtext.CleanName(h))
		}
	}
	if f.ListTasks {
		fmt.Fprintln(w, "    tasks:")
	}
	var all []string
	seen := map[string]bool{}
	for i := play.First; i < play.Last; i++ {
		s := &p.Steps[i]
		// A task has a step for each host and item, and one that is included twice is listed twice.
		task := fmt.Sprint(s.Origin, s.Role, strings.Join(s.Origin.Chain, ","))
		if s.Handler || s.Excluded || s.Action == "setup" && s.Origin.String() == play.Origin.String() || seen[task] {
			continue
		}
		seen[task] = true
		all = append(all, s.Tags...)
		if f.ListTasks {
			fmt.Fprintf(w, "      %s\tTAGS: [%s]\n", termtext.CleanName(plain.ListedTask(s)), listed(s.Tags))
		}
	}
	if f.ListTags {
		fmt.Fprintf(w, "      TASK TAGS: [%s]\n", listed(all))
	}
}

// listed are tags, each once, by name.
func listed(tags []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(tags)))
	for i := range sorted {
		sorted[i] = termtext.CleanName(sorted[i])
	}
	return strings.Join(sorted, ", ")
}

// connecting lets the planner ask hosts, programs and people.
func (f *hostFlags) connecting(o *plan.Options, set app.AnsibleSettings, call *app.Invocation, pf *pluginFlags, approved bool) error {
	t, err := call.Truster(pf.TrustPlugins || approved)
	if err != nil {
		return err
	}
	if err := set.Apply(o); err != nil {
		return err
	}
	call.Steers(o)
	f.reachable(o, call, t)
	if b, brought := call.Brought["inventory"]; brought {
		o.Outside.RunInventory = app.OnlyTrusted(o.Outside.RunInventory, t, b.Shown)
	}
	if len(o.Hosts.Inventory) == 0 && len(set.Inventory) > 0 {
		if o.Hosts.Inventory, err = set.InventoryPaths(); err != nil {
			return err
		}
		if named := set.Supplied(); named != "" {
			o.Outside.RunInventory = app.OnlyTrusted(o.Outside.RunInventory, t, named)
		}
	}
	return nil
}

// reachable says whom the planner may ask: hosts, programs and people.
func (f *hostFlags) reachable(o *plan.Options, call *app.Invocation, t *app.Truster) {
	o.Trusts = t.Trusts
	ask := f.ask
	if ask == nil {
		ask = call.AskPrompts
	}
	o.Outside.Gather, o.Outside.Probe, o.Values.Answers = call.Hosts.Gather, call.Hosts.Probe, f.answered
	o.Outside.Ask = func(list []plan.Prompt) (answers map[string]string, err error) {
		// Remembered as well, because the planner reports only that it lacks a value.
		answers, f.unanswered = ask(list)
		return answers, f.unanswered
	}
	call.KeepFacts(o, f.FlushCache)
	call.Session.Ask = app.Plugins{Of: o, Moon: build.Version}.Asker(call)
	o.Outside.RunInventory = func(path string, args ...string) ([]byte, error) {
		return call.Session.Ask(context.Background(), path, args...)
	}
}
