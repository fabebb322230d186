package expr

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
)

var machines = sync.Pool{New: func() any { return new(vm.VM) }}

// configs are reused because one takes as long to make as an expression to compile.
var configs = sync.Pool{New: func() any {
	config := conf.New(map[string]any{})
	config.Strict = false
	for name, f := range ownFunctions {
		config.Functions[name] = &builtin.Function{Name: name, Func: f}
	}
	return config
}}

// Use is a variable with the constant part of what follows it.
type Use struct {
	Root     *jinja.Variable
	Path     []any
	Provided bool // the language provides for its absence
}

// Compile compiles a part of a text, and gives the variables that it uses.
func Compile(text string, inside Excerpt) (d *Decision, uses []Use, err error) {
	tree, err := exprparser.Parse(inside.Text)
	if err != nil {
		return nil, nil, exprSyntax(err, inside)
	}
	// The rewriter throws what it finds; only what expr's own parser refuses comes as an error.
	defer value.Catch(&err)
	w := &rewriter{text: text, inside: inside}
	// not is repaired on the whole tree first: it may move above what the skeleton is cut at.
	d = w.decision(w.hoistNot(tree.Node), tree.Source)
	return d, w.uses, nil
}

// rewriter turns expr's tree into a skeleton with leaves. It builds new nodes: expr shares nodes between the halves of a
// chained comparison.
type rewriter struct {
	text   string // the whole, for places
	inside Excerpt
	uses   []Use
	locals []string // let
	slots  []slot   // of the leaf at hand
	nodes  int
}

func (w *rewriter) fail(n ast.Node, message, hint string) {
	from, to := w.place(n)
	panic(&value.Error{Message: message, Hint: hint, Offset: from, Width: to - from})
}

// place gives a node's bytes in the text; expr counts characters.
func (w *rewriter) place(n ast.Node) (from, to int) {
	l := n.Location()
	return w.inside.byteOffset(l.From), w.inside.byteOffset(l.To)
}

// visit counts nodes: a chain of a ?: b ?: c shares nodes, and grows exponentially when it is walked.
func (w *rewriter) visit(n ast.Node) {
	if w.nodes++; w.nodes > jinja.MaxNodes {
		w.fail(n, "the expression is too long", "")
	}
}

// hoistNot repairs the precedence of not: people mean not (x in y), as in Python, where expr reads (not x) in y.
func (w *rewriter) hoistNot(n ast.Node) ast.Node {
	w.visit(n)
	switch n := n.(type) {
	case *ast.UnaryNode:
		return placedAt(&ast.UnaryNode{Operator: n.Operator, Node: w.hoistNot(n.Node)}, n)
	case *ast.ConditionalNode:
		return placedAt(&ast.ConditionalNode{
			Ternary: n.Ternary, Cond: w.hoistNot(n.Cond), Exp1: w.hoistNot(n.Exp1),
			Exp2: w.hoistNot(n.Exp2),
		}, n)
	// Bottom up, so that a not that has moved can move again.
	case *ast.BinaryNode:
		left, right := w.hoistNot(n.Left), w.hoistNot(n.Right)
		not, ok := left.(*ast.UnaryNode)
		// not binds looser than a comparison but tighter than and, or and ??; in (not x) the parenthesis is meant.
		if ok && not.Operator == "not" && !isLogic(n.Operator) && n.Operator != "??" && !w.closedBetween(not, n) {
			inner := placedAt(&ast.BinaryNode{Operator: n.Operator, Left: not.Node, Right: right}, n)
			return placedAt(&ast.UnaryNode{Operator: "not", Node: inner}, not)
		}
		return placedAt(&ast.BinaryNode{Operator: n.Operator, Left: left, Right: right}, n)
	}
	return n
}

// placedAt gives a new node the place of the old one.
func placedAt(n, old ast.Node) ast.Node {
	n.SetLocation(old.Location())
	return n
}

func isLogic(op string) bool { return op == "and" || op == "or" || op == "&&" || op == "||" }

