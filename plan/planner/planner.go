package planner

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/found"
	"moon/plan/planner/additions"
	"moon/plan/planner/bindings"
	"moon/plan/planner/callees"
	"moon/plan/planner/choice"
	"moon/plan/planner/compile"
	"moon/plan/planner/conceal"
	"moon/plan/planner/connect"
	"moon/plan/planner/content"
	"moon/plan/planner/defaults"
	"moon/plan/planner/exports"
	"moon/plan/planner/given"
	"moon/plan/planner/imports"
	"moon/plan/planner/items"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/planner/literal"
	"moon/plan/planner/lookups"
	"moon/plan/planner/orphans"
	"moon/plan/planner/outline"
	"moon/plan/planner/override"
	"moon/plan/planner/policy"
	"moon/plan/planner/probe"
	"moon/plan/planner/problems"
	"moon/plan/planner/prompts"
	"moon/plan/planner/standin"
	"moon/plan/planner/tags"
	"moon/plan/saved"
	"moon/plan/source"
	"moon/plan/vars"
)

// New plans a playbook. The plan is nil when the diagnostics hold an error.
func New(o plan.Options) (*plan.Plan, diag.List) {
	return newPlan(o, source.NewDisk(o.Stdin), nil)
}

// Check plans a playbook whose files are read from d. Hosts are not asked for their facts: what is known only with them goes to
// unfollowed.
func Check(o plan.Options, d *source.Disk, unfollowed *diag.List) (*plan.Plan, diag.List) {
	o.Hosts.NoConnect, o.Unseen = true, unfollowed
	return newPlan(o, d, nil)
}

// newPlan plans. before is a plan of the same files with the same options, but for what the run has found since; it may be nil.
func newPlan(o plan.Options, d *source.Disk, before *plan.Plan) (*plan.Plan, diag.List) {
	given.Complete(&o)
	imports.Begin(&o)
	if o.Select.Bounded() {
		o.Prior = plan.Prior{} // who asks for some steps asks for nothing else
		return selected(o, d)
	}
	if len(o.Select.Tags)+len(o.Select.SkipTags) > 0 && !o.Prior.Destroy {
		o.Prior = plan.Prior{}
	}
	if o.Prior.State != nil && len(o.Prior.State.Things) > 0 && !o.Prior.Settled {
		return withOrphans(o, d, before)
	}
	return newPlanner(o, d, nil, before).result()
}

// newPlanner plans. Where a host could not be asked for facts that decide what it does, that host is excluded: it must not keep the others
// from being planned.
func newPlanner(o plan.Options, d *source.Disk, leftOut map[string]string, before *plan.Plan) *planner {
	if !d.Closed && !o.Growing { // they are asked again
		o.Facts.Excluded = nil
	}
	p := planWith(o, d, leftOut, before)
	if len(p.leaves) == 0 {
		return p
	}
	o.Facts.Excluded = maps.Clone(o.Facts.Excluded)
	if o.Facts.Excluded == nil {
		o.Facts.Excluded = map[string]string{}
	}
	maps.Copy(o.Facts.Excluded, p.leaves)
	return planWith(o, d, leftOut, before)
}

