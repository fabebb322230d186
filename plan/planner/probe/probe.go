package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/found"
	"moon/plan/planner/problems"
	"moon/secret"
)

// Prober asks the steps of a plan that only look at their machine.
type Prober struct {
	plan     *plan.Plan
	o        *plan.Options
	problems *problems.Collector
	secrets  *secret.Set
	closed   bool // the plan is made again: what was found then is all there is

	probes  map[int]plan.Probe
	open    []int                  // the steps that were not asked yet
	results map[int]map[string]any // as registered
	done    bool
	changes map[plan.Machine]*[]change
	waited  []int // steps that wait for something to happen
}

// New asks for a plan with these options. closed says that it is made again from what is known.
func New(p *plan.Plan, o *plan.Options, list *problems.Collector, secrets *secret.Set, closed bool) *Prober {
	r := &Prober{
		plan: p, o: o, problems: list, secrets: secrets, closed: closed,
		probes: map[int]plan.Probe{}, results: map[int]map[string]any{}, changes: map[plan.Machine]*[]change{},
	}
	p.Ahead.Findings, p.Ahead.Unasked, p.Ahead.Ask = map[int]found.Result{}, map[int]string{}, r.registered
	return r
}

// Foreclose notes of a step that it will give nothing, if that is known.
func (p *Prober) Foreclose(s *plan.Step) {
	switch {
	case s.Excluded:
		p.plan.Ahead.Miss(s.Index, plan.Exclusion(s.ExcludedBy))
	case s.Lacks != nil:
		p.plan.Ahead.Miss(s.Index, plan.WillBeSkipped)
	}
}

// Note looks at a step that was planned: whether it may be asked, and what it may change. certain says that what comes after the
// step is not reached without it.
func (p *Prober) Note(s *plan.Step, certain bool) {
	k := s.Task
	may := certain && p.answerable(s, k) && p.inOrder(s) && p.unchanged(s, k)
	p.noteChange(s, k)
	if may && p.o.Hosts.NoProbe {
		p.plan.Ahead.Unasked[s.Index] = "--no-probe was given"
	}
	if !may || p.o.Hosts.NoProbe {
		return
	}
	q := plan.Probe{
		Root: p.plan.Root, Path: s.Path, Host: s.Host, Call: &plan.Call{Action: k.Action.Name, Arguments: *k.Known}, Env: s.Env,
		Cwd: s.Cwd, Roams: k.Cwd.IsZero(), Conn: s.Conn,
		Become: s.Become, BecomePassword: k.BecomePassword, Timeout: s.Timeout, Dialect: p.plan.Dialect,
	}
	var ok bool
	if q.Of, ok = digestOf(s, k); !ok {
		return
	}
	p.probes[s.Index] = q
	p.open = append(p.open, s.Index)
}

// asked are the actions that do nothing but look, and are asked without permission.
var asked = map[string]bool{"stat": true, "find": true, "slurp": true, "getent": true}

// answerable reports whether a step does nothing but look, for certain and with what is known now.
func (p *Prober) answerable(s *plan.Step, k *plan.Task) bool {
	command := p.o.Hosts.Commands && commands[s.Action]
	switch {
	case !command && !asked[s.Action] && !givesFacts(k):
		return false
	case s.Excluded, s.Prediction != plan.WillRun, s.Lacks != nil, k.Known == nil, k.Open:
		return false
	case s.NoLog, s.Once, s.Handler, s.Confirm != "", s.Terminal, p.secrets.Has(s.Path):
		return false
	case len(k.Until)+len(k.Breaks) > 0:
		return false
	}
	t := k.Src
	if !t.Creates.IsZero() || !t.Removes.IsZero() || !t.Unless.IsZero() || !t.OnlyIf.IsZero() {
		return false
	}
	if len(t.Sources)+len(t.Generates) > 0 || uncertain(k.Changed) || uncertain(k.Failed) || holds(k.Failed) {
		return false
	}
	if givesFacts(k) {
		return true
	}
	switch s.Action {
	case "stat", "find", "slurp":
		return s.Register != ""
	case "getent":
		database := value.Text(value.Plain(k.Known.Raw["database"]))
		return database != "shadow" && database != "gshadow" // which hold what is secret
	}
	return s.Register != "" && command && onlyLooks(s, k)
}

// givesFacts reports whether a step is one of a plugin that does nothing but give facts.
func givesFacts(k *plan.Task) bool {
	return k.Action != nil && k.Action.Plugin != nil && k.Action.Plugin.Looks
}

// uncertain reports whether only the run can say what conditions come to.
func uncertain(list []plan.Condition) bool {
	return slices.ContainsFunc(list, func(c plan.Condition) bool { return !c.Constant })
}

// inOrder reports whether what comes before a step in the plan comes before it in the run, and nothing else.
func (p *Prober) inOrder(s *plan.Step) bool {
	if p.plan.Strategy == "graph" {
		return false
	}
	for at := s.Scope; at >= 0; at = p.plan.Scopes[at].Parent {
		c := &p.plan.Scopes[at]
		if c.Parallel != 0 || c.Branch == "rescue" || c.Kind == plan.ScopePlay && c.Strategy != "linear" {
			return false
		}
	}
	return true
}

func holds(list []plan.Condition) bool {
	return slices.ContainsFunc(list, func(c plan.Condition) bool { return c.Holds })
}