// closedBetween reports whether a parenthesis that holds the first node closes before the second.
func (w *rewriter) closedBetween(first, second ast.Node) bool {
	from, _ := w.place(first)
	to, _ := w.place(second)
	depth, quote := 0, byte(0)
	for i := from; i < to; i++ {
		c := w.text[i]
		switch {
		// The tree has no parentheses any more: only the text says where they were.
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

func (w *rewriter) decision(n ast.Node, source file.Source) *Decision {
	at, _ := w.place(n)
	switch n := n.(type) {
	case *ast.BinaryNode:
		if isLogic(n.Operator) {
			// Decided by moon: expr knows no unknown value, and would stop at one.
			kind := andDecision
			if n.Operator == "or" || n.Operator == "||" {
				kind = orDecision
			}
			return &Decision{kind: kind, op: n.Operator, at: at, left: w.decision(n.Left, source), right: w.decision(n.Right, source)}
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return &Decision{kind: notDecision, op: n.Operator, at: at, left: w.decision(n.Node, source)}
		}
	case *ast.ConditionalNode:
		return &Decision{
			kind: choiceDecision, op: "?", at: at,
			left: w.decision(n.Cond, source), right: w.decision(n.Exp1, source), other: w.decision(n.Exp2, source),
		}
	}
	return &Decision{kind: leafDecision, at: at, leaf: w.leaf(n, source)}
}

func (w *rewriter) leaf(n ast.Node, source file.Source) *leaf {
	// Each leaf is a program of its own, with slots of its own.
	w.slots = nil
	rewritten := w.expr(n, false)
	l := &leaf{slots: w.slots, source: w.inside}
	// A plain path needs no program, and keeps the value as it is: Number, order of keys and marks.
	if id, ok := rewritten.(*ast.IdentifierNode); ok && len(l.slots) == 1 && id.Value == l.slots[0].name {
		return l
	}
	config := configs.Get().(*conf.Config)
	defer configs.Put(config)
	tree := &exprparser.Tree{Node: rewritten, Source: source}
	if _, err := checker.Check(tree, config); err != nil {
		panic(exprSyntax(err, w.inside))
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		panic(exprSyntax(err, w.inside))
	}
	l.program = program
	return l
}

// slot stands for a path from now on.
func (w *rewriter) slot(s slot, n ast.Node) ast.Node {
	root, path, _ := jinja.PathOf(s.node)
	provided := s.optional || s.defined
	w.uses = append(w.uses, Use{root, path, provided})
	// A name that no text can clash with: every variable of the leaf is replaced by one of these.
	s.name = "v" + strconv.Itoa(len(w.slots))
	w.slots = append(w.slots, s)
	return placedAt(&ast.IdentifierNode{Value: s.name}, n)
}

// constantName gives written as in Python.
func constantName(name string) ast.Node {
	switch name {
	case "True":
		return &ast.BoolNode{Value: true}
	case "False":
		return &ast.BoolNode{Value: false}
	case "None", "none", "null":
		return &ast.NilNode{}
	}
	return nil
}

func isNil(n ast.Node) bool {
	if id, ok := n.(*ast.IdentifierNode); ok {
		n = constantName(id.Value)
	}
	_, ok := n.(*ast.NilNode)
	return ok
}

// constantKey gives the key of x.key, x["key"], x[0] and x[-1].
func constantKey(n ast.Node) (any, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.UnaryNode:
		// -1 is an operator on 1 in the tree.
		if i, ok := n.Node.(*ast.IntegerNode); ok && n.Operator == "-" {
			return -i.Value, true
		}
	}
	return nil, false
}

// chain builds our node for a path that begins with a variable.
func (w *rewriter) chain(n ast.Node) (jinja.Node, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		// Names of let hide variables.
		if slices.Contains(w.locals, n.Value) || constantName(n.Value) != nil {
			return nil, false
		}
		if n.Value == "$env" {
			w.fail(n, "`$env` is not available", "use the names themselves")
		}
		from, _ := w.place(n)
		return &jinja.Variable{At: jinja.At(from), Name: n.Value}, true
	case *ast.ChainNode:
		return w.chain(n.Node)
	case *ast.MemberNode:
		of, ok := w.chain(n.Node)
		key, isConstant := constantKey(n.Property)
		if !ok || !isConstant || n.Method {
			return nil, false
		}
		from, to := w.place(n)
		// expr's place is the bracket, and ends before it closes.
		if isIndex := from < len(w.text) && w.text[from] == '['; isIndex {
			_, to = w.place(n.Property)
			to += strings.IndexByte(w.text[min(to, len(w.text)):], ']') + 1
		}
		return &jinja.Member{
			At: jinja.At(of.Offset()), Of: of, Key: &jinja.Constant{At: jinja.At(from), Value: key},
			Dot: w.text[max(from-1, 0)] == '.', KeyAt: from, End: max(from, min(to, len(w.text))),
		}, true
	}
	return nil, false
}

// expr rewrites a node of a leaf. provided is set where the language provides for a missing value: left of ??, and in
// comparisons with nil.
func (w *rewriter) expr(n ast.Node, provided bool) ast.Node {
	w.visit(n)
	switch m := n.(type) {
	case *ast.IdentifierNode:
		if c := constantName(m.Value); c != nil {
			return placedAt(c, n)
		}
		if slices.Contains(w.locals, m.Value) {
			// Constants and the item of a predicate are shared with expr's tree, and not changed.
			return n
		}
		path, _ := w.chain(m)
		return w.slot(slot{node: path, optional: provided}, n)
	case *ast.ChainNode:
		if path, ok := w.chain(m); ok {
			return w.slot(slot{node: path, optional: true}, n)
		}
		// What is computed keeps expr's own ?., which gives nil for what is missing.
		return placedAt(&ast.ChainNode{Node: w.expr(m.Node, true)}, n)
	case *ast.MemberNode:
		return w.member(m, provided)
	case *ast.UnaryNode:
		return placedAt(&ast.UnaryNode{Operator: m.Operator, Node: w.expr(m.Node, false)}, n)
	case *ast.BinaryNode:
		return w.binary(m)
	case *ast.SliceNode:
		return placedAt(&ast.SliceNode{Node: w.expr(m.Node, false), From: w.maybe(m.From), To: w.maybe(m.To)}, n)
	case *ast.CallNode:
		return w.callee(m)
	case *ast.BuiltinNode:
		return w.builtin(m)
	case *ast.PredicateNode:
		return placedAt(&ast.PredicateNode{Node: w.expr(m.Node, false)}, n)
	case *ast.ConditionalNode:
		return placedAt(&ast.ConditionalNode{
			Ternary: m.Ternary, Cond: w.expr(m.Cond, false), Exp1: w.expr(m.Exp1, false),
			Exp2: w.expr(m.Exp2, false),
		}, n)
	case *ast.VariableDeclaratorNode:
		value := w.expr(m.Value, false)
		w.locals = append(w.locals, m.Name)
		// Behind the value, which does not see its own name.
		body := w.expr(m.Expr, false)
		w.locals = w.locals[:len(w.locals)-1]
		return placedAt(&ast.VariableDeclaratorNode{Name: m.Name, Value: value, Expr: body}, n)
	case *ast.SequenceNode:
		return placedAt(&ast.SequenceNode{Nodes: w.all(m.Nodes)}, n)
	case *ast.ArrayNode:
		return placedAt(&ast.ArrayNode{Nodes: w.all(m.Nodes)}, n)
	case *ast.MapNode:
		return placedAt(&ast.MapNode{Pairs: w.all(m.Pairs)}, n)
	case *ast.PairNode:
		return placedAt(&ast.PairNode{Key: w.expr(m.Key, false), Value: w.expr(m.Value, false)}, n)
	}
	return n
}

func (w *rewriter) all(nodes []ast.Node) []ast.Node {
	out := make([]ast.Node, len(nodes))
	for i, n := range nodes {
		out[i] = w.expr(n, false)
	}
	return out
}

func (w *rewriter) maybe(n ast.Node) ast.Node {
	if n == nil {
		return nil
	}
	return w.expr(n, false)
}

// member rewrites a computed member. Those of variables go through our own look-up, which says what does not exist;
// those of a predicate's item are left to expr.
func (w *rewriter) member(m *ast.MemberNode, provided bool) ast.Node {
	if path, ok := w.chain(m); ok {
		return w.slot(slot{node: path, optional: provided}, m)
	}
	of, key := w.expr(m.Node, provided), w.expr(m.Property, false)
	// Here expr's nil for a missing key is what is asked for.
	if m.Optional || provided || w.belongsToItem(m) {
		return placedAt(&ast.MemberNode{Node: of, Property: key, Optional: m.Optional || provided}, m)
	}
	return w.own("member", m, of, key)
}

func (w *rewriter) belongsToItem(n ast.Node) bool {
	for {
		switch m := n.(type) {
		case *ast.MemberNode:
			n = m.Node
		case *ast.PointerNode:
			return true
		case *ast.IdentifierNode:
			return slices.Contains(w.locals, m.Value)
		default:
			return false
		}
	}
}

func (w *rewriter) binary(m *ast.BinaryNode) ast.Node {
	switch m.Operator {
	// expr's own `in` knows no text.
	case "in":
		return w.own("in", m, w.expr(m.Left, false), w.expr(m.Right, false))
	case "contains":
		// The other way round, so that both have one meaning.
		return w.own("in", m, w.expr(m.Right, false), w.expr(m.Left, false))
	}
	// Only next to nil a missing name is asked for; in any other comparison it is a mistake.
	left := w.expr(m.Left, m.Operator == "??" || isEquality(m.Operator) && isNil(m.Right))
	right := w.expr(m.Right, isEquality(m.Operator) && isNil(m.Left))
	return placedAt(&ast.BinaryNode{Operator: m.Operator, Left: left, Right: right}, m)
}

func isEquality(op string) bool { return op == "==" || op == "!=" }

// own calls one of our functions; the place goes along for the error.
func (w *rewriter) own(name string, n ast.Node, args ...ast.Node) ast.Node {
	from, _ := w.place(n)
	offset := &ast.IntegerNode{Value: from}
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: ownPrefix + name}, Arguments: append(args, offset)}
	return placedAt(call, n)
}