// planWith makes a planner and has it plan. leftOut are the paths of the steps that a selection leaves out, each with its flag.
func planWith(o plan.Options, d *source.Disk, leftOut map[string]string, before *plan.Plan) *planner {
	p := &planner{}
	p.o, p.leftOut, p.secrets, p.disk = o, leftOut, o.Secrets.Below(), d
	p.engine, p.facts, p.ofSteps = eval.New(), vars.NewFactUsage(), map[sceneOf]*vars.Scene{}
	p.names = vars.NewGlobals(o.Facts.Here, o.Facts.Volatile, o.Facts.Costly)
	p.plan = &plan.Plan{
		Format: plan.Format, Engine: p.engine, Home: o.Home, Dir: o.Dir,
		Basis: &plan.Basis{O: o, Disk: p.disk, Facts: p.facts, Names: p.names, Secrets: p.secrets},
	}
	if p.literals = literal.New(before, &o); before != nil { // in one piece: steps are large
		p.plan.Steps = make([]plan.Step, 0, len(before.Steps)+len(before.Steps)/64+256)
	}
	p.Collector = problems.New(p.plan)
	p.Library = library.New(library.Request{
		Plan: p.plan, Problems: p.Collector, Disk: d, Secrets: p.secrets, Options: &p.o,
		WasRead: func(text []byte) {
			p.names.Gather(text)
			p.asksHosts = p.asksHosts || bytes.Contains(text, []byte("inventory_hostnames"))
		},
	})
	p.standins = standin.New()
	p.concealer = conceal.New(p.plan, p.secrets, d, p.Collector, o.Home)
	p.concealer.Compared = o.Compared
	p.content = &content.Reader{
		Plan: p.plan, Problems: p.Collector, Library: p.Library, Disk: d, Secrets: p.secrets, Concealer: p.concealer,
	}
	p.prober = probe.New(p.plan, &p.o, p.Collector, p.secrets, d.Closed)
	p.Compiler = compile.New(p.plan, p.Collector, p.facts, o.Plugins)
	p.defaults = &defaults.Maker{
		Problems: p.Collector, Compiler: p.Compiler, Library: p.Library, Actions: p.o.Actions(), Core: o.Core,
	}
	p.loops = items.New(p.plan, p.Collector, p.Library, p.Compiler, p.secrets)
	p.Reader = known.New(p.plan, p.Collector, o.Unseen, func() { p.Unread = true })
	p.Excludes = p.excludes
	p.defaults.Known = p.Reader
	p.connector = connect.New(p.plan, &p.o, p.secrets, p.Collector, p.Reader, p.AskProgram)
	p.bindings = bindings.New(p.plan, p.Collector, p.Library, p.Compiler, p.Reader, p.connector.NoteName)
	p.asker = prompts.New(p.plan, &p.o, p.Collector, p.Reader)
	p.overrides = override.New(o.Values.Overrides, p.plan, p.secrets, p.Collector, p.Compiler, p.connector.NoteName)
	p.additions, p.tags = additions.New(p.plan, p.Collector), tags.New(&p.o.Select, p.Collector)
	p.Outline = outline.New(p.plan, p.Collector, o.MaxSteps, p.literals.Room())
	p.policies = &policy.Policy{Collector: p.Collector, Reader: p.Reader, Outline: p.Outline, Plan: p.plan}
	p.lookups = lookups.New(p.plan, p.Library, d, o.Home, func(pattern string) ([]string, error) {
		hosts, err := p.hosts().Match(pattern)
		return vars.HostNames(hosts), err
	})
	p.engine.World, p.engine.Foreign = p.lookups.World(), callees.New(p.plan, &p.plan.Basis.O)
	p.plan.Ahead.Plan = p.plan
	p.engine.Secrets = p.secrets
	// One budget of work for the whole plan: repetition lets a small playbook explode long before the limit of steps.
	p.engine.Allow(outline.PlanWork, outline.PlanText)
	d.Planned, d.Adopt = false, o.Reads
	p.run()
	d.Planned = true
	p.engine.Unbound()
	p.engine.Secrets = o.Secrets       // what running it learns does not belong to the plan
	p.literals = literal.New(nil, nil) // what it renders may reach the planner, which must not keep the plan before
	return p
}

// result is the plan, unless the diagnostics forbid it.
func (p *planner) result() (*plan.Plan, diag.List) {
	p.HintAtLater()
	p.Found.Sort()
	p.Found.Locate(func(file string) []string {
		if f, ok := p.Sources[file]; ok {
			return f.Lines()
		}
		return nil
	})
	// Last: a secret may have become known after a message that holds it was written.
	p.concealer.Clean(p.Found)
	if p.Found.HasErrors() {
		return nil, p.Found
	}
	p.plan.Diagnostics = p.Found
	return p.plan, p.Found
}

