package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/plugin"
	"moon/exec/remote"
	"moon/exec/spec"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/cli/modules"
	"moon/internal/cli/reference"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/saved"
)

// pluginFlags say which programs may carry out steps that moon cannot.
type pluginFlags struct {
	TrustPlugins bool `name:"trust" aliases:"trust-plugins" help:"Trust the programs that the playbook contains or names, this time only: plugins, inventory programs, and those that would run before approval."`
}

// find looks for the plugins of a playbook, which is in the directory, and for modules in others.
func (f *pluginFlags) find(call *app.Invocation, dir string, o *plan.Options) (*plugin.Registry, error) {
	// Links are resolved, as the planner resolves them: trust is by path.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	trust, err := app.Trusted()
	if err != nil {
		return nil, err
	}
	collections := append([]string{filepath.Join(dir, "collections")}, o.Collections...) // those of the playbook come first
	s := plugin.Search{
		Beside: dir, Modular: o.ModulePath, Roles: o.RolesPath, Core: o.Core, Collections: modules.In(collections, o.Core),
		Installed: app.InstalledDirs(o), Ansible: plugin.Configured{
			Library: o.PluginPaths.Library, Utils: o.PluginPaths.Utils, Callees: o.PluginPaths.Callees, Brought: o.PluginPaths.Brought,
		},
		Names: func(of *spec.Callee) ([]string, error) { return call.Python.Names(dir, of) },
		Dirs:  filepath.SplitList(os.Getenv("MOON_PLUGIN_PATH")), Path: filepath.SplitList(os.Getenv("PATH")),
		Trust: trust, TrustAll: f.TrustPlugins, Moon: build.Version, Asker: call.Asker,
	}
	if own := configDir(); own != "" {
		s.Own = filepath.Join(own, "plugins")
	}
	if o.Outside.TrustsFiles, err = app.TrustsFiles(o, f.TrustPlugins); err != nil {
		return nil, err
	}
	return plugin.Find(s), nil
}

// askPlugins has the plugins of a playbook asked that is in a directory, for a plan that was made of them.
func (f *pluginFlags) askPlugins(call *app.Invocation, root string, o plan.Options) error {
	if _, err := app.SearchAnsible(&o); err != nil {
		return err
	}
	found, err := f.find(call, root, &o)
	call.Session.Ask = app.Plugins{Of: &plan.Options{Plugins: found}, Dir: root, Moon: build.Version}.Asker(call)
	return err
}

// askTrust lets a person at a terminal decide which plugins may run.
func askTrust(call *app.Invocation, o plan.Options) {
	r, ok := o.Plugins.(*plugin.Registry)
	in, isFile := call.In.(*os.File)
	// Both ends must be a person's: an answer from a file is not a decision.
	if !ok || !isFile || !app.IsTerminal(in) || !app.IsTerminal(call.Err) {
		return
	}
	r.AskBy(func(path, shown, digest string) bool {
		fmt.Fprintf(call.Err, "The playbook wants to use a plugin that came with it: %s\n", termtext.CleanName(shown))
		fmt.Fprintf(call.Err, "It is a program, which can do all that you can. Its SHA-256 is %s.\nMay it run, now and whenever it is the same? [y/N] ", digest)
		line, _ := bufio.NewReader(in).ReadString('\n') // the end is a no
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes"
	})
}

// checkPlugins refuses a plan that was kept, with plugins beside it that nobody has trusted.
func (f *pluginFlags) checkPlugins(p *plan.Plan) error {
	if f.TrustPlugins {
		return nil
	}
	trust, err := app.Trusted()
	if err != nil {
		return err
	}
	for _, file := range broughtFiles(p) {
		if !trust.Has(file.Path, file.Digest) {
			return pluginRefusal(plugin.Untrusted(p.Shown(file.Path), file.Path))
		}
	}
	return nil
}

