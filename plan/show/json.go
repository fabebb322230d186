package show

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/saved"
)

type inputJSON struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

type importJSON struct {
	Name  string `json:"name"`
	From  string `json:"from"`
	Run   string `json:"run,omitempty"`
	Value any    `json:"value"`
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
	Step  string `json:"step,omitempty"`
	Scope string `json:"scope,omitempty"`
	On    string `json:"on"`
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
	Prediction  plan.Prediction   `json:"prediction"`
	Lacks       *lacksJSON        `json:"lacks,omitempty"`
	Confirm     string            `json:"confirm,omitempty"`
	Confirmers  *confirmersJSON   `json:"confirmers,omitempty"`
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
	IfNamed     []string          `json:"notified_if_named,omitempty"`
	Flushes     []flushJSON       `json:"flushes,omitempty"`
	Gates       []gateJSON        `json:"gates,omitempty"`
	Scope       int               `json:"scope"`
	Place       *placeJSON        `json:"place,omitempty"`
	Approve     string            `json:"approve,omitempty"`
	Predicted   any               `json:"foretold,omitempty"`
}

// documentJSON is the plan document as a whole. It is written field by field, so this is only read: by what describes it.
type documentJSON struct {
	Format      int              `json:"format"`
	Digest      string           `json:"digest"`
	Root        string           `json:"root"`
	PredictedAt time.Time        `json:"predicted_at,omitzero"`
	RootFile    string           `json:"root_file"`
	Name        string           `json:"name,omitempty"`
	Strategy    string           `json:"strategy,omitempty"`
	Tags        []string         `json:"tags"`
	Inputs      []inputJSON      `json:"inputs"`
	Vars        map[string]any   `json:"vars"`
	Orphans     []orphanJSON     `json:"orphans,omitempty"`
	Imports     []importJSON     `json:"imports,omitempty"`
	Exports     map[string]any   `json:"exports,omitempty"`
	Steps       []stepJSON       `json:"steps"`
	Scopes      []scopeJSON      `json:"scopes"`
	Graph       json.RawMessage  `json:"graph"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

// DocumentType is the type of the plan document, for what describes it.
func DocumentType() reflect.Type { return reflect.TypeFor[documentJSON]() }

// approveText is what a plan has where `approve: expanded` is in effect.
func approveText(approves bool) string {
	if approves {
		return "expanded"
	}
	return ""
}

// placeJSON is a place of the plan whose steps the run finds, and what has become of it.
type placeJSON struct {
	Kind   string `json:"kind"`
	Action string `json:"action"` // of the steps that it adds
	Open   bool   `json:"open"`
	Items  *int   `json:"items,omitempty"` // that were found
}

func placeOf(s *plan.Step) *placeJSON {
	if s.Place == nil {
		return nil
	}
	place := &placeJSON{Kind: s.Action, Action: s.Place.Action, Open: s.Open()}
	if !place.Open {
		place.Items = &s.Place.Items
	}
	return place
}

// lacksJSON is the value for lack of which a step will be skipped.
type lacksJSON struct {
	Name   string   `json:"name"`
	Steps  []string `json:"steps"` // that would give it
	Reason string   `json:"reason"`
}

// gateJSON is a step that decides whether another is there: if it ran, or, where ran is false, if it was skipped.
// flushJSON is a place before where the same handler may have run, for the first of those that notify it.
type flushJSON struct {
	Step      string `json:"step"`
	Notifiers int    `json:"notifiers"`
}

type gateJSON struct {
	Step string `json:"step"`
	Ran  bool   `json:"ran"`
}

type becomeJSON struct {
	User   string `json:"user"`
	Method string `json:"method"`
	Flags  string `json:"flags,omitempty"`
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
	ID       int            `json:"id"`
	Kind     plan.ScopeKind `json:"kind"`
	Parent   int            `json:"parent"`
	Name     string         `json:"name"`
	Path     string         `json:"path"`
	First    string         `json:"first,omitempty"`
	Steps    int            `json:"steps"`
	When     string         `json:"when,omitempty"`
	Skipped  string         `json:"skipped,omitempty"`
	Loop     string         `json:"loop,omitempty"`
	Item     string         `json:"item,omitempty"`
	Parallel int            `json:"parallel,omitempty"`
	Timeout  string         `json:"timeout,omitempty"`
	Approve  string         `json:"approve,omitempty"`
	Pattern  string         `json:"pattern,omitempty"`
	Hosts    []string       `json:"hosts,omitempty"`
	Strategy string         `json:"strategy,omitempty"`
	Origin   originJSON     `json:"origin"`
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
// gives the execution graph's own JSON; nil: the plan is only compared, and has none. It is written step by step, because the text of
// a large plan takes several times the room of the plan.
func WriteJSON(w io.Writer, p *plan.Plan, graph func() ([]byte, error)) error {
	return WritePredictionsJSON(w, p, graph, time.Time{}, nil)
}

// WritePredictionsJSON is WriteJSON with what steps would do, nil for those of which nothing is known. predicted may be nil. made is
// when they were predicted, if that is not now.
func WritePredictionsJSON(w io.Writer, p *plan.Plan, graph func() ([]byte, error), made time.Time, predicted func(step int) any) error {
	d := newDocument(w)
	d.writeField("format", p.Format)
	d.writeField("digest", p.Digest)
	d.writeField("root", p.Root)
	if !made.IsZero() {
		d.writeField("predicted_at", made)
	}
	writeBody(d, p, graph, predicted)
	d.writeField("diagnostics", DiagnosticsJSON(p.Diagnostics))
	return d.endDocument()
}

// WriteSaved writes the plan as a file that it can be read from again: the document with the version of moon that made
// it, and with its sources. It is the same, byte for byte, whenever and wherever the same files are planned with the
// same facts, but for its third line, which is the root. What only warns is left out: it may be another tomorrow. predicted is what its
// steps were predicted to do, which is of the machine and of the time; nil: that is not in the file.
func WriteSaved(w io.Writer, p *plan.Plan, graph func() ([]byte, error), predicted any, moon string) error {
	sources, err := saved.Of(p)
	if err != nil {
		return err
	}
	seal := sha256.New()
	d := newDocument(w)
	d.seal = seal
	d.writeField("format", p.Format)
	// The root is not sealed: the file may be used in another directory.
	d.seal = nil
	d.writeField("root", p.Root)
	d.seal = seal
	d.writeField("moon", moon)
	d.writeField("digest", p.Digest)
	writeBody(d, p, graph, nil)
	if predicted != nil {
		d.writeField("predicted", predicted)
	}
	// Behind the body: what the seal covers must come before it.
	d.writeField("sources", sources)
	d.writeField("seal", hex.EncodeToString(seal.Sum(nil)))
	return d.endDocument()
}

func writeBody(d *documentWriter, p *plan.Plan, graph func() ([]byte, error), predicted func(step int) any) {
	// It is made while the steps are written.
	indented := make(chan graphText, 1)
	go func() { indented <- indentGraph(graph) }()
	d.writeField("root_file", p.RootFile)
	if p.Name != "" {
		d.writeField("name", p.Name)
	}
	if p.Strategy != "" {
		d.writeField("strategy", p.Strategy)
	}
	d.writeField("tags", orEmpty(p.Tags)) // never null: programs go through lists without looking
	inputs := make([]inputJSON, len(p.Inputs))
	for i, in := range p.Inputs {
		inputs[i] = inputJSON(in)
	}
	d.writeField("inputs", inputs)
	// Below the root paths are relative, so that the same files give the same bytes wherever they are.
	vars := make(map[string]any, len(p.Vars))
	for _, v := range p.Vars {
		vars[v.Name] = p.Portable(plan.JSONValue(v.Value))
	}
	d.writeField("vars", vars)
	if len(p.Orphans) > 0 {
		d.writeField("orphans", orphansJSON(p))
	}
	if len(p.Imports) > 0 {
		imports := make([]importJSON, len(p.Imports))
		for i, m := range p.Imports {
			imports[i] = importJSON{m.Name, m.From, m.Run, p.Portable(plan.JSONValue(m.Value))}
		}
		d.writeField("imports", imports)
	}
	if len(p.Exports) > 0 {
		exports := make(map[string]any, len(p.Exports))
		for _, x := range p.Exports {
			exports[x.Name] = p.Portable(plan.JSONValue(x.Value))
		}
		d.writeField("exports", exports)
	}
	// One at a time: the documents of all steps at once would be larger than the plan.
	writeList(d, "steps", len(p.Steps), func(i int) stepJSON {
		s := stepDocument(p, &p.Steps[i])
		if predicted != nil {
			s.Predicted = predicted(i)
		}
		return s
	})
	writeList(d, "scopes", len(p.Scopes), func(i int) scopeJSON { return scopeDocument(p, p.Scopes[i]) })
	d.writeName("graph")
	made := <-indented
	d.room.Write(made.text.Bytes())
	d.noteError(made.err)
}

// graphText is the execution graph as it stands in a document.
type graphText struct {
	text bytes.Buffer
	err  error
}

func indentGraph(graph func() ([]byte, error)) (t graphText) {
	compact := []byte("null")
	if graph != nil {
		if compact, t.err = graph(); t.err != nil {
			return t
		}
	}
	t.text.Grow(3 * len(compact)) // half of it is indentation
	t.text.Write(appendIndented(t.text.AvailableBuffer(), compact, "  "))
	return t
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

func (d *documentWriter) writeText(parts ...string) {
	for _, s := range parts {
		d.room.WriteString(s)
	}
	d.noteError(nil)
}

// noteError writes what is in the room, unless putting it there has failed.
func (d *documentWriter) noteError(err error) {
	if d.err = cmp.Or(d.err, err); d.err == nil {
		_, d.err = d.w.Write(d.room.Bytes())
	}
	if d.seal != nil {
		_, _ = d.seal.Write(d.room.Bytes()) // a hash takes everything
	}
	d.room.Reset()
}

func (d *documentWriter) writeName(name string) {
	if d.began {
		d.writeText(",\n  ")
	} else {
		d.writeText("{\n  ")
	}
	d.began = true
	d.writeText(strconv.Quote(name), ": ")
}

func (d *documentWriter) writeField(name string, v any) {
	d.writeName(name)
	d.writeValue(v, "  ")
}

func (d *documentWriter) writeValue(v any, indent string) {
	d.enc.SetIndent(indent, "  ")
	err := d.enc.Encode(v)
	d.room.Truncate(max(d.room.Len()-1, 0)) // Encode ends the line
	d.noteError(err)
}

// writeList writes a list whose items are made one at a time, several at once: making and writing one asks nothing of the others.
func writeList[T any](d *documentWriter, name string, n int, item func(int) T) {
	d.writeName(name)
	if n == 0 {
		d.writeText("[]")
		return
	}
	d.writeText("[\n    ")
	batches := make(chan chan *batch[T], runtime.GOMAXPROCS(0))
	written := make(chan *batch[T], cap(batches)+1) // to be used again
	go func() {
		defer close(batches)
		for from := 0; from < n; from += batchSize {
			var b *batch[T]
			select {
			case b = <-written:
			default:
				b = newBatch[T]()
			}
			made := make(chan *batch[T], 1)
			batches <- made // which waits while as many are made as there are processors
			go func() {
				b.fill(from, min(from+batchSize, n), item)
				made <- b
			}()
		}
	}()
	for made := range batches {
		b := <-made
		d.room.Write(b.text.Bytes())
		d.noteError(b.err)
		select {
		case written <- b:
		default:
		}
	}
	d.writeText("\n  ]")
}

// batchSize is how many items of a list are written at a time.
const batchSize = 128

// batch is the text of some items of a list.
type batch[T any] struct {
	text    bytes.Buffer
	compact bytes.Buffer // the item at hand
	enc     *json.Encoder
	item    T
	err     error
}

func newBatch[T any]() *batch[T] {
	b := new(batch[T])
	b.enc = json.NewEncoder(&b.compact)
	return b
}

func (b *batch[T]) fill(from, to int, item func(int) T) {
	b.text.Reset()
	for i := from; i < to && b.err == nil; i++ {
		if i > 0 {
			b.text.WriteString(",\n    ")
		}
		b.item = item(i)
		b.compact.Reset()
		b.err = b.enc.Encode(&b.item)
		b.text.Grow(3 * b.compact.Len())
		b.text.Write(appendIndented(b.text.AvailableBuffer(), bytes.TrimSuffix(b.compact.Bytes(), []byte("\n")), "    ")) // Encode ends the line
	}
}

func (d *documentWriter) endDocument() error {
	d.writeText("\n}\n")
	return cmp.Or(d.err, d.w.Flush())
}

func stepDocument(p *plan.Plan, s *plan.Step) stepJSON {
	j := stepJSON{
		ID: s.ID(), Path: s.Path, Digest: s.Digest, Name: s.Name, Action: s.Action, Env: s.Env,
		// Paths are shown as they are relative to the root, or two checkouts of one playbook would differ.
		Cwd: p.Shown(s.Cwd), When: s.When, Register: s.Register, Place: placeOf(s), Approve: approveText(s.Approves), Tags: orEmpty(s.Tags),
		Skipped:    s.ExcludedBy == plan.ByTags,
		Prediction: s.Prediction, Confirm: s.Confirm, Confirmers: (*confirmersJSON)(s.Confirmers), Unknowns: []unknownJSON{},
		Origin: originOf(s.Origin),
		Host:   s.Host, Scope: s.Scope, Policy: policyOf(s),
	}
	if s.Deselected() {
		j.LeftOut = s.ExcludedBy
	}
	if l := s.Lacks; l != nil {
		j.Lacks = &lacksJSON{l.Name, idsOf(p, l.Steps), "uses " + l.Reason()}
	}
	j.Needs = needsDocument(p, p.NeedsOf(s.Index))
	j.Args, _ = p.Portable(plan.JSONValue(s.Args)).(map[string]any)
	if j.Args == nil {
		j.Args = map[string]any{}
	}
	if s.Become != nil {
		j.Become = &becomeJSON{s.Become.User, s.Become.Method, s.Become.Flags}
	}
	if s.Undo != nil {
		j.Undo = &undoJSON{Action: s.Undo.Action, Args: map[string]any{}}
		if args, ok := p.Portable(plan.JSONValue(s.Undo.Args)).(map[string]any); ok && args != nil {
			j.Undo.Args = args
		}
	}
	// A plugin's digest is part of the plan: another program is another plan.
	if a := p.Plugin(s.Action); a != nil {
		g := a.Plugin
		j.Plugin = &pluginJSON{Name: g.Name, Version: g.Version, Digest: g.Digest}
		if g.NeedsPython() {
			j.Plugin.Needs = "python"
		}
		if g.Path != "" {
			j.Plugin.Path = p.Shown(g.Path)
		}
	}
	j.Delegate, j.Role, j.Handler = s.Delegate, s.Role, s.Handler
	j.Reads, j.Renders = readsOf(p, s), rendersOf(p, s)
	if s.Conn != nil {
		j.Connection = s.Conn.String()
	}
	for _, n := range s.Notifiers {
		j.NotifiedBy = append(j.NotifiedBy, p.Steps[n].ID())
		if s.NamedOnly(n) {
			j.IfNamed = append(j.IfNamed, p.Steps[n].ID())
		}
	}
	for _, f := range s.Flushes {
		j.Flushes = append(j.Flushes, flushJSON{p.Steps[f.Step].ID(), f.Notifiers})
	}
	for _, g := range s.Gates {
		for step := g.Step; step < g.End(); step++ {
			j.Gates = append(j.Gates, gateJSON{p.Steps[step].ID(), g.Ran})
		}
	}
	for _, u := range s.Unknowns {
		j.Unknowns = append(j.Unknowns, unknownJSON{u.Field, u.Name, idsOf(p, u.Steps)})
	}
	if l := s.InnermostLoop(); l != nil {
		j.LoopContext = &loopJSON{l.Type, p.Portable(plan.JSONValue(l.Item)), l.Index, l.First, l.Last, l.Depth, l.Expression}
	}
	return j
}

// YAML is a plan document as YAML, with the same keys and values.
func YAML(doc []byte) ([]byte, error) { return playbook.YAML(doc) }

func needsDocument(p *plan.Plan, needs []plan.Need) (list []needJSON) {
	for _, n := range needs {
		if n.Scope > 0 {
			list = append(list, needJSON{Scope: p.Scopes[n.Scope].Path, On: n.On})
			continue
		}
		list = append(list, needJSON{Step: p.Steps[n.Step].ID(), On: n.On})
	}
	return list
}

func scopeDocument(p *plan.Plan, s plan.Scope) scopeJSON {
	j := scopeJSON{
		ID: s.ID, Kind: s.Kind, Parent: s.Parent, Name: s.Name, Path: s.Path, Steps: s.Steps(), When: s.When,
		Skipped: s.Skipped, Loop: s.Loop, Item: s.Item, Parallel: s.Parallel, Approve: approveText(s.Approves), Origin: originOf(s.Origin),
	}
	j.Strategy, j.Timeout = s.Strategy, s.TimeoutText()
	if s.Play != nil {
		j.Pattern, j.Hosts = s.Play.Pattern, s.Play.Hosts
	}
	if s.Steps() > 0 {
		j.First = p.Steps[s.First].ID()
	}
	return j
}

func idsOf(p *plan.Plan, steps []int) []string {
	list := []string{}
	for _, s := range steps {
		list = append(list, p.Steps[s].ID())
	}
	return list
}

func originOf(o diag.Origin) originJSON {
	return originJSON{o.File, o.Line, o.Column, orEmpty(o.Chain)}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// DiagnosticsJSON is a list of diagnostics in the documented form.
func DiagnosticsJSON(ds diag.List) []diagnosticJSON {
	list := []diagnosticJSON{}
	for _, d := range ds {
		list = append(list, diagnosticJSON{d.Severity.String(), d.Pos.File, d.Pos.Line, d.Pos.Column, d.Message, d.Hint, d.Chain, d.Others})
	}
	return list
}

// readJSON is a file that a step reads, in the plan document.
type readJSON struct {
	Path   string `json:"path"`
	Digest string `json:"digest,omitempty"`
	Absent bool   `json:"absent,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}

// rendersJSON is what a template comes to, and digests of the variables it uses, so that a difference can name them.
type rendersJSON struct {
	Digest    string            `json:"digest"`
	Variables map[string]string `json:"variables,omitempty"`
}

func readsOf(p *plan.Plan, s *plan.Step) (reads []readJSON) {
	if s.NoLog {
		return nil
	}
	for _, r := range s.Reads {
		j := readJSON{Path: p.Shown(r.Path), Digest: r.Digest, Absent: r.Digest == "" && !r.Hidden, Secret: r.Hidden}
		// The digest of a secret would let it be guessed.
		if r.Hidden {
			j.Digest = ""
		}
		reads = append(reads, j)
	}
	return reads
}

func rendersOf(p *plan.Plan, s *plan.Step) *rendersJSON {
	if s.NoLog || renderedDigest(s) == "" {
		return nil
	}
	j := &rendersJSON{Digest: renderedDigest(s), Variables: map[string]string{}}
	for _, u := range s.Uses {
		switch v := plan.JSONValue(u.Value).(type) {
		case nil, bool, string, int, float64, []any, map[string]any:
			// Without the root in it, and too short to recover the value from.
			sum := sha256.Sum256([]byte(strings.ReplaceAll(value.Text(v), p.Root, "")))
			j.Variables[u.Name] = hex.EncodeToString(sum[:4])
		}
	}
	return j
}

// confirmersJSON is who has to confirm a step.
type confirmersJSON struct {
	By    int    `json:"by"`
	Group string `json:"group,omitempty"`
}
