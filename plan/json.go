package plan

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

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
	Lacks       *lacksJSON        `json:"lacks,omitempty"`
	Confirm     string            `json:"confirm,omitempty"`
	Policy      map[string]string `json:"policy,omitempty"`
	Needs       []needJSON        `json:"needs,omitempty"`
	Become      *becomeJSON       `json:"become,omitempty"`
	Undo        *undoJSON         `json:"undo,omitempty"`
	Plugin      *pluginJSON       `json:"plugin,omitempty"`
	Reads       []readJSON        `json:"reads,omitempty"`
	Renders     *rendersJSON      `json:"renders,omitempty"`
	Unknowns    []unknownJSON     `json:"unknowns"`
	Origin      originJSON        `json:"origin"`
	LoopContext *loopJSON         `json:"loop_context,omitempty"`
	Host        string            `json:"host"`
	Delegate    string            `json:"delegate,omitempty"`
	Connection  string            `json:"connection,omitempty"`
	Role        string            `json:"role,omitempty"`
	Handler     bool              `json:"handler,omitempty"`
	NotifiedBy  []string          `json:"notified_by,omitempty"`
	Gates       []gateJSON        `json:"gates,omitempty"`
	Scope       int               `json:"scope"`
	Foretold    any               `json:"foretold,omitempty"`
}

// lacksJSON is the value for lack of which a step will be skipped.
type lacksJSON struct {
	Name   string   `json:"name"`
	Steps  []string `json:"steps"` // that would give it
	Reason string   `json:"reason"`
}

// gateJSON is a step that decides whether another is there: if it ran, or, where ran is false, if it was skipped.
type gateJSON struct {
	Step string `json:"step"`
	Ran  bool   `json:"ran"`
}

type becomeJSON struct {
	User   string `json:"user"`
	Method string `json:"method"`
}

type pluginJSON struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Needs   string `json:"needs,omitempty"`
}

type undoJSON struct {
	Action string         `json:"action"`
	Args   map[string]any `json:"args"`
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
	Pattern  string     `json:"pattern,omitempty"`
	Hosts    []string   `json:"hosts,omitempty"`
	Strategy string     `json:"strategy,omitempty"`
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
	Others   int      `json:"others,omitempty"`
}

// WriteJSON writes the plan as a document: indented, with a newline at its end, its fields in the documented order. graph
// is the execution graph's own JSON. It is written step by step, because the text of a large plan takes several times
// the room of the plan.
func (p *Plan) WriteJSON(w io.Writer, graph []byte) error { return p.WriteForetoldJSON(w, graph, nil) }

// WriteForetoldJSON is WriteJSON with what steps would do, nil for those of which nothing is known. foretold may be nil.
func (p *Plan) WriteForetoldJSON(w io.Writer, graph []byte, foretold func(step int) any) error {
	d := newDocument(w)
	d.field("format", p.Format)
	d.field("digest", p.Digest)
	d.field("root", p.Root)
	p.body(d, graph, foretold)
	d.field("diagnostics", DiagnosticsJSON(p.Diagnostics))
	return d.end()
}

// WriteSaved writes the plan as a file that it can be read from again: the document with the version of moon that made
// it, and with its sources. It is the same, byte for byte, whenever and wherever the same files are planned with the
// same facts, but for its third line, which is the root. What only warns is left out: it may be another tomorrow.
func (p *Plan) WriteSaved(w io.Writer, graph []byte, moon string) error {
	sources, err := p.Sources()
	if err != nil {
		return err
	}
	seal := sha256.New()
	d := newDocument(w)
	d.seal = seal
	d.field("format", p.Format)
	d.seal = nil
	d.field("root", p.Root)
	d.seal = seal
	d.field("moon", moon)
	d.field("digest", p.Digest)
	p.body(d, graph, nil)
	d.field("sources", sources)
	d.field("seal", hex.EncodeToString(seal.Sum(nil)))
	return d.end()
}

func (p *Plan) body(d *documentWriter, graph []byte, foretold func(step int) any) {
	d.field("root_file", p.RootFile)
	if p.Name != "" {
		d.field("name", p.Name)
	}
	if p.Strategy != "" {
		d.field("strategy", p.Strategy)
	}
	d.field("tags", orEmpty(p.Tags))
	inputs := make([]inputJSON, len(p.Inputs))
	for i, in := range p.Inputs {
		inputs[i] = inputJSON(in)
	}
	d.field("inputs", inputs)
	vars := make(map[string]any, len(p.Vars))
	for _, v := range p.Vars {
		vars[v.Name] = p.portable(jsonValue(v.Value))
	}
	d.field("vars", vars)
	if len(p.Exports) > 0 {
		exports := make(map[string]any, len(p.Exports))
		for _, x := range p.Exports {
			exports[x.Name] = p.portable(jsonValue(x.Value))
		}
		d.field("exports", exports)
	}
	d.list("steps", len(p.Steps), func(i int) any {
		s := p.stepJSON(&p.Steps[i])
		if foretold != nil {
			s.Foretold = foretold(i)
		}
		return s
	})
	d.list("scopes", len(p.Scopes), func(i int) any { return p.scopeJSON(p.Scopes[i]) })
	d.name("graph")
	if graph == nil { // as it is for a comparison
		graph = []byte("null")
	}
	d.took(json.Indent(&d.room, graph, "  ", "  "))
}

// documentWriter writes a JSON object field by field, as json.MarshalIndent would have written it at once.
type documentWriter struct {
	w     *bufio.Writer
	seal  hash.Hash // also gets what is written; may be nil
	enc   *json.Encoder
	room  bytes.Buffer // what is being written
	began bool
	err   error
}

