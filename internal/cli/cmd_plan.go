package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"strings"

	"moon/events"
	"moon/plan/selector"

	"github.com/alecthomas/kong"

	"moon/engine"
	"moon/engine/exact"
	"moon/engine/graph"
	"moon/events/fact"
	"moon/exec/action"
	"moon/exec/facts"
	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/called"
	"moon/plan/prior"
	"moon/plan/show"
	"moon/plan/source"
)

// playbookFlags are the flags of every command that plans.
type playbookFlags struct {
	Playbook string `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml, - reads standard input."`
	planFlags
}

// planFlags are the flags that a plan depends on.
type planFlags struct {
	ExtraVars    []string `group:"variables" short:"e" sep:"none" placeholder:"K=V" help:"Variables: name=value, a JSON object, or @file. Highest precedence."`
	VarsFile     []string `group:"variables" aliases:"vars" sep:"none" placeholder:"FILE" help:"File of variables; may be given several times."`
	Tags         []string `group:"steps" short:"t" help:"Run only steps with one of these tags."`
	SkipTags     []string `group:"steps" help:"Skip steps with one of these tags."`
	Only         []string `group:"steps" sep:"none" placeholder:"STEP" help:"Run only these steps: an id, a path or a name (* matches any text), or file:line."`
	Skip         []string `group:"steps" sep:"none" placeholder:"STEP" help:"Skip these steps."`
	Orphans      string   `group:"steps" enum:",keep,remove,forget" default:"" placeholder:"HOW" help:"What becomes of what earlier runs have made and no step gives any more: keep (default) shows it, remove takes it away before the steps, forget drops it from what is recorded."`
	Replace      []string `group:"steps" sep:"none" placeholder:"STEP" help:"Remove what this step has made, and make it again: a path, a title, the name of a thing or file:line."`
	Edited       bool     `group:"steps" help:"With --orphans remove and moon destroy: also remove what was edited since."`
	StartAt      *string  `group:"steps" aliases:"start-at-task" placeholder:"STEP" help:"Skip the steps before this one."`
	MaxSteps     int      `default:"1000000" help:"Refuse a plan with more steps than this."`
	MaxExpansion int      `default:"10000" help:"Let the run find at most this many items for one loop."`
	Strict       bool     `help:"Treat warnings as errors, and refuse loops whose items only the run knows."`
	hostFlags    `group:"hosts"`
	vaultFlags   `group:"passwords"`
	pluginFlags  `group:"plugins"`

	destroy  bool         // everything recorded is to be removed
	recorded *prior.State // what counts as recorded, in the place of what is
	built    []string     // of destroy: the steps that are chosen

	targets  []string // that were named next to the playbook
	given    []givenFlag
	importer *app.Importer // where exports of other playbooks come from; nil: from their last runs

	unseen   *diag.List // takes what only facts could say, of a list that asks no host; nil: that is an error
	approved bool       // the user who calls the command approves what it runs

	mode fact.Options // of the run the plan is for: templates of plays may ask
}

// vaultPasswords also takes those that trusted programs of ansible.cfg print.
func (f *planFlags) vaultPasswords() app.VaultPasswords {
	given := f.vaultFlags.vaultPasswords()
	given.Trust = f.TrustPlugins || f.approved
	return given
}

// called tells the planner how the run will be called.
func (f *planFlags) called(o *plan.Options) {
	o.Mode.Check, o.Mode.Diff, o.Mode.Forks = f.mode.Check, f.mode.Diff, f.mode.Forks
	if o.Mode.Forks == 0 {
		o.Mode.Forks = usualForks()
	}
}

