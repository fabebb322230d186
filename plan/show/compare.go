package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"moon/internal/diag"
	"moon/internal/people"
	"moon/plan"
)

// Comparable is what of a plan is compared with another: plain texts, without what every edit shifts, such as ids and
// lines. A plan gives it, and so does a plan document.
type Comparable struct {
	Digest   string
	RootFile string
	Steps    []Compared // in plan order
	Scopes   []Compared // those that say more than their steps
	Vars     map[string]string
	Inputs   map[string]string // digests by path
	Settings map[string]string // of the playbook as a whole
}

// Compared is one step or scope. Fields are by name: args.mode, env.PATH, when …
type Compared struct {
	Path   string // its identity
	ID     string // step-0003; "" for a scope
	Title  string
	At     string // file:line
	Digest string // "" for a scope
	Fields map[string]string
}

// ComparableOf is a plan as it is compared.
func ComparableOf(p *plan.Plan) (*Comparable, error) {
	var doc bytes.Buffer
	if err := WriteJSON(&doc, p, nil); err != nil {
		return nil, err
	}
	return ReadComparable(doc.Bytes())
}

// document is what a comparison reads of a plan document, saved or printed.
type document struct {
	Format   int            `json:"format"`
	Digest   string         `json:"digest"`
	RootFile string         `json:"root_file"`
	Name     string         `json:"name"`
	Strategy string         `json:"strategy"`
	Inputs   []inputJSON    `json:"inputs"`
	Vars     map[string]any `json:"vars"`
	Steps    []stepJSON     `json:"steps"`
	Scopes   []scopeJSON    `json:"scopes"`
}

// ReadComparable reads a plan document: moon plan -o, or --format json. The error says what is wrong with it in words for the
// user.
func ReadComparable(doc []byte) (*Comparable, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(doc))
	// Numbers keep their digits: as floats, large ones would compare equal.
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, notAPlan(doc, err)
	}
	// Two plans in one file would be compared by the first alone.
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the plan; one document is expected")
	}
	switch {
	case d.Format == 0 || d.RootFile == "" || d.Steps == nil:
		return nil, errors.New("this JSON is not a plan; make one with moon plan -o FILE")
	case d.Format != plan.Format:
		return nil, fmt.Errorf("this plan has format %d; this moon reads format %d", d.Format, plan.Format)
	}
	c := &Comparable{
		Digest: d.Digest, RootFile: d.RootFile, Vars: map[string]string{}, Inputs: map[string]string{},
		Settings: map[string]string{},
	}
	for name, v := range d.Vars {
		c.Vars[name] = comparedText(v)
	}
	for _, in := range d.Inputs {
		c.Inputs[in.Path] = in.Digest
	}
	setField(c.Settings, "name", d.Name)
	setField(c.Settings, "strategy", d.Strategy)
	paths := make(map[string]string, len(d.Steps))
	for i := range d.Steps {
		paths[d.Steps[i].ID] = d.Steps[i].Path
	}
	loops := map[int]bool{}
	for i := range d.Scopes {
		loops[d.Scopes[i].ID] = d.Scopes[i].Kind == plan.ScopeLoop
	}
	for i := range d.Steps {
		c.Steps = append(c.Steps, comparedStep(&d.Steps[i], paths, loops[d.Steps[i].Scope]))
	}
	for i := range d.Scopes {
		c.Scopes = append(c.Scopes, comparedScope(&d.Scopes[i]))
	}
	return c, nil
}

// notAPlan words what the JSON decoder found.
func notAPlan(doc []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(doc)) == 0:
		return errors.New("the file is empty; make one with moon plan -o FILE")
	case errors.As(err, &typ):
		return fmt.Errorf("this JSON is not a plan: `%s` is a %s (line %d)", typ.Field, typ.Value, lineAt(doc, typ.Offset))
	case errors.As(err, &syntax):
		return fmt.Errorf("this is not JSON (line %d); make one with moon plan -o FILE", lineAt(doc, syntax.Offset))
	}
	return errors.New("the JSON ends too early; the plan was cut")
}

func lineAt(doc []byte, offset int64) int {
	return bytes.Count(doc[:min(int(offset), len(doc))], []byte("\n")) + 1
}

