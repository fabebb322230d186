package eval

import (
	"errors"
	"slices"
	"strconv"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"

	"moon/secret"
)

// noFiles is the loader of templates: there is nothing to load.
var noFiles = loaders.MustNewMemoryLoader(map[string]string{"/empty": ""})

// emptyTemplate is what a renderer asks for its loader.
var emptyTemplate = func() *exec.Template {
	t, err := exec.NewTemplate("/empty", gonjaConfig, noFiles, &exec.Environment{ControlStructures: structures, Context: exec.EmptyContext()})
	if err != nil {
		panic(err)
	}
	return t
}()

// current is the name under which hooks find their rendering.
const current = "\x00rendering"

// tree has gonja run a template with tags.
func (r *rendering) tree(t *Template) (Result, error) {
	result, _, err := r.treeNames(t)
	return result, err
}

// treeNames also gives the names that the template has set.
func (r *rendering) treeNames(t *Template) (Result, *exec.Context, error) {
	r.exprs, r.blocks = t.exprs, t.blocks
	out := &sink{}
	run := &exec.Renderer{
		Config: gonjaConfig,
		Environment: &exec.Environment{
			Filters: hooks, ControlStructures: structures, Tests: noTests,
			Context: exec.NewContext(map[string]any{current: r}),
		},
		Loader: noFiles, Template: emptyTemplate, RootNode: t.tree, Output: out,
	}
	err := run.Execute()
	if r.raised != nil {
		err = r.raised
	}
	if o, ok := openOf(err); ok { // only where nothing smaller could be left open
		return Result{Value: t.text, Missing: union(r.unmet, o.missing)}, run.Environment.Context, nil
	}
	if err != nil {
		return Result{}, nil, err
	}
	text := string(out.b)
	shown := r.engine.Secrets.Redact(text)
	if r.short {
		shown = secret.Mask
	}
	return r.result(text, shown), run.Environment.Context, nil
}

// sink is where the text of the template itself goes. Captured text goes elsewhere, which is how a block knows whether
// it may stand open.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	if len(s.b)+len(p) > maxText {
		return 0, errTooMuchText()
	}
	s.b = append(s.b, p...)
	return len(p), nil
}

var noTests = exec.NewTestSet(map[string]exec.TestFunction{})

// hooks are the filters that stand behind the numbers in gonja's stream. Filled by init: a file that is included is run
// by them as well.
var hooks *exec.FilterSet

func init() {
	hooks = exec.NewFilterSet(map[string]exec.FilterFunction{
		hookText:  hook(scope.hookText),
		hookValue: hook(scope.hookValue),
		hookList:  hook(scope.hookList),
		hookBind:  hook(scope.hookBind),
		hookDo:    hook(scope.hookDo),
		hookApply: func(e *exec.Evaluator, in *exec.Value, args *exec.VarArgs) *exec.Value {
			if len(args.Args) == 1 {
				e.Environment.Context.Set(captured, in.String())
				in = args.Args[0]
			}
			return hook(scope.hookText)(e, in, args)
		},
	})
}

// hook finds the expression and the rendering. What goes wrong is kept in the rendering, because gonja turns errors into
// text on their way up, and swallows some.
func hook(run func(s scope, h hooked) (any, error)) exec.FilterFunction {
	return func(e *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
		r := renderingIn(e.Environment.Context)
		s := scope{rendering: r, locals: e.Environment.Context}
		if r.raised != nil {
			return exec.AsValue(r.raised)
		}
		v, err := run(s, r.exprs[in.Integer()])
		if e := r.spend(1); e != nil && err == nil {
			err = e
		}
		if err != nil {
			r.raised = err
			return exec.AsValue(err)
		}
		return exec.AsValue(v)
	}
}

func renderingIn(c *exec.Context) *rendering {
	v, _ := c.Get(current)
	return v.(*rendering)
}

func (s scope) hookText(h hooked) (any, error) {
	text, _, err := s.output(h)
	return text, err
}

// named evaluates what is bound to names of the template. From a secret on, everything that the template prints counts as one:
// which of its names hold it is gonja's knowledge.
func (s scope) named(n node) (any, error) {
	outer := s.touched
	s.touched = false
	v, err := s.eval(n)
	s.tainted, s.touched = s.tainted || s.touched, outer
	return v, err
}