// options turns the flags into the planner's.
func (f *playbookFlags) planOptions(call *app.Invocation) (plan.Options, error) {
	o, err := thisMachine(call, f.vaultPasswords())
	if err != nil {
		return o, err
	}
	o.Path = f.Playbook
	if o.Path == "" {
		if o.Path, err = usualPlaybook(); err != nil {
			return plan.Options{}, err
		}
	}
	if f.importer != nil {
		o.Outside.Exports = f.importer.Exports
	}
	o.Given, o.Unseen = o.Path, f.unseen
	o.Stdin, o.MaxSteps, o.MaxExpansion = call.In, f.MaxSteps, f.MaxExpansion
	f.called(&o)
	switch {
	case source.IsDescriptor(o.Path): // what <(command) gives is read like standard input: it has no place of its own
		file, err := os.Open(o.Path)
		if err != nil {
			return plan.Options{}, app.Usage("%s cannot be read: %s", o.Path, errors.Unwrap(err))
		}
		o.Path, o.Stdin = "-", file
	case o.Path != "-" && !filepath.IsAbs(o.Path):
		o.Path = filepath.Join(o.Dir, o.Path)
	}
	o.Values.Extra, o.Values.Files = f.ExtraVars, f.VarsFile
	o.Select = plan.Selection{Tags: f.Tags, SkipTags: f.SkipTags, Only: f.Only, Targets: f.targets, Skip: f.Skip}
	if f.StartAt != nil {
		if *f.StartAt == "" { // an empty variable of a script must not start at the beginning
			return plan.Options{}, app.Usage("--start-at names no step")
		}
		o.Select.StartAt = *f.StartAt
	}
	beside := o.Dir
	if o.Path != "-" {
		beside = filepath.Dir(o.Path)
	}
	if err := f.hosts(&o, o.Dir); err != nil {
		return o, err
	}
	if o.Prior, err = f.priorState(o.Path); err != nil {
		return o, err
	}
	set, err := app.SearchAnsible(&o)
	if err != nil {
		return plan.Options{}, err
	}
	found, err := f.find(call, beside, &o)
	if err != nil {
		return plan.Options{}, err
	}
	o.Plugins = found
	return o, f.connecting(&o, set, call, &f.pluginFlags, f.approved)
}

// usualPlaybook is the playbook that is meant where none is named.
func usualPlaybook() (string, error) {
	for _, name := range []string{"moon.yml", "playbook.yml"} {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", app.Usage("no playbook given, and there is no moon.yml or playbook.yml here")
}

// thisMachine is what planning needs to know about where and by whom moon is called.
func thisMachine(call *app.Invocation, passwords app.VaultPasswords) (plan.Options, error) {
	dir, err := os.Getwd()
	if err != nil {
		return plan.Options{}, app.Usage("the working directory cannot be read: %s", err)
	}
	o := plan.Options{Dir: dir, Facts: plan.KnownFacts{Here: facts.Local(), Volatile: facts.Volatile, Costly: facts.Costly()}}
	// A process without a home, as in a container, still plans.
	o.Home, _ = os.UserHomeDir() // without one, ~ stays as it is
	o.Presets = app.PresetsDir(o.Home)
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	o.Secrets = call.Secrets
	o.Outside.Pipe, o.Outside.Fetch, o.Outside.Secret = call.Asker.Pipe, action.Fetch, call.Programs.Text
	o.Outside.Plugin = call.Values.Ask
	o.Outside.Python, o.Asked = app.AskPython(call.Python), called.NewAsked(nil)
	o.Outside.Exports = (&app.Importer{Call: call}).Exports
	if passwords, err = passwords.OrSettings(call, dir); err != nil {
		return o, err
	}
	o.Outside.Vault, err = passwords.Passwords(call)
	return o, err
}

// hastily makes the garbage collector wait while a plan is made, until the function it returns is called. Nearly all
// that planning allocates is kept, so that collecting finds little and takes a quarter of the time: with this, 100,000
// steps cost 8 % more memory. Whoever sets GOGC knows better.
func hastily() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	old := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(old) }
}

// build plans the playbook and prints what is wrong with it.
func (f *playbookFlags) build(call *app.Invocation) (*plan.Plan, *graph.Graph, error) {
	defer hastily()()
	o, err := f.planOptions(call)
	if err != nil {
		return nil, nil, err
	}
	// Before planning, which may already run plugins.
	askTrust(call, o)
	p, g, ds := engine.Build(o)
	if f.importer != nil && f.importer.Interrupted {
		return nil, nil, app.NewExit(app.ExitInterrupted, "interrupted; nothing was run")
	}
	if left, ok := errors.AsType[*app.Exit](f.unanswered); ok { // who leaves the questions has made no mistake
		return nil, nil, left
	}
	if err := f.forPlays(p); err != nil {
		return nil, nil, err
	}
	if f.Strict {
		ds = append(ds, refuseOpen(p)...)
	}
	if err := f.complain(call, p, nearby.FromHere(o, ds)); err != nil || !f.approved {
		return p, g, err
	}
	return p, g, refuseUntrusted(p)
}

