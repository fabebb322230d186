package constructed

import (
	"slices"
	"strings"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// expressions evaluates what sources of an inventory say in Jinja. Lookups have nothing to look at: sources are read before all else.
type expressions struct{ engine *eval.Engine }

func newExpressions() *expressions {
	e := eval.New()
	e.Dialect = dialect.Ansible
	return &expressions{e}
}

// evaluate is the value of a text with {{ }}.
func (x *expressions) evaluate(text string, names value.Env) (any, error) {
	t, err := x.engine.Template(text)
	if err != nil {
		return nil, err
	}
	result, err := t.Render(names)
	if err != nil {
		return nil, err
	}
	if len(result.Missing) > 0 {
		return nil, &value.Error{Message: result.Missing[0].Name + " is not known while the inventory is read", Offset: -1}
	}
	return value.Reveal(result.Value), nil
}

// plainNames are names with values that are known.
type plainNames map[string]any

func (n plainNames) Lookup(name string) (any, bool) { v, ok := n[name]; return v, ok }

func (n plainNames) Names() []string { return value.SortedKeys(n) }

// hostNames are the variables of a host, as sources of the inventory say them. They are rendered when something asks for them.
type hostNames struct {
	x      *expressions
	vars   map[string]playbook.Value
	known  map[string]any
	within int // other variables whose text asks for this
	secret bool
}

// mostNested is how many variables may stand in each other.
const mostNested = 50

func (n *hostNames) Names() []string {
	names := value.SortedKeys(n.known)
	for name := range n.vars {
		if _, ok := n.known[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (n *hostNames) Lookup(name string) (any, bool) {
	if v, ok := n.known[name]; ok {
		return v, true
	}
	written, ok := n.vars[name]
	if !ok {
		return nil, false
	}
	v := n.valueOf(written)
	n.known[name] = v
	return v, true
}

func (n *hostNames) valueOf(v playbook.Value) any {
	n.secret = n.secret || v.Secret()
	switch v.Kind() {
	case playbook.Bool:
		return v.Bool()
	case playbook.Int, playbook.Float:
		return v.Number()
	case playbook.List:
		list := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			list = append(list, n.valueOf(item))
		}
		return list
	case playbook.Map:
		m := map[string]any{}
		for _, e := range v.Entries() {
			m[e.Key] = n.valueOf(e.Value)
		}
		return m
	case playbook.String:
		return n.rendered(v)
	case playbook.Null:
	}
	return nil
}

func (n *hostNames) rendered(v playbook.Value) any {
	if v.Literal() || !eval.Templated(v.Text()) {
		return v.Text()
	}
	if n.within == mostNested {
		return value.Fault{Err: &value.Error{Message: "variables refer to each other", Offset: -1}}
	}
	n.within++
	defer func() { n.within-- }()
	result, err := n.x.evaluate(v.Text(), n)
	if e, ok := value.AsError(err); ok {
		return value.Fault{Err: e}
	}
	return result
}

// Host is a host as it is before a source makes more of it.
type Host struct {
	Name   string
	Groups []string                  // sorted, without all
	Vars   map[string]playbook.Value // as sources have written them
}

func newNames(h *Host, x *expressions) *hostNames {
	short, _, _ := strings.Cut(h.Name, ".")
	return &hostNames{x: x, vars: h.Vars, known: map[string]any{
		"inventory_hostname": h.Name, "inventory_hostname_short": short, "group_names": value.ListOf(h.Groups),
	}}
}