// broughtFiles are the files that came with the playbook and that run when its steps do.
func broughtFiles(p *plan.Plan) (list []plan.Input) {
	files := []spec.Member{}
	for _, g := range p.Plugins() {
		files = append(files, g.Files()...)
	}
	for _, c := range p.Basis.Called.Callees() {
		files = append(files, c.Files()...)
	}
	for _, file := range files {
		// What lies outside of the project was installed by the user, unless it is known to have come along.
		shown, err := filepath.Rel(p.Root, file.Path)
		if file.Brought || err == nil && !strings.HasPrefix(shown, "..") {
			list = append(list, plan.Input{Path: file.Path, Digest: file.Digest})
		}
	}
	return list
}

// refuseUntrusted refuses to run modules that came with the playbook, which planning only has read, before anything runs.
func refuseUntrusted(p *plan.Plan) error {
	refused := func(path string) error {
		return app.Usage("%s\n  hint: look at it; then moon trust on the playbook, or --trust this time only",
			firstLineOf(plugin.Untrusted(p.Shown(path), path).Error()))
	}
	for _, g := range p.Plugins() {
		if g.Untrusted {
			return refused(g.Path)
		}
	}
	if c := p.Basis.Called.Barred(); c != nil {
		return refused(c.Path)
	}
	return nil
}

// pluginRefusal says why there is nothing to be done with a plugin.
func pluginRefusal(err error) error {
	if e, ok := errors.AsType[*spec.PluginError](err); ok && e.Hint != "" {
		return app.Usage("%s\n  hint: %s", e.Text, e.Hint)
	}
	return app.Usage("%s", err)
}

type pluginCmd struct {
	List     pluginListCmd     `cmd:"" help:"List all capabilities of moon and its plugins, and where they come from."`
	Describe pluginDescribeCmd `cmd:"" help:"Describe one capability: its arguments, results and file."`
	Test     pluginTestCmd     `cmd:"" help:"Call a plugin directly, without a playbook."`
	Trust    pluginTrustCmd    `cmd:"" help:"Allow a plugin of a playbook to run, as long as it stays unchanged."`
}

// besideFlags say where plugins are looked for.
type besideFlags struct {
	Playbook    string `type:"path" placeholder:"FILE" help:"Search next to this playbook; default: in this directory."`
	pluginFlags `group:"plugins"`
}

func (f *besideFlags) route(call *app.Invocation) (*plugin.Router, error) {
	dir := filepath.Dir(f.Playbook)
	if f.Playbook == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, app.Usage("the working directory cannot be read: %s", err)
		}
	}
	o := plan.Options{Dir: dir}
	o.Home, _ = os.UserHomeDir() // without one, ~ stays as it is
	if _, err := app.SearchAnsible(&o); err != nil {
		return nil, err
	}
	r, err := f.find(call, dir, &o)
	if err != nil {
		return nil, err
	}
	return plugin.Route(r), nil
}

type pluginListCmd struct {
	besideFlags
	Kind    string `enum:",execute,inventory,facts,parse,connection,filter,lookup" default:"" placeholder:"KIND" help:"Only capabilities of this kind: execute, inventory, facts, parse, connection, filter or lookup."`
	Plugins bool   `help:"Only capabilities of plugins."`
}

// Help shows where plugins are looked for.
func (pluginListCmd) Help() string {
	return `Lists what moon and the plugins it finds can do: actions, inventories, facts, parsers, connections, filters and lookups.

  moon plugin list
  moon plugin list --playbook site.yml`
}