// unchanged reports whether no step before may change what a step looks at.
func (p *Prober) unchanged(s *plan.Step, k *plan.Task) bool {
	by := p.changer(s.Conn.Machine(), looksAt(k))
	if by >= 0 {
		p.plan.Ahead.Unasked[s.Index] = p.plan.StepRef(by) + " may change what it looks at"
	}
	return by < 0
}

// looksAt are the paths that a step looks at; none if it may be any.
func looksAt(k *plan.Task) []string {
	var paths []string
	switch args := k.Known.Args.(type) {
	case *spec.StatArgs:
		paths = []string{args.Path}
	case *spec.FindArgs:
		paths = slices.Clone(args.Paths)
	case *spec.SlurpArgs:
		paths = []string{args.Src}
	}
	for i := range paths {
		if !filepath.IsAbs(paths[i]) {
			return nil
		}
		paths[i] = filepath.Clean(paths[i])
	}
	return paths
}

// digestOf is over what is asked, and of whom.
func digestOf(s *plan.Step, k *plan.Task) (string, bool) {
	conn := ""
	if s.Conn != nil {
		conn = s.Conn.String() + " " + s.Conn.Args + " " + s.Conn.Program + s.Conn.Way.Key()
	}
	user := ""
	if s.Become != nil {
		user = s.Become.String()
	}
	of := []any{s.Action, k.Known.Raw, s.Env, s.Cwd, conn, user}
	if args, ok := k.Known.Args.(*spec.PluginArgs); ok {
		of = append(of, args.Plugin.Digest)
	}
	text, err := json.Marshal(of)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), true
}

// Asks reports whether all of some steps may be asked. Then what they register may be known before the run.
func (p *Prober) Asks(steps ...int) bool {
	return !slices.ContainsFunc(steps, func(step int) bool { _, may := p.probes[step]; return !may })
}

// Close ends the asking: from here on what was found is part of the plan, and nothing is asked any more.
func (p *Prober) Close() { p.done = true }

// registered is what a step registers that was asked, as far as it is known before the run.
func (p *Prober) registered(step int) (map[string]any, bool) {
	if r, ok := p.results[step]; ok {
		return r, r != nil
	}
	if _, may := p.probes[step]; !may || p.done {
		return nil, false
	}
	p.ask()
	return p.results[step], p.results[step] != nil
}

// ask puts all that is open to the machines, at once.
func (p *Prober) ask() {
	var steps []int
	var list []plan.Probe
	for _, step := range p.open {
		q := p.probes[step]
		if f, ok := p.o.Facts.Findings[q.Path]; ok && f.Of == q.Of {
			p.take(step, f)
			continue
		}
		if p.closed || p.o.Outside.Probe == nil {
			p.results[step] = nil
			continue
		}
		if why := p.silent(q); why != "" {
			p.take(step, found.Result{Of: q.Of, Why: why})
			continue
		}
		steps, list = append(steps, step), append(list, q)
	}
	p.open = nil
	if len(list) == 0 {
		return
	}
	for i, f := range p.o.Outside.Probe(list) {
		if f.Why == "" && p.secrets.Has(fmt.Sprint(f)) {
			f = found.Result{Why: "what it finds holds a secret"}
		}
		if plain, err := f.Plain(); err == nil {
			f = plain
		} else {
			f = found.Result{Why: err.Error()}
		}
		f.Of = list[i].Of
		p.o.Facts.Findings[list[i].Path] = f
		p.take(steps[i], f)
	}
}

// silent says why a step is not asked that could be.
func (p *Prober) silent(q plan.Probe) string {
	switch {
	case q.Conn != nil && p.o.Hosts.NoConnect:
		return "hosts are not asked (--no-connect)"
	case q.Conn != nil && p.problems.Found.HasErrors(): // nothing will run: no connection is made
		return plan.Mistaken
	case q.Conn != nil && q.Conn.Steers != "" && !p.plan.Trusts(q.Conn.Steers):
		return "it is reached with " + q.Conn.Steers + ", which only a trusted playbook may have before approval"
	}
	return ""
}

// take makes of a finding what the step registers.
func (p *Prober) take(step int, f found.Result) {
	if f.Why != "" {
		p.results[step] = nil
		p.plan.Ahead.Unasked[step] = plan.FirstLine(f.Why)
		return
	}
	s := &p.plan.Steps[step]
	open := value.Unknown{Steps: []int{step}}
	pieces := plan.Result{
		Dialect: p.plan.Dialect, RC: f.RC, Stdout: plan.Output{Text: f.Stdout}, Stderr: plan.Output{Text: f.Stderr}, Attempts: 1,
		Retries: s.Retry.Max, Changed: holds(s.Task.Changed), Fields: conceal(f.Fields, open).(map[string]any),
	}
	if len(s.Task.Failed) > 0 {
		pieces.FailedWhen = new(bool)
	}
	r := pieces.Registered()
	for _, name := range []string{"start", "end", "delta", "duration_ms", "attempts"} { // of the run
		if _, ok := r[name]; ok {
			r[name] = open
		}
	}
	f.Path = p.probes[step].Path
	p.results[step], p.plan.Ahead.Findings[step] = r, f
}

// conceal leaves open what a finding does not keep.
func conceal(v any, open value.Unknown) any {
	switch v := v.(type) {
	case found.Fields:
		return conceal(map[string]any(v), open)
	case map[string]any:
		m := make(map[string]any, len(v)+1)
		for key := range v {
			m[key] = conceal(v[key], open)
		}
		if found.Withheld(m) {
			m["checksum"] = open
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = conceal(v[i], open)
		}
		return list
	}
	return v
}