func (s scope) hookValue(h hooked) (any, error) {
	v, err := s.eval(h.node)
	return truthy(v), err
}

// hookBind gives a name its value. An open value does not stop anything: whatever uses the name is open.
func (s scope) hookBind(h hooked) (any, error) {
	if a, ok := h.node.(*absent); ok {
		return a, nil
	}
	v, err := s.named(h.node)
	if o, ok := openOf(err); ok {
		return &unsettled{o.missing}, nil
	}
	return boxed(v), err
}

func (s scope) hookDo(h hooked) (any, error) {
	_, err := s.named(h.node)
	if _, ok := openOf(err); ok {
		return nil, nil
	}
	return nil, err
}

// hookList gives the items of a loop, each fit for the number of names.
func (s scope) hookList(h hooked) (any, error) {
	v, err := s.named(h.node)
	if err != nil {
		return nil, err
	}
	if _, ok := mapOf(v); ok && h.names == 2 {
		v = pairs(v) // as gonja has it; Jinja wants .items()
	}
	items, err := itemsOf(v)
	if _, ok := openOf(err); ok {
		return nil, err
	}
	if err != nil {
		return nil, placed(fault(Type, "", "cannot loop over %s", kindOf(v)), h.node)
	}
	if err := s.spend(5 * len(items)); err != nil { // gonja is slow at loops
		return nil, err
	}
	if h.names > 1 {
		for _, item := range items {
			if e := unpackable(item, h.names); e != nil {
				return nil, placed(e, h.node)
			}
		}
	}
	return items, nil
}

// structures are gonja's control structures, with a guard around those that may stand open.
var structures = func() *exec.ControlStructureSet {
	all := map[string]parser.ControlStructureParser{}
	for _, name := range []string{"if", "for", "set", "with", "macro", "call", "filter", "do", "break", "continue"} {
		parse, ok := builtins.ControlStructures.Get(name)
		if !ok {
			panic("gonja has no " + name)
		}
		switch name {
		case "if", "for", "set", "call", "filter":
			parse = guarded(parse)
		}
		all[name] = parse
	}
	return exec.NewControlStructureSet(all)
}()

// guard runs a control structure and takes care of what is open in it.
type guard struct {
	exec.ControlStructure
	block int // -1 for a set without a body
}

func guarded(parse parser.ControlStructureParser) parser.ControlStructureParser {
	return func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		number := args.Match(tokens.Integer)
		if number == nil {
			return nil, errors.New("a block without number")
		}
		i, err := strconv.Atoi(number.Val)
		if err != nil {
			return nil, err
		}
		inner, err := parse(p, args)
		if err != nil {
			return nil, err
		}
		return &guard{inner.(exec.ControlStructure), i}, nil
	}
}

// Execute leaves the block as it is written if it depends on something unknown, and makes every name open that it could
// have set. Inside of captured text that is the business of whoever captures.
func (g *guard) Execute(run *exec.Renderer, tag *nodes.ControlStructureBlock) error {
	if g.block < 0 {
		return g.ControlStructure.Execute(run, tag)
	}
	r := renderingIn(run.Environment.Context)
	b := r.blocks[g.block]
	out, isOwn := run.Output.(*sink)
	mark := 0
	if isOwn {
		mark = len(out.b)
	}
	if b.captures {
		r.captures++
	}
	outer := r.calling
	if b.name == "call" {
		r.calling = run.Environment.Context
	}
	err := g.ControlStructure.Execute(run, tag)
	r.calling = outer
	if b.captures {
		r.captures--
	}
	if r.raised == nil {
		return err
	}
	o, isOpen := openOf(r.raised)
	isSet := b.name == "set"
	if !isOpen || !isSet && (!isOwn || r.captures > 0) {
		return r.raised
	}
	r.raised = nil
	if !isSet {
		r.unmet = union(r.unmet, o.missing)
		out.b = append(out.b[:mark], r.text[b.start:b.end]...)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(b.sets))) {
		run.Environment.Context.Set(name, &unsettled{o.missing})
	}
	return nil
}
