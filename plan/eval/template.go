package eval

import (
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
	"moon/secret"
)

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	engine   *Engine
	text     string
	literal  bool
	document bool
	tail     int                                                // the newlines at its end that its result gets back
	reads    bool                                               // a text may be the value of something else
	finish   func(t *Template, result Result, tags bool) Result // see ended; most templates of steps keep what they give

	// whole is set if the text is one {{ expression }}: its value keeps its type. root and path are set if that
	// expression is a plain path, which needs no evaluation.
	whole jinja.Node
	root  *jinja.Variable
	path  []any

	// parts are the pieces of a template without tags, tree is one with tags.
	parts []part
	tree  *jinja.Tree

	refs    []Ref
	ignored []Ignored
}

// part is text, or the output of an expression.
type part struct {
	text       string
	node       jinja.Node // nil for text
	start, end int        // of the output as written, which stands for it while it is open
}

// Result is what a template or expression gives.
type Result struct {
	// Value is the value if nothing is missing. Otherwise it is text for display: what is known is rendered, what is open
	// stands as it was written.
	Value any
	// Missing lists the unknown variables the value depends on, each once.
	Missing []value.Missing
}

// Literal reports whether the text has no templating at all.
func (t *Template) Literal() bool { return t.literal }

// Refs lists the free variables that the text uses, in its order; a variable is listed once per use.
func (t *Template) Refs() []Ref { return t.refs }

// Ignored are the options that lookups of the text do not have, and pass over.
func (t *Template) Ignored() []Ignored { return t.ignored }

func (e *Engine) compileTemplate(text string, how jinja.Reading) (*Template, error) {
	pieces, err := jinja.Split(text, how)
	if err != nil {
		return nil, err
	}
	t := &Template{engine: e, text: text, document: how.Document, finish: keepResult}
	if how.LikeAnsible { // a block scalar ends in a newline
		t.tail, t.finish, t.reads = trailing(text), (*Template).ended, !how.Document
	}
	whole := text[:len(text)-t.tail]
	// One output from end to end keeps the type of its value; a document is always text.
	if len(pieces) > 0 && pieces[0].Kind == jinja.PieceOutput && pieces[0].Start == 0 && pieces[0].End == len(whole) && !how.Document {
		return t, t.compileWhole(pieces[0])
	}
	// Most templates have no tags, and need neither names of their own nor a tree.
	for _, p := range pieces {
		if p.Kind == jinja.PieceTag {
			return t, t.compileTags(pieces)
		}
	}
	return t, t.compileParts(pieces)
}

func (t *Template) compileWhole(p jinja.Piece) error {
	n, err := jinja.ParseOutput(vocabulary{&t.engine.Shared}, t.text, p)
	if err != nil {
		return err
	}
	t.whole, t.reads = n, t.reads && mayRead(n)
	if root, path, ok := jinja.PathOf(n); ok {
		t.root, t.path = root, path
	}
	return t.collect(n)
}

func (t *Template) compileParts(pieces []jinja.Piece) error {
	var all []jinja.Node
	t.parts = make([]part, 0, len(pieces))
	for _, p := range pieces {
		if p.Kind == jinja.PieceText {
			t.parts = append(t.parts, part{text: p.Text})
			continue
		}
		n, err := jinja.ParseOutput(vocabulary{&t.engine.Shared}, t.text, p)
		if err != nil {
			return err
		}
		t.parts = append(t.parts, part{node: n, start: p.Start, end: p.End})
		all = append(all, n)
	}
	return t.collect(all...)
}

func (t *Template) collect(all ...jinja.Node) error {
	c := newCollector(t.engine)
	c.all(all...)
	t.refs, t.ignored = c.done(), c.ignored
	return c.unknownFunction(nil)
}