// comparedStep is what counts of a step. The item of a loop does for a step that is an item itself: one inside a looped include
// is changed only by what it uses of the item, which its other fields show.
func comparedStep(s *stepJSON, paths map[string]string, isItem bool) Compared {
	c := Compared{
		Path: s.Path, ID: s.ID, Title: s.Name, Digest: s.Digest,
		At: diag.Origin{File: s.Origin.File, Line: s.Origin.Line}.String(), Fields: map[string]string{},
	}
	f := c.Fields
	// Fields have flat names, so that two plans are compared name by name.
	for name, v := range s.Args {
		f["args."+name] = comparedText(v)
	}
	for name, v := range s.Env {
		f["env."+name] = v
	}
	maps.Copy(f, s.Policy)
	if b := s.Become; b != nil {
		f["become"] = (&plan.Become{User: b.User, Method: b.Method, Flags: b.Flags}).String()
	}
	if s.Undo != nil {
		setField(f, "undo", s.Undo.Action)
		for name, v := range s.Undo.Args {
			f["undo."+name] = comparedText(v)
		}
	}
	setField(f, "name", s.Name)
	setField(f, "action", s.Action)
	setField(f, "cwd", s.Cwd)
	setField(f, "when", s.When)
	setField(f, "prediction", string(s.Prediction))
	setField(f, "register", s.Register)
	setField(f, "tags", strings.Join(s.Tags, ", "))
	setField(f, "confirm", (*people.Demand)(s.Confirmers).Asked(s.Confirm, nil))
	setField(f, "host", s.Host)
	setField(f, "delegated to", s.Delegate)
	setField(f, "connection", s.Connection)
	var notifiers []string
	// By path: ids are numbers and change when a step is inserted above.
	for _, id := range s.NotifiedBy {
		notifiers = append(notifiers, paths[id])
	}
	setField(f, "notified by", strings.Join(notifiers, ", "))
	switch {
	case s.Skipped:
		f["excluded by"] = plan.ByTags
	case s.LeftOut != "":
		f["excluded by"] = s.LeftOut
	}
	var needs, unknown []string
	for _, n := range s.Needs {
		path := paths[n.Step]
		if n.Scope != "" {
			path = n.Scope
		}
		needs = append(needs, path+" ("+n.On+")")
	}
	setField(f, "needs", strings.Join(needs, ", "))
	for _, u := range s.Unknowns {
		unknown = append(unknown, u.Name+" in "+u.Field)
	}
	setField(f, "known later", strings.Join(unknown, ", "))
	if s.LoopContext != nil && isItem {
		f["item"] = comparedText(s.LoopContext.Item)
	}
	for _, r := range s.Reads {
		switch {
		case r.Secret:
			f[readsField+r.Path] = "not shown"
		case r.Absent:
			f[readsField+r.Path] = "not there"
		default:
			f[readsField+r.Path] = shortDigest(r.Digest)
		}
	}
	// Digests say that a template renders differently, and the variables say why.
	if s.Renders != nil {
		f[rendersField] = shortDigest(s.Renders.Digest)
		for name, digest := range s.Renders.Variables {
			f[rendersField+" with "+name] = digest
		}
	}
	if c.Title == "" {
		// A step without a name is shown by what it does.
		c.Title = s.Action
		for _, name := range []string{"cmd", "msg", "that", "dest", "path", "argv"} {
			if text := f["args."+name]; text != "" {
				c.Title += ": " + plan.FirstLine(text)
				break
			}
		}
	}
	return c
}

// What a difference calls the files that a step reads, and what its template comes to.
const (
	readsField   = "reads "
	rendersField = "renders"
)

func comparedScope(s *scopeJSON) Compared {
	c := Compared{
		Path: s.Path, Title: string(s.Kind) + " " + s.Name, At: diag.Origin{File: s.Origin.File, Line: s.Origin.Line}.String(),
		Fields: map[string]string{},
	}
	setField(c.Fields, "when", s.When)
	setField(c.Fields, "skipped", s.Skipped)
	setField(c.Fields, "loop", s.Loop)
	switch {
	case s.Parallel == plan.Unlimited:
		c.Fields["parallel"] = "true"
	case s.Parallel > 0:
		c.Fields["parallel"] = strconv.Itoa(s.Parallel)
	}
	setField(c.Fields, "timeout", s.Timeout)
	return c
}

func setField(fields map[string]string, name, text string) {
	if text != "" {
		fields[name] = text
	}
}

// comparedText is a value as text. Text stays as it is; anything else is JSON, whose keys are sorted.
func comparedText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