// refuseOpen reports what only the run knows: items of loops, hosts.
func refuseOpen(p *plan.Plan) (ds diag.List) {
	if p == nil {
		return nil
	}
	for _, step := range p.OpenPlaces() {
		s := &p.Steps[step]
		d := diag.Diagnostic{
			Pos:   diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column},
			Chain: s.Origin.Chain, Message: "the items of the loop «" + s.Title() + "» are known only in the run",
			Hint: "give it a list that is known before, or leave --strict out",
		}
		if s.Moves() {
			d.Message = "how " + s.Host + " is reached after «" + s.Title() + "» is known only in the run"
			d.Hint = "set it to what is known before, or leave --strict out"
		} else if s.Rereads() {
			d.Message = "what the inventory says when «" + s.Title() + "» reads it again is known only in the run"
			d.Hint = "remove it, or leave --strict out"
		} else if s.Adds != nil {
			d.Message = "what «" + s.Title() + "» adds to the inventory is known only in the run"
			d.Hint = "add what is known before, or leave --strict out"
		} else if !s.Loops() {
			d.Message = "what «" + s.Title() + "» stands for is known only in the run"
			d.Hint = "give it a name and a condition that are known before, or leave --strict out"
		}
		ds.Add(d)
	}
	return ds
}

// complain prints diagnostics. It returns an error if they forbid going on.
func (f *playbookFlags) complain(call *app.Invocation, p *plan.Plan, ds diag.List) error {
	if len(ds) == 0 {
		return nil
	}
	if err := ds.Print(call.Err); err != nil {
		return err
	}
	fmt.Fprintln(call.Err)
	if p == nil || f.Strict {
		// A plan with warnings counts as one that must not run, if --strict asks for it.
		fmt.Fprintf(call.Err, "%s; nothing was run\n", ds.Summary())
		return app.NewExit(app.ExitUsage, "")
	}
	return nil
}

type planCmd struct {
	savedFlags
	morePlaybooks
	listFlags   `group:"lists"`
	becomeFlags `group:"passwords"`
	Format      string  `enum:"tree,json,yaml,dot,mermaid,dump" default:"tree" help:"tree, json, yaml, dot (for Graphviz), mermaid, or dump: everything known, one line per field."`
	Flat        bool    `help:"One line per step: id, origin, name, action."`
	Explain     *string `placeholder:"STEP" help:"Explain one step: why it is there, where its values come from, what it waits for."`
	ExitCode    bool    `name:"exit-code" env:"-" help:"With --check: exit with 0 if nothing would change, 2 if something would or might, and 1 for every error."`
	Check       bool    `short:"C" aliases:"dry-run" help:"Predict what each step would do, without changing anything."`
	Diff        oldPlan `short:"D" placeholder:"[OLD]" help:"With --check, or with predictions that --plan FILE keeps: show diffs. With OLD: compare with an older plan saved with moon plan -o; as text, or with --format json."`
	Watch       bool    `env:"-" help:"Print the plan again whenever a file changes that it is made from, until Ctrl-C."`
	Output      string  `short:"o" env:"-" type:"path" placeholder:"FILE" help:"Save the plan to a file for moon run --plan; with --check, also what each step would do, for moon run --exact."`
}

// Help says which forms there are.
func (planCmd) Help() string {
	return `Prints all steps with includes and loops expanded. Values that are not known yet name the step that will provide them.

  moon plan site.yml
  moon plan site.yml --explain nginx.yml:12
  moon plan site.yml --check --diff
  moon plan site.yml --check -o site.plan`
}

func (c *planCmd) Run(call *app.Invocation) error {
	changes, err := c.run(call)
	if c.ExitCode {
		return app.Detailed(err, changes)
	}
	return err
}

// run prints the plan. changes says that a prediction was asked for, and that something would change, or may.
func (c *planCmd) run(call *app.Invocation) (changes bool, err error) {
	if c.More = c.takeTargets(c.More); len(c.More) > 0 {
		return false, c.planSeveral(call)
	}
	if c.Watch {
		return false, c.watch(call)
	}
	if err := c.check(); err != nil {
		return false, err
	}
	if c.asked() && c.Saved == "" { // for a list no one is asked, and what only facts could say keeps nothing from it
		c.NoConnect, c.unseen = true, new(diag.List)
	}
	// A dry run has other values in some variables, so planning must know of it.
	c.mode = fact.Options{Check: c.Check, Diff: c.Check && c.Diff.given}
	p, g, err := c.build(call)
	switch {
	case err != nil:
		return false, err
	case c.asked():
		return false, c.list(call.Out, p, c.Playbook)
	case c.Check:
		return c.predict(call, p, g)
	case c.Output != "":
		return false, c.save(call, call.Out, p, g, c.expected)
	case c.Explain != nil:
		return false, explain(call, p, g, *c.Explain)
	case c.Diff.file != "":
		return false, diff(call, p, c.Diff.file, c.Format == "json")
	case c.Diff.given && c.expected == nil:
		return false, app.Usage("%s keeps no predictions that --diff could show; give --check, or an older plan to compare with", c.Saved)
	case c.Flat:
		return false, show.WriteFlat(call.Out, p, call.Width())
	case c.expected != nil && (c.Format == "tree" || c.Format == "json"):
		return false, c.printPredictions(call, p, g, c.shown(exact.NewBook(c.expected).Predictions(p)), c.expected)
	}
	return false, c.print(call, p, g)
}