func (t *Template) compileTags(pieces []jinja.Piece) (err error) {
	tree, err := jinja.ParseTags(vocabulary{&t.engine.Shared}, t.text, pieces)
	if err != nil {
		return err
	}
	// The collector throws what it finds below.
	defer value.Catch(&err)
	c := newTagCollector(t.engine)
	if len(tree.Blocks) > 0 || tree.Extends {
		c.bind(jinja.Self)
	}
	c.walk(tree.Body)
	t.tree, t.refs, t.ignored = tree, c.done(), c.ignored
	return c.unknownFunction(c.macros)
}

// Render evaluates the template. The error is an *Error. Undefined names are errors even where other values are
// unknown; what an unknown condition decides about is left as it is written.
func (t *Template) Render(env value.Env) (result Result, err error) {
	if t.literal {
		return Result{Value: t.text}, nil
	}
	// Most templates are one plain name: no rendering is begun, and nothing is counted.
	if v, ok := t.direct(env); ok {
		return Result{Value: v}, nil
	}
	defer recovered(&err)
	return evaluated(t.engine.begin(env, t.text), t.run)
}

func (t *Template) run(r *rendering) (Result, error) {
	switch {
	case t.whole != nil:
		result, err := r.value(t.whole)
		return t.finish(t, result, false), err
	case t.tree != nil:
		result, err := r.tree(t)
		return t.finish(t, result, true), err
	}
	result, err := r.parts(t.parts)
	return t.finish(t, result, false), err
}

// ended gives the text of plays its newlines back, unless it stands for something else (read): a list or a map ends in no newline, and a
// truth not in one. A number does: Ansible drops one behind a variable that stands alone and was written as a number, and only there.
func (t *Template) ended(result Result, tags bool) Result {
	if len(result.Missing) > 0 {
		return result
	}
	switch v := result.Value.(type) {
	case string:
		if v == value.OmittedText {
			return Result{Value: value.Omit}
		}
		if made, ok := readText(v, tags); ok && t.reads {
			return Result{Value: made}
		}
		return Result{Value: likeSource(v, t.text)}
	case value.Secret:
		if text, ok := v.Value.(string); ok {
			if made, ok := readText(text, tags); ok && t.reads {
				return Result{Value: value.Mark(t.engine.Secrets, made, value.Every)}
			}
			return Result{Value: value.Secret{Value: likeSource(text, t.text), Shown: v.Shown}}
		}
	case []any, map[string]any, *value.Dict, value.Omitted, nil:
		return result
	}
	if _, truth := result.Value.(bool); t.tail > 1 || t.tail == 1 && !truth {
		return Result{Value: likeSource(value.PythonText(result.Value), t.text)}
	}
	return result
}

// keepResult leaves a result as it is.
func keepResult(_ *Template, result Result, _ bool) Result { return result }

// direct resolves a whole-value path without evaluating anything. It leaves everything but the plain case to value:
// what does not exist, what may be unknown in part, lists.
func (t *Template) direct(env value.Env) (any, bool) {
	if t.root == nil || t.tail > 0 {
		return nil, false
	}
	v, ok := env.Lookup(t.root.Name)
	for _, key := range t.path {
		m, isMap := value.MapOf(v)
		name, isName := key.(string)
		// What is missing needs an error with a place and a hint.
		if !ok || !isMap || !isName {
			return nil, false
		}
		v, ok = m[name]
	}
	switch v := v.(type) {
	case string:
		if t.reads && mayStand(v) {
			return nil, false
		}
	// They may hold what is unknown, secret or lazy further inside.
	case []any, map[string]any, *value.Dict, value.Unknown, value.Fault, value.Object:
		return nil, false
	}
	return v, ok
}