func (c *pluginListCmd) Run(call *app.Invocation) error {
	router, err := c.route(call)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	for _, p := range router.All() {
		// A plugin that cannot be used is listed, too, with the reason.
		if c.Kind != "" && p.Kind() != c.Kind || c.Plugins && p.Plugin == nil && p.Missing == nil {
			continue
		}
		words := reference.FirstSentence(p.Doc)
		if p.Missing != nil {
			words = "cannot be used: " + firstLineOf(p.Missing.Error())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", termtext.CleanName(p.Name), termtext.CleanName(p.Shown), termtext.CleanName(words))
	}
	return w.Flush()
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

type pluginDescribeCmd struct {
	besideFlags
	Name   string `arg:"" help:"A capability, such as execute.shell, or an action."`
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows what is described.
func (pluginDescribeCmd) Help() string {
	return `Prints the arguments and results of a capability, and the file it comes from.

  moon plugin describe execute.copy
  moon plugin describe dns_record --playbook site.yml`
}

func (c *pluginDescribeCmd) Run(call *app.Invocation) error {
	p, err := c.capability(call, c.Name)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(call.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(described(p))
	}
	fmt.Fprintf(call.Out, "%s\n\n", p.Name)
	if p.Doc != "" {
		fmt.Fprintf(call.Out, "%s\n\n", termtext.CleanName(p.Doc))
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "from\t%s\n", termtext.CleanName(p.Shown))
	if g := p.Plugin; g != nil {
		fmt.Fprintf(w, "plugin\t%s\n", termtext.CleanName(strings.TrimSpace(g.Name+" "+g.Version)))
		fmt.Fprintf(w, "spoken to\t%s\n", speeches[g.Speaks])
		if g.Path != "" {
			fmt.Fprintf(w, "file\t%s\nSHA-256\t%s\n", termtext.CleanName(g.Path), g.Digest)
		}
		where := g.Where
		// A plugin that does not say where it runs, runs on the host.
		if where == "" {
			where = spec.OnTarget
		}
		fmt.Fprintf(w, "runs on\tthe %s\n", where)
	}
	if p.Action != nil {
		fmt.Fprintf(w, "dry run\t%s\n", yesNo(p.Action.Check))
	}
	for _, glob := range p.Globs {
		fmt.Fprintf(w, "files\t%s\n", termtext.CleanName(glob))
	}
	if err := w.Flush(); err != nil || p.Action == nil {
		return err
	}
	return describeAction(call.Out, p.Action)
}

var speeches = map[spec.Speech]string{
	spec.SpeaksOnce: "a process for each call", spec.SpeaksLines: "one process for a run, JSON-RPC",
	spec.SpeaksFile: "a module as Ansible has them, arguments in a file", spec.SpeaksPython: "a module as Ansible has them, in Python",
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// described is a capability for programs.
func described(p *plugin.Capability) map[string]any {
	m := map[string]any{"name": p.Name, "doc": p.Doc, "from": p.Shown, "globs": p.Globs, "plugin": p.Plugin}
	if p.Action != nil {
		m["schema"] = p.Action.Schema()
	}
	return m
}

func describeAction(to io.Writer, a *spec.Action) error {
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	if fields := a.Fields(); len(fields) > 0 {
		fmt.Fprintf(w, "\nArguments:\n")
		reference.PrintFields(w, fields)
	} else if a.Open {
		fmt.Fprintf(w, "\nIt takes any arguments.\n")
	}
	if len(a.Returns) > 0 {
		fmt.Fprintf(w, "\nReturns:\n")
		for _, r := range a.Returns {
			fmt.Fprintf(w, "  %s\t%s\n", termtext.CleanName(r.Name), termtext.CleanName(r.Doc))
		}
	}
	return w.Flush()
}

// capability finds one that can be used.
func (f *besideFlags) capability(call *app.Invocation, name string) (*plugin.Capability, error) {
	router, err := f.route(call)
	if err != nil {
		return nil, err
	}
	p, err := router.Find(name)
	if err == nil {
		err = p.Missing
	}
	if err != nil {
		return nil, pluginRefusal(err)
	}
	return p, nil
}

type pluginTestCmd struct {
	besideFlags
	Name    string `arg:"" help:"A capability, such as execute.acme.cert, or an action."`
	Args    string `placeholder:"JSON" default:"{}" help:"Arguments, as a JSON object."`
	Check   bool   `short:"C" help:"Only show what would change."`
	Diff    bool   `short:"D" help:"Show diffs."`
	Verbose bool   `short:"v" help:"Show the requests to the plugin and its responses."`
}

// Help shows a call.
func (pluginTestCmd) Help() string {
	return `Calls the plugin as a step would, and prints the result.

  moon plugin test dns_record --playbook site.yml --args '{"name": "www"}' --check`
}

func (c *pluginTestCmd) Run(call *app.Invocation) error {
	p, err := c.capability(call, c.Name)
	if err != nil {
		return err
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
		return app.Usage("--args is not a JSON map: %s", err)
	}
	// JSON has floats only, and an argument that must be a whole number refuses one.
	args, _ = saved.WholeNumbers(args).(map[string]any)
	dir, err := os.Getwd()
	if err != nil {
		return app.Usage("the working directory cannot be read: %s", err)
	}
	host := &plugin.Host{Moon: build.Version, Cwd: dir, Asker: call.Asker}
	defer host.Close()
	if c.Verbose {
		host.Heard = func(what string, text []byte) {
			fmt.Fprintf(call.Err, "%-8s %s\n", what, strings.TrimSpace(string(text)))
		}
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	// Only actions have a step that could be tried.
	if p.Kind() != plugin.Execute {
		return c.ask(ctx, call, host, p, args)
	}
	typed, problems := p.Action.Decode(args)
	if len(problems) > 0 {
		var lines []string
		for _, problem := range problems {
			lines = append(lines, problem.String())
		}
		return app.Usage("--args: %s", strings.Join(lines, "\n"))
	}
	job := &exec.Job{
		Action: p.Action.Name, Args: typed, Raw: args, Cwd: dir, Diff: c.Diff || c.Check,
		Output:  steplog.NewRelay(func(_ bool, text []byte) error { _, err := call.Err.Write(text); return err }),
		Details: &exec.StepDetails{Name: p.Action.Name, Host: "localhost", File: "moon plugin test", Line: 1, Column: 1},
	}
	// No hosts and no other users: a test never leaves this machine.
	pool := &remote.Pool{Local: exec.Local{Plugin: host.Run}, Build: build.Stamp()}
	defer pool.Close()
	var r exec.Result
	if c.Check {
		r = pool.Dry(nil).Run(ctx, job)
	} else {
		r = pool.Run(ctx, job)
	}
	if err := printTested(call.Out, r); err != nil {
		return err
	}
	if events.OnFailure.Has(r.Outcome) || r.Outcome == events.Cancelled {
		return app.NewExit(app.ExitFailed, "")
	}
	return nil
}

// ask makes a call of another kind, whose arguments are the parameters.
func (c *pluginTestCmd) ask(ctx context.Context, call *app.Invocation, host *plugin.Host, p *plugin.Capability, args map[string]any) error {
	if p.Plugin == nil {
		return app.Usage("`%s` is moon's own; there is nothing to test", p.Name)
	}
	answer, err := host.Try(ctx, p, args)
	if err != nil {
		return app.NewExit(app.ExitFailed, err.Error())
	}
	return printJSON(call.Out, answer)
}

// printTested prints how a test ended.
func printTested(w io.Writer, r exec.Result) error {
	m := map[string]any{"outcome": r.Outcome}
	for name, v := range map[string]string{"error": r.Error, "reason": string(r.Reason), "detail": r.Detail, "message": r.Message} {
		if v != "" {
			m[name] = v
		}
	}
	if len(r.Fields) > 0 {
		m["result"] = r.Fields
	}
	if r.Diff != nil {
		m["diff"] = r.Diff
	}
	if len(r.Warnings) > 0 {
		m["warnings"] = r.Warnings
	}
	return printJSON(w, m)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

type pluginTrustCmd struct {
	Files []string `arg:"" type:"path" help:"Plugins of a playbook."`
}

// Help says what trust is about.
func (pluginTrustCmd) Help() string {
	return `moon remembers the path and the SHA-256 of each file. If you edit the file, moon asks again; files that a plugin imports are not covered.
Read a plugin before you trust it: it runs as your user.

  moon plugin trust plugins/dns_record`
}

func (c *pluginTrustCmd) Run(call *app.Invocation) error {
	trust, err := app.Trusted()
	if err != nil {
		return err
	}
	for _, file := range c.Files {
		path, digest, err := trust.TrustFile(file)
		if err != nil {
			return app.Usage("%s", err)
		}
		fmt.Fprintf(call.Out, "trusted  %s  %s\n", digest[:12], termtext.CleanName(path))
	}
	return nil
}
