package plan

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"moon/plan/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// document is the plan's JSON form. Its field order is the documented one.
type document struct {
	Format      int              `json:"format"`
	Digest      string           `json:"digest"`
	Root        string           `json:"root"`
	RootFile    string           `json:"root_file"`
	Name        string           `json:"name,omitempty"`
	Strategy    string           `json:"strategy,omitempty"`
	Tags        []string         `json:"tags"`
	Inputs      []inputJSON      `json:"inputs"`
	Vars        map[string]any   `json:"vars"`
	Steps       []stepJSON       `json:"steps"`
	Scopes      []scopeJSON      `json:"scopes"`
	Graph       json.RawMessage  `json:"graph"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

type inputJSON struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

type originJSON struct {
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Column int      `json:"column"`
	Chain  []string `json:"chain"`
}

type loopJSON struct {
	Type       string `json:"type"`
	Item       any    `json:"item"`
	Index      int    `json:"index"`
	First      bool   `json:"first"`
	Last       bool   `json:"last"`
	Depth      int    `json:"depth"`
	Expression string `json:"expression"`
}

type needJSON struct {
	Step string `json:"step"`
	On   string `json:"on"`
}

type unknownJSON struct {
	Field string   `json:"field"`
	Name  string   `json:"name"`
	Steps []string `json:"steps"`
}

type stepJSON struct {
	ID          string            `json:"id"`
	Path        string            `json:"path"`
	Digest      string            `json:"digest"`
	Name        string            `json:"name"`
	Action      string            `json:"action"`
	Args        map[string]any    `json:"args"`
	Env         map[string]string `json:"env,omitempty"`
	Cwd         string            `json:"cwd"`
	When        string            `json:"when,omitempty"`
	Register    string            `json:"register,omitempty"`
	Tags        []string          `json:"tags"`
	Skipped     bool              `json:"skipped"`
	LeftOut     string            `json:"left_out,omitempty"`
	Prediction  Prediction        `json:"prediction"`
	Confirm     string            `json:"confirm,omitempty"`
	Policy      map[string]string `json:"policy,omitempty"`
	Needs       []needJSON        `json:"needs,omitempty"`
	Unknowns    []unknownJSON     `json:"unknowns"`
	Origin      originJSON        `json:"origin"`
	LoopContext *loopJSON         `json:"loop_context,omitempty"`
	Host        string            `json:"host"`
	Scope       int               `json:"scope"`
}

type scopeJSON struct {
	ID       int        `json:"id"`
	Kind     ScopeKind  `json:"kind"`
	Parent   int        `json:"parent"`
	Name     string     `json:"name"`
	Path     string     `json:"path"`
	First    string     `json:"first,omitempty"`
	Steps    int        `json:"steps"`
	When     string     `json:"when,omitempty"`
	Skipped  string     `json:"skipped,omitempty"`
	Loop     string     `json:"loop,omitempty"`
	Item     string     `json:"item,omitempty"`
	Parallel int        `json:"parallel,omitempty"`
	Origin   originJSON `json:"origin"`
}

type diagnosticJSON struct {
	Severity string   `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Chain    []string `json:"chain,omitempty"`
}

// JSON is the plan as a document, indented, with a newline at its end. graph is the execution graph's own JSON.
func (p *Plan) JSON(graph []byte) ([]byte, error) {
	d := document{
		Format: p.Format, Digest: p.Digest, Root: p.Root, RootFile: p.RootFile, Name: p.Name, Strategy: p.Strategy, Tags: orEmpty(p.Tags),
		Inputs: []inputJSON{}, Vars: map[string]any{}, Steps: []stepJSON{}, Scopes: []scopeJSON{}, Graph: graph,
		Diagnostics: DiagnosticsJSON(p.Diagnostics),
	}
	if graph == nil {
		d.Graph = json.RawMessage("null")
	}
	for _, in := range p.Inputs {
		d.Inputs = append(d.Inputs, inputJSON(in))
	}
	for _, v := range p.Vars {
		d.Vars[v.Name] = p.portable(jsonValue(v.Value))
	}
	for i := range p.Steps {
		d.Steps = append(d.Steps, p.stepJSON(&p.Steps[i]))
	}
	for _, s := range p.Scopes {
		d.Scopes = append(d.Scopes, p.scopeJSON(s))
	}
	out, err := json.MarshalIndent(d, "", "  ")
	return append(out, '\n'), err
}