// value evaluates an expression whose value keeps its type.
func (r *rendering) value(n jinja.Node) (Result, error) {
	s := scope{rendering: r}
	v, err := s.eval(n)
	if o, ok := value.OpenOf(err); ok {
		return Result{Value: r.text, Missing: o.Missing}, nil
	}
	if err == nil {
		v, err = s.ExpandObjects(v)
		if o, ok := value.OpenOf(err); ok {
			return Result{Value: r.text, Missing: o.Missing}, nil
		}
	}
	if err != nil {
		return Result{}, s.placed(err, n)
	}
	// A function or a loop is not a value that a variable could hold.
	if e := value.Storable(v); e != nil {
		return Result{}, value.PlaceError(e, n)
	}
	if v = value.Held(v); r.Times {
		v = value.WithoutTimes(v)
	}
	if !r.Touched {
		return Result{Value: v}, nil
	}
	if _, _, ok := jinja.PathOf(n); ok { // a part of a value, which has its own marks
		part, _, err := s.reach(n)
		if err == nil {
			part, err = s.ExpandStored(part)
		}
		if err == nil && value.Marked(part) {
			return Result{Value: value.Held(part)}, nil
		}
	}
	return Result{Value: r.Conceal(v)}, nil
}

// parts writes the pieces of a template without tags one after the other.
func (r *rendering) parts(parts []part) (Result, error) {
	var b, shown strings.Builder
	s := scope{rendering: r}
	for _, p := range parts {
		text, visible := p.text, p.text
		if p.node != nil {
			var err error
			if text, visible, err = s.output(p.node, p.start, p.end); err != nil {
				return Result{}, err
			}
		}
		if r.Secret && shown.Len() == 0 { // the first of them
			shown.WriteString(b.String())
		}
		b.WriteString(text)
		// What may be shown is kept only from the first secret on: most texts have none.
		if r.Secret {
			shown.WriteString(visible)
		}
		if b.Len() > value.MaxText {
			return Result{}, call.TooMuchText()
		}
	}
	return r.result(b.String(), shown.String()), nil
}

// output gives the text of {{ expression }}: the value as it prints, or the output as it is written if it is open. Shown is
// that text if it may be seen.
func (s scope) output(n jinja.Node, start, end int) (text, shown string, err error) {
	// Reset, so that outputs next to one with a secret are not concealed.
	outer := s.Touched
	s.Touched = false
	defer func() { s.Touched = s.Touched || outer }()
	v, err := s.eval(n)
	if err == nil {
		v, err = s.ExpandObjects(v)
	}
	// In captured text the whole capture is open, so the error goes further up.
	if o, ok := value.OpenOf(err); ok && s.captures == 0 {
		s.unmet = value.UniteMissing(s.unmet, o.Missing)
		text = s.text[start:end]
		return text, text, nil
	}
	if err != nil {
		return "", "", s.placed(err, n)
	}
	v = s.OmitAsText(v)
	e := value.Storable(v)
	if _, ok := v.(value.Omitted); ok {
		e = value.Errorf(value.TypeError, "it stands for an argument as a whole: `{{ x | default(omit) }}`",
			"`omit` cannot be a part of a text")
	}
	// Behind omit's own message, which says more than that it cannot be stored.
	if e != nil {
		return "", "", value.PlaceError(e, n)
	}
	text = s.PrintOutput(value.Held(v))
	if err := s.Grow(len(text)); err != nil {
		return "", "", err
	}
	if _, _, ok := jinja.PathOf(n); ok && s.Touched && !s.Tainted { // a part of a value, in which marks are already
		part, _, err := s.reach(n)
		if err == nil {
			part, err = s.ExpandStored(part)
		}
		if err == nil && value.Marked(part) {
			s.Secret = true
			s.Short = s.Short || len(text) < secret.MinLength
			return text, s.PrintOutput(value.Held(part)), nil
		}
	}
	return text, s.ConcealOutput(text), nil
}

// result is a text that was put together. shown is how it looks without its secrets.
func (r *rendering) result(text, shown string) Result {
	switch {
	case !r.Secret:
		return Result{Value: text, Missing: r.unmet}
	case len(r.unmet) > 0:
		return Result{Value: shown, Missing: r.unmet}
	}
	return Result{Value: value.Secret{Value: text, Shown: shown}}
}

// trailing counts the newlines at the end of a text.
func trailing(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// likeSource gives a text as many newlines at its end as its template has, if it has fewer: Ansible keeps those.
func likeSource(text, source string) string {
	if more := trailing(source) - trailing(text); more > 0 {
		return text + strings.Repeat("\n", more)
	}
	return text
}