func (p *planner) run() {
	path := given.Place(p.plan, &p.o, p.disk.Closed)
	pb, err := p.LoadSteps(path)
	if err != nil {
		message := p.DescribeError(err)
		if p.o.Given != "" && errors.Is(err, fs.ErrNotExist) {
			message = "no such file: " + p.o.Given
		}
		p.Errorf(diag.Pos{File: p.ShowPath(path)}, 0, nil, p.SuggestFix(path, err), "%s", message)
		return
	}
	p.overrides.Read()
	name := p.plan.RootFile
	root := p.OpenScope(plan.Scope{Kind: plan.ScopePlaybook, Parent: -1, Name: name, Origin: diag.Origin{File: name, Line: 1, Column: 1}},
		name)
	c := &taskContext{scope: root, file: pb.File, dir: p.plan.Root}
	c.approves, p.plan.Scopes[root].Approves = pb.Approves, pb.Approves
	c.form, c.on = here{}, &plannedHost{Machine: &vars.Machine{Name: "localhost", Names: p.names, Gatherer: -1}}
	p.onHosts = there{}
	p.Enter(library.Opened{Path: path}, p.plan.RootFile, 0)
	from := given.Reader{
		Library: p.Library, Problems: p.Collector, Plan: p.plan, Options: &p.o, Secrets: p.secrets, Note: p.connector.NoteName,
	}
	var planTasks func()
	if pb.Plays != nil {
		from.Bind = p.bindings.Bind
		p.names.Files, p.names.Extra = from.Read()
		p.beginPlays(pb)
		planTasks = func() {
			orphan := onPlaysHost(p, pb)
			p.planAllPlays(pb, root, func(late bool) { p.planOrphans(c, orphan, late) })
		}
	} else {
		p.names.Files, p.names.Extra = from.Read()
		c.scene = p.sceneOfSteps(sceneOf{dir: c.dir})
		p.rootVars(pb, c)
		planTasks = func() {
			orphan := onStepsHost(p, c)
			p.planOrphans(c, orphan, false)
			if !p.o.Prior.Destroy {
				p.planSteps(c, pb)
			}
			p.planOrphans(c, orphan, true)
		}
	}
	p.plan.Name = p.Renderer(p.env(c, nil), nil).Text(pb.Name)
	if pb.Strategy == "graph" {
		p.plan.Strategy = "graph"
	}
	if n := p.ReadParallel(pb.Parallel, p.rendererAt(c)); n > 0 && pb.Hosts.IsZero() {
		p.plan.Scopes[root].Parallel = n
	}
	p.policyOfOrphans = pb.Orphans
	planTasks()
	p.CloseScope(root)
	if p.o.Prior.Destroy {
		p.finish()
		return
	}
	exports.Plan(p.plan, p.Collector, pb, p.end(c.scene), func(e *plan.Env) *plan.Renderer { return p.Renderer(e, nil) })
	// Needs may be on steps further down, so they wait until all steps are there.
	p.ResolveNeeds()
	p.tags.Check(p.plan.Dialect.Rules().TagsExist)
	p.overrides.ReportUnused()
	p.finish()
}

// finish fills what is computed over the whole plan.
func (p *planner) finish() {
	// A condition that is open now may ask the inventory in the run, when it is too late to read it.
	if p.asksHosts {
		p.hosts()
	}
	// The digest comes last, since hiding secrets changes the paths and the digests of steps.
	p.keepGathered()
	p.prober.Close()
	p.plan.Files = p.Sources
	p.plan.Tags = p.o.Select.Tags
	p.plan.Vars = exports.Vars(p.plan, p.end(nil))
	p.concealer.HidePlan()
	for i := range p.plan.Steps {
		if r := p.plan.Steps[i].Task.Renders; r != nil {
			r.Again = nil // nothing more becomes secret
		}
	}
	p.plan.Digest = p.plan.ComputeDigest()
}

// end is the moment behind all steps, where all is visible that was ever set.
func (p *planner) end(sc *vars.Scene) *vars.Frame {
	return &vars.Frame{All: p.names, DocumentAt: *p.names.Document.Now, ProducedAt: *p.names.Produced.Now, Scene: sc}
}