func newDocument(w io.Writer) *documentWriter {
	d := &documentWriter{w: bufio.NewWriterSize(w, 64<<10)}
	d.enc = json.NewEncoder(&d.room)
	return d
}

func (d *documentWriter) text(parts ...string) {
	for _, s := range parts {
		d.room.WriteString(s)
	}
	d.took(nil)
}

// took writes what is in the room, unless putting it there has failed.
func (d *documentWriter) took(err error) {
	if d.err = cmp.Or(d.err, err); d.err == nil {
		_, d.err = d.w.Write(d.room.Bytes())
	}
	if d.seal != nil {
		_, _ = d.seal.Write(d.room.Bytes()) // a hash takes everything
	}
	d.room.Reset()
}

func (d *documentWriter) name(name string) {
	if d.began {
		d.text(",\n  ")
	} else {
		d.text("{\n  ")
	}
	d.began = true
	d.text(strconv.Quote(name), ": ")
}

func (d *documentWriter) field(name string, v any) {
	d.name(name)
	d.value(v, "  ")
}

func (d *documentWriter) value(v any, indent string) {
	d.enc.SetIndent(indent, "  ")
	err := d.enc.Encode(v)
	d.room.Truncate(max(d.room.Len()-1, 0)) // Encode ends the line
	d.took(err)
}

func (d *documentWriter) list(name string, n int, item func(int) any) {
	d.name(name)
	if n == 0 {
		d.text("[]")
		return
	}
	for i := range n {
		if i == 0 {
			d.text("[\n    ")
		} else {
			d.text(",\n    ")
		}
		d.value(item(i), "    ")
	}
	d.text("\n  ]")
}

func (d *documentWriter) end() error {
	d.text("\n}\n")
	return cmp.Or(d.err, d.w.Flush())
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
	if l := s.Lacks; l != nil {
		j.Lacks = &lacksJSON{l.Name, p.ids(l.Steps), "uses " + l.Reason()}
	}
	for _, n := range s.Needs {
		j.Needs = append(j.Needs, needJSON{p.Steps[n.Step].ID(), n.On})
	}
	j.Args, _ = p.portable(jsonValue(s.Args)).(map[string]any)
	if j.Args == nil {
		j.Args = map[string]any{}
	}
	if s.Become != nil {
		j.Become = &becomeJSON{s.Become.User, s.Become.Method}
	}
	if s.Undo != nil {
		j.Undo = &undoJSON{Action: s.Undo.Action, Args: map[string]any{}}
		if args, ok := p.portable(jsonValue(s.Undo.Args)).(map[string]any); ok && args != nil {
			j.Undo.Args = args
		}
	}
	if a := p.plugins[s.Action]; a != nil {
		g := a.Plugin
		j.Plugin = &pluginJSON{Name: g.Name, Version: g.Version, Digest: g.Digest}
		if g.Path == "" {
			j.Plugin.Needs = "python"
		} else {
			j.Plugin.Path = shownPath(p.Root, g.Path)
		}
	}
	j.Delegate, j.Role, j.Handler = s.Delegate, s.Role, s.Handler
	j.Reads, j.Renders = p.readsJSON(s), p.rendersJSON(s)
	if s.Conn != nil {
		j.Connection = s.Conn.String()
	}
	for _, n := range s.Notifiers {
		j.NotifiedBy = append(j.NotifiedBy, p.Steps[n].ID())
	}
	for _, g := range s.Gates {
		j.Gates = append(j.Gates, gateJSON{p.Steps[g.Step].ID(), g.Ran})
	}
	for _, u := range s.Unknowns {
		j.Unknowns = append(j.Unknowns, unknownJSON{u.Field, u.Name, p.ids(u.Steps)})
	}
	if l := s.InnermostLoop(); l != nil {
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
		"sources": texts(k.src.Sources), "generates": texts(k.src.Generates),
		"creates": k.src.Creates.Text(), "removes": k.src.Removes.Text(), "unless": k.src.Unless.Text(), "onlyif": k.src.OnlyIf.Text(),
		"changed_when": whenText(k.changed), "failed_when": whenText(k.failed), "ignore_errors": whenText(k.ignore), "until": s.Retry.Until,
	}
	if s.Retry.Max > 0 {
		m["retries"], m["delay"] = strconv.Itoa(s.Retry.Max), s.Retry.Delay.String()
	}
	if s.Timeout > 0 {
		m["timeout"] = s.Timeout.String()
	}
	if s.Queued > 0 {
		m["timeout_queued"] = s.Queued.String()
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
	if s.Terminal {
		m["interactive"] = "true"
	}
	maps.DeleteFunc(m, func(_, text string) bool { return text == "" })
	return m
}

func (p *Plan) scopeJSON(s Scope) scopeJSON {
	j := scopeJSON{
		ID: s.ID, Kind: s.Kind, Parent: s.Parent, Name: s.Name, Path: s.Path, Steps: s.Steps(), When: s.When,
		Skipped: s.Skipped, Loop: s.Loop, Item: s.Item, Parallel: s.Parallel, Origin: originOf(s.Origin),
	}
	j.Strategy = s.Strategy
	if s.Play != nil {
		j.Pattern, j.Hosts = s.Play.Pattern, s.Play.Hosts
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
	case eval.Secret:
		return v.String()
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
	case *eval.Dict:
		return jsonValue(eval.Ordinary(v))
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
		list = append(list, diagnosticJSON{d.Severity.String(), d.Pos.File, d.Pos.Line, d.Pos.Column, d.Message, d.Hint, d.Chain, d.Others})
	}
	return list
}