func (w *rewriter) callee(m *ast.CallNode) ast.Node {
	id, ok := m.Callee.(*ast.IdentifierNode)
	if !ok {
		w.fail(m, "values have no methods here",
			"methods do not go together with `startsWith`, `endsWith`, `contains`, `matches`, `??`, `?.` and `?:`")
	}
	if lookups.IsFunction(id.Value) { // seen only if the rest is not Jinja: a condition is in one language
		w.fail(m, "`"+id.Value+"` does not go together with `startsWith`, `endsWith`, `matches`, `??`, `?.` and `?:`",
			"put what it gives into a variable, and use that here")
	}
	if id.Value != "is_defined" {
		w.fail(m, "unknown function `"+id.Value+"`", "")
	}
	if len(m.Arguments) != 1 {
		w.fail(m, "`is_defined` takes 1 argument, not "+jinja.Counted(len(m.Arguments), "argument"), "")
	}
	// A computed value is always there or an error: only a path can be missing.
	path, ok := w.chain(m.Arguments[0])
	if !ok {
		w.fail(m, "`is_defined` needs a plain name such as `a.b`", "")
	}
	return w.slot(slot{node: path, defined: true}, m)
}

func (w *rewriter) builtin(m *ast.BuiltinNode) ast.Node {
	if reason, ok := filters.Refused[m.Name]; ok {
		w.fail(m, "the function `"+m.Name+"` is not available: "+reason, "")
	}
	for _, arg := range m.Arguments {
		if p, ok := arg.(*ast.PredicateNode); ok {
			// expr takes a text for a predicate that is always the same.
			if _, isText := p.Node.(*ast.StringNode); isText {
				// names | map('upper') means something, but in Jinja.
				w.fail(m, "the predicate of `"+m.Name+"` is only a string", "")
			}
		}
	}
	args := w.all(m.Arguments)
	if _, ok := ownFunctions[ownPrefix+m.Name]; ok {
		return w.own(m.Name, m, args...)
	}
	return placedAt(&ast.BuiltinNode{Name: m.Name, Arguments: args}, m)
}