// selected plans with a selection: once to see which steps there are, and again without those that are excluded, so
// that a value they would have given is missing before anything runs. Mistakes of the first plan do not count: they
// may be in what is excluded.
func selected(o plan.Options, d *source.Disk) (*plan.Plan, diag.List) {
	all := newPlanner(o, d, nil, nil)
	// With steps there is still something to select from: mistakes may lie in what is excluded.
	if all.Found.HasErrors() && len(all.plan.Steps) == 0 {
		return all.result()
	}
	chosen := choice.Exclude(all.plan, all.o.Select, all.standins.GathersFor)
	if len(chosen.Wrong) > 0 {
		all.Found = append(all.Found, chosen.Wrong...)
		return all.result()
	}
	o.Select = chosen.Select
	p := newPlanner(o, d, chosen.LeftOut, nil)
	p.Found = append(p.Found, chosen.Later...)
	// What the first plan has used of the facts decided what can be selected, so a saved plan needs it too.
	p.usedToo(all)
	if len(p.plan.Steps) > 0 && !slices.ContainsFunc(p.plan.Steps, func(s plan.Step) bool { return !s.Excluded }) {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: diag.Pos{File: p.plan.RootFile},
			Message: "the selection leaves no step to run", Hint: "moon plan --flat without it lists the steps",
		})
	}
	return p.result()
}

// withOrphans plans a playbook of which runs have made things before: once to see what its steps give, and again with the steps that remove
// the rest, if there are any to be removed.
func withOrphans(o plan.Options, d *source.Disk, before *plan.Plan) (*plan.Plan, diag.List) {
	first := newPlanner(o, d, nil, before)
	if first.Found.HasErrors() {
		return first.result()
	}
	o.Prior.Policy = cmp.Or(o.Prior.Policy, plan.OrphanFate(first.policyOfOrphans), plan.OrphanKept)
	if o.Prior.Destroy {
		o.Prior.Policy = plan.OrphanRemoved
	}
	o.Prior.Orphans = orphans.Find(orphans.Request{
		Plan: first.plan, Prior: &o.Prior, Moves: first.moves, Fate: o.Prior.Policy, Reach: first.reachOrphans(),
	})
	o.Prior.State, o.Prior.Settled, o.Prior.Moved = nil, true, first.plan.Moved
	if !slices.ContainsFunc(o.Prior.Orphans, func(one plan.Orphan) bool { return one.Removed() }) {
		first.plan.Orphans, first.plan.Basis.O.Prior = o.Prior.Orphans, o.Prior
		if !first.Found.HasErrors() {
			first.plan.Digest = first.plan.ComputeDigest()
		}
		return first.result()
	}
	return newPlanner(o, d, nil, before).result()
}

// Grow plans a playbook from the files that were read for a plan. Other files are read now, also if the plan was saved: which ones an
// open place names was not known then.
func Grow(before *plan.Plan, o plan.Options) (*plan.Plan, diag.List) {
	d := before.Basis.Disk.Again(o.Stdin)
	d.Closed = false
	return newPlan(o, d, before)
}

// Replay makes a plan from its sources alone: neither the disk nor the facts of this machine are asked, but for what
// the sources do not keep. root is the directory of the playbook; of o, what a machine knows about itself is used.
func Replay(s *saved.Sources, root string, o plan.Options) (*plan.Plan, diag.List, error) {
	return ReplayFrom(nil, s, root, o)
}

// ReplayFrom is Replay for one of the plans of a run. It takes over what it can from another of them, which may be nil.
func ReplayFrom(other *plan.Plan, s *saved.Sources, root string, o plan.Options) (*plan.Plan, diag.List, error) {
	again, d, err := s.RestoreInputs(root, o)
	if err != nil {
		return nil, nil, err
	}
	if other != nil {
		d.Parsed = other.Basis.Disk.Parsed
	}
	p, ds := newPlan(again, d, other)
	return p, ds, nil
}

// Stands reports whether a plan is the same with what steps have found in the run, by path, in the place of what they had found while
// planning: whether nothing of it differs that the plan uses.
func Stands(p *plan.Plan, seen map[string]found.Result) bool {
	with := func(findings map[string]found.Result) string {
		o := p.Again()
		o.Compared, o.Reads, o.Facts.Findings, o.Facts.Hosts = true, nil, findings, p.Basis.KnownFacts()
		q, _ := newPlan(o, p.Basis.Disk.Kept(), nil)
		if q == nil {
			return ""
		}
		return q.Digest
	}
	now := maps.Clone(p.Basis.O.Facts.Findings)
	maps.Copy(now, seen)
	was := with(p.Basis.O.Facts.Findings)
	return was != "" && was == with(now)
}