// watch prints the plan, and again whenever it changes.
func (c *planCmd) watch(call *app.Invocation) error {
	last := ""
	return app.Watch(call, c.Playbook, func([]string) (*plan.Plan, error) {
		p, g, err := c.build(call)
		if err != nil || p.Digest == last {
			return p, err
		}
		last = p.Digest
		return p, c.print(call, p, g)
	})
}

// save writes the plan to the file that was named, and says so.
func (c *planCmd) save(call *app.Invocation, say io.Writer, p *plan.Plan, g *graph.Graph, expected *events.Expectations) error {
	if err := save(call, c.Output, p, g, expected); err != nil {
		return err
	}
	with := ""
	if expected != nil {
		with = ", with what they would do,"
	}
	_, err := fmt.Fprintf(say, "plan %s with %s%s saved to %s\n", p.Digest[:12], plan.CountOf(len(p.Steps), "step"), with, c.Output)
	return err
}

// check refuses forms that exclude each other.
func (c *planCmd) check() error {
	// --diff takes a file if one follows, and that was meant as the playbook.
	if c.Check && c.Diff.file != "" && c.Playbook == "" && c.Saved == "" { // moon plan --check --diff site.yml
		c.Playbook, c.Diff.file = c.Diff.file, ""
	}
	forms := 0
	for _, given := range []bool{c.Flat, c.Explain != nil, c.Diff.file != "", c.Output != "" && !c.Check, c.Check} {
		if given {
			forms++
		}
	}
	switch {
	case c.ExitCode && !c.Check:
		return app.Usage("--exit-code says whether something would change; give --check with it")
	case c.Check && forms > 1:
		return app.Usage("--check prints the plan with what it would do; it cannot be given with --flat, --explain or --diff OLD")
	case forms > 1:
		return app.Usage("--flat, --explain, --diff and -o are forms of the plan; give one of them")
	case c.Diff.given && c.Diff.file == "" && !c.Check && (c.Saved == "" || forms > 0):
		return app.Usage("--diff needs an older plan to compare with, or --check to show what would change")
	case c.Check && c.Format != "tree" && c.Format != "json":
		return app.Usage("--check prints text or, with --format json, JSON; not %s", c.Format)
	// These go with any of the forms above.
	case c.Format == "tree", c.Format == "json" && (c.Diff.file != "" || c.Check), c.Output != "":
		return nil
	case c.Flat:
		return app.Usage("--flat is text; it cannot be given with --format %s", c.Format)
	case c.Explain != nil:
		return app.Usage("--explain is text; it cannot be given with --format %s", c.Format)
	case c.Diff.file != "":
		return app.Usage("--diff prints text or, with --format json, JSON; not %s", c.Format)
	}
	return nil
}

func (c *planCmd) print(call *app.Invocation, p *plan.Plan, g *graph.Graph) error {
	switch c.Format {
	case "dot", "mermaid":
		return drawGraph(call, p, g, c.Format)
	case "dump":
		return show.WriteDump(call.Out, p, g.Text())
	case "tree":
		return show.WriteTree(call.Out, p, call.Width())
	}
	if c.Format == "json" {
		return writePlan(call.Doc, p, g)
	}
	var doc bytes.Buffer
	if err := writePlan(&doc, p, g); err != nil {
		return err
	}
	text, err := show.YAML(doc.Bytes())
	if err != nil {
		return err
	}
	_, err = call.Doc.Write(text)
	return err
}

// oldPlan is the value of --diff, which may be left out.
type oldPlan struct {
	given bool
	file  string
}

// Decode takes the word behind the flag, if it is one.
func (o *oldPlan) Decode(ctx *kong.DecodeContext) error {
	o.given = true
	next := ctx.Scan.Peek()
	word, ok := next.Value.(string)
	// A flag behind it is not its value; a dash alone is a file.
	if next.IsEOL() || !ok || next.Type != kong.FlagValueToken && strings.HasPrefix(word, "-") && word != "-" {
		return nil
	}
	o.file = word
	ctx.Scan.Pop()
	return nil
}