const ownPrefix = "own."

// ownFunctions stand in for what expr does otherwise: look-ups that give nil, `in` that knows no text, maps in random
// order. The last argument is the place.
var ownFunctions = map[string]func(args ...any) (any, error){
	ownPrefix + "in": func(args ...any) (any, error) {
		ok, err := value.Within(args[0], ourList(args[1]))
		return ok, at0(err, args[2])
	},
	ownPrefix + "member": func(args ...any) (any, error) {
		switch of := ourList(args[0]).(type) {
		case map[string]any:
			if v, ok := of[value.KeyText(args[1])]; ok {
				return v, nil
			}
		case []any:
			if i, ok := value.IndexFor(args[1]); ok && value.FromEnd(i, len(of)) >= 0 && value.FromEnd(i, len(of)) < len(of) {
				return of[value.FromEnd(i, len(of))], nil
			}
		}
		e := value.Errorf(value.UndefinedError, "", "%s has no `%s`", value.KindOf(args[0]), value.Text(args[1]))
		e.Name = value.Text(args[1])
		return nil, at0(e, args[2])
	},
	ownPrefix + "keys": ofMap(func(m map[string]any) any { list, _ := value.ItemsOf(m); return list }),
	ownPrefix + "values": ofMap(func(m map[string]any) any {
		list := make([]any, 0, len(m))
		for _, key := range value.SortedKeys(m) {
			list = append(list, m[key])
		}
		return list
	}),
	ownPrefix + "toPairs": ofMap(func(m map[string]any) any { return value.Pairs(m) }),
}

// ourList is a list that a function of expr has made, as ours are: split gives texts, and 1..3 whole numbers.
func ourList(v any) any {
	// Only the two kinds that expr makes: values from Env are ours already.
	switch v := v.(type) {
	case []string:
		return value.ListOf(v)
	case []int:
		return value.ListOf(v)
	}
	return v
}

func ofMap(f func(m map[string]any) any) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		m, ok := args[0].(map[string]any)
		// expr's keys, values and toPairs walk Go's maps, whose order differs from run to run.
		if !ok || len(args) != 2 {
			return nil, at0(value.Errorf(value.TypeError, "", "this needs a map, not %s", value.KindOf(args[0])), args[len(args)-1])
		}
		return f(m), nil
	}
}

func at0(err *value.Error, offset any) error {
	if err == nil {
		return nil
	}
	err.Offset, _ = offset.(int)
	return err
}

// FunctionNames lists what a condition may call, sorted.
func FunctionNames() []string {
	names := []string{"is_defined"}
	for _, name := range builtin.Names {
		if _, ok := filters.Refused[name]; !ok {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}