func (p *Plan) stepJSON(s *Step) stepJSON {
	j := stepJSON{
		ID: s.ID(), Path: s.Path, Digest: s.Digest, Name: s.Name, Action: s.Action, Env: s.Env,
		Cwd: shownPath(p.Root, s.Cwd), When: s.When, Register: s.Register, Tags: orEmpty(s.Tags), Skipped: s.ExcludedBy == ByTags,
		Prediction: s.Prediction, Confirm: s.Confirm, Unknowns: []unknownJSON{}, Origin: originOf(s.Origin),
		Host: s.Host, Scope: s.Scope, Policy: s.policy(),
	}
	if s.deselected() {
		j.LeftOut = s.ExcludedBy
	}
	for _, n := range s.Needs {
		j.Needs = append(j.Needs, needJSON{p.Steps[n.Step].ID(), n.On})
	}
	j.Args, _ = p.portable(jsonValue(s.Args)).(map[string]any)
	if j.Args == nil {
		j.Args = map[string]any{}
	}
	for _, u := range s.Unknowns {
		j.Unknowns = append(j.Unknowns, unknownJSON{u.Field, u.Name, p.ids(u.Steps)})
	}
	if l := s.Loop; l != nil {
		j.LoopContext = &loopJSON{l.Type, p.portable(jsonValue(l.Item)), l.Index, l.First, l.Last, l.Depth, l.Expression}
	}
	return j
}

// YAML is a plan document as YAML, with the same keys and values.
func YAML(doc []byte) ([]byte, error) { return playbook.YAML(doc) }

// policy is what decides whether and how often the step runs and what its result means, under the keys of the playbook
// and as written there.
func (s *Step) policy() map[string]string {
	k := s.task
	m := map[string]string{
		"creates": k.src.Creates.Text(), "removes": k.src.Removes.Text(), "unless": k.src.Unless.Text(), "onlyif": k.src.OnlyIf.Text(),
		"changed_when": whenText(k.changed), "failed_when": whenText(k.failed), "ignore_errors": whenText(k.ignore), "until": s.Retry.Until,
	}
	if s.Retry.Max > 0 {
		m["retries"], m["delay"] = strconv.Itoa(s.Retry.Max), s.Retry.Delay.String()
	}
	if s.Timeout > 0 {
		m["timeout"] = s.Timeout.String()
	}
	if s.CheckMode != nil {
		m["check_mode"] = strconv.FormatBool(*s.CheckMode)
	}
	if s.NoDiff {
		m["diff"] = "false"
	}
	if s.NoLog {
		m["no_log"] = "true"
	}
	maps.DeleteFunc(m, func(_, text string) bool { return text == "" })
	return m
}

func (p *Plan) scopeJSON(s Scope) scopeJSON {
	j := scopeJSON{
		ID: s.ID, Kind: s.Kind, Parent: s.Parent, Name: s.Name, Path: s.Path, Steps: s.Steps(), When: s.When,
		Skipped: s.Skipped, Loop: s.Loop, Item: s.Item, Parallel: s.Parallel, Origin: originOf(s.Origin),
	}
	if s.Steps() > 0 {
		j.First = p.Steps[s.First].ID()
	}
	return j
}

func (p *Plan) ids(steps []int) []string {
	list := []string{}
	for _, s := range steps {
		list = append(list, p.Steps[s].ID())
	}
	return list
}

func originOf(o Origin) originJSON { return originJSON{o.File, o.Line, o.Column, orEmpty(o.Chain)} }

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// jsonValue turns a value into what JSON can say: an unknown one becomes null, a number keeps its value.
func jsonValue(v any) any {
	switch v := v.(type) {
	case eval.Unknown:
		return nil
	case eval.Number:
		return v.Value
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = jsonValue(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = jsonValue(v[k])
		}
		return m
	}
	return v
}

// portable makes paths below the playbook's directory relative to it, so that a plan does not depend on where it was
// made.
func (p *Plan) portable(v any) any {
	switch v := v.(type) {
	case string:
		if filepath.IsAbs(v) && (v == p.Root || strings.HasPrefix(v, p.Root+"/")) && !strings.ContainsAny(v, "\n") {
			return shownPath(p.Root, v)
		}
	case []any:
		for i := range v {
			v[i] = p.portable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = p.portable(v[k])
		}
	}
	return v
}

// DiagnosticsJSON is a list of diagnostics in the documented form.
func DiagnosticsJSON(ds diag.List) []diagnosticJSON {
	list := []diagnosticJSON{}
	for _, d := range ds {
		list = append(list, diagnosticJSON{d.Severity.String(), d.Pos.File, d.Pos.Line, d.Pos.Column, d.Message, d.Hint, d.Chain})
	}
	return list
}