// drawGraph prints the execution graph.
func drawGraph(call *app.Invocation, p *plan.Plan, g *graph.Graph, format string) error {
	title := func(step int) string {
		s := &p.Steps[step]
		if s.Open() {
			return s.Title() + " × ?"
		}
		return s.Title()
	}
	text := ""
	switch format {
	case "dot":
		text = g.DOT(title)
	case "mermaid":
		text = g.Mermaid(title)
	default:
		text = g.Text()
	}
	_, err := fmt.Fprint(call.Out, text)
	return err
}

// explain prints what is known of the one step that a selector names.
func explain(call *app.Invocation, p *plan.Plan, g *graph.Graph, text string) error {
	// A selector may be an id, a path, a name or a place.
	found := selector.Match(p, text)
	switch len(found) {
	case 0:
		message, hint := selector.NoMatch(p, text)
		return app.Usage("--explain: %s\n  hint: %s", message, hint)
	case 1:
		step := found[0]
		return show.WriteExplanation(call.Out, p, step, g.Before(step), g.After(step), call.Width())
	}
	lines := make([]string, len(found))
	for i, step := range found {
		s := &p.Steps[step]
		lines[i] = fmt.Sprintf("%s  %s  (%s)", s.ID(), s.Label(s.Title()), s.Origin)
	}
	return app.Usage("--explain explains one step; `%s` names %d:\n%s", text, len(found), indented(lines))
}

// diff prints what changed since an older plan.
func diff(call *app.Invocation, p *plan.Plan, file string, asJSON bool) error {
	old, err := comparable(file)
	if err != nil {
		return err
	}
	now, err := show.ComparableOf(p)
	if err != nil {
		return err
	}
	d := show.Diff(old, now)
	if !asJSON {
		return d.Write(call.Out, call.Width())
	}
	doc, err := d.JSON()
	if err != nil {
		return err
	}
	_, err = call.Doc.Write(doc)
	return err
}

// comparable reads an older plan.
func comparable(file string) (*show.Comparable, error) {
	doc, err := os.ReadFile(file)
	if err != nil {
		return nil, app.Usage("--diff: %s", app.Unreadable(file, err))
	}
	c, err := show.ReadComparable(doc)
	if err != nil {
		return nil, app.Usage("--diff: %s: %s", file, err)
	}
	return c, nil
}

type validateCmd struct {
	playbookFlags
	morePlaybooks
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help says what is checked.
func (validateCmd) Help() string {
	return `Plans the playbook and prints errors and warnings, with positions and hints. The exit status is 2 if there are errors.

  moon validate site.yml
  moon validate --strict --format json site.yml`
}

func (c *validateCmd) Run(call *app.Invocation) error {
	if len(c.More) > 0 { // which have an order
		return c.validateSeveral(call)
	}
	defer hastily()()
	o, err := c.planOptions(call)
	if err != nil {
		return err
	}
	p, _, ds := engine.Build(o)
	if err := c.forPlays(p); err != nil {
		return err
	}
	if c.Strict {
		ds = append(ds, refuseOpen(p)...)
	}
	bad := p == nil || c.Strict && len(ds) > 0
	if c.Format == "json" {
		enc := json.NewEncoder(call.Doc)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"root": rootOf(o), "diagnostics": show.DiagnosticsJSON(ds)}); err != nil {
			return err
		}
	} else {
		if err := nearby.FromHere(o, ds).Print(call.Out); err != nil {
			return err
		}
		switch {
		case bad:
			fmt.Fprintf(call.Out, "\n%s\n", ds.Summary())
		case len(ds) > 0:
			fmt.Fprintf(call.Out, "\n%s: %s, %s\n", termtext.CleanName(p.RootFile), plan.CountOf(len(p.Steps), "step"), ds.Summary())
		default:
			fmt.Fprintf(call.Out, "%s: %s, no mistakes found\n", termtext.CleanName(p.RootFile), plan.CountOf(len(p.Steps), "step"))
		}
	}
	if bad {
		return app.NewExit(app.ExitUsage, "")
	}
	return nil
}

// rootOf is the directory to which the names of files in a document are relative.
func rootOf(o plan.Options) string {
	if o.Path == "-" {
		return o.Dir
	}
	dir := filepath.Dir(o.Path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

type graphCmd struct {
	savedFlags
	Format string `enum:"text,dot,mermaid" default:"text" help:"text, dot (for Graphviz) or mermaid."`
}

// Help says how the graph becomes a picture.
func (graphCmd) Help() string {
	return `Prints which step waits for which, and why.

  moon graph site.yml
  moon graph site.yml --format dot | dot -Tsvg > site.svg`
}

func (c *graphCmd) Run(call *app.Invocation) error {
	p, g, err := c.build(call)
	if err != nil {
		return err
	}
	return drawGraph(call, p, g, c.Format)
}
