package callees

import (
	"encoding/json"
	"slices"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/source"
)

// request is what is asked: of the helper in Python, or of a plugin.
func (c *callee) request(t *talk, e *plan.Env) ([]byte, error) {
	if c.Protocol > 0 {
		return c.pluginRequest(t.in)
	}
	request, err := t.request(c, e)
	if err != nil {
		return nil, value.Errorf(value.TypeError, "", "%s", err.Error())
	}
	return request, nil
}

// pluginRequest are the parameters for a plugin: everything is known, as it asks for nothing more.
func (c *callee) pluginRequest(in *call.Input) ([]byte, error) {
	if in.Err != nil && c.Kind == spec.CalleeFilter {
		return nil, in.Err
	}
	if err := in.ExpandAll(); err != nil {
		return nil, err
	}
	head, err := json.Marshal(map[string]any{"protocol": c.Protocol, "name": c.Name})
	if err != nil {
		return nil, err
	}
	w := &writer{b: head[:len(head)-1], plain: true}
	positional := "args"
	if c.Kind == spec.CalleeLookup {
		positional = "terms"
	} else {
		w.raw(`,"value":`)
		err = w.write(in.Value)
	}
	if err == nil {
		w.raw(`,"` + positional + `":`)
		err = w.list(in.Rest)
	}
	if err == nil {
		w.raw(`,"kwargs":`)
		err = w.write(c.options(in))
	}
	if fault, ok := value.AsError(err); ok { // of an undefined value among others
		return nil, fault
	}
	if err != nil {
		return nil, value.Errorf(value.TypeError, "", "%s", err.Error())
	}
	w.raw("}")
	return w.b, nil
}

// options are the named arguments, without those of lookup itself.
func (c *callee) options(in *call.Input) *value.Dict {
	d := value.NewDict(0)
	_ = in.NamedInOrder(func(name string, v any) error {
		if c.Kind != spec.CalleeLookup || !slices.Contains(ofLookup, name) {
			d.Set(name, v)
		}
		return nil
	})
	return d
}

// ofLookup are the named arguments of lookup itself.
var ofLookup = []string{"wantlist", "errors", "allow_unsafe"}

// digest is what an answer to a request is kept under.
func (c *callee) digest(request []byte) string {
	if c.Protocol > 0 {
		// The helper's request says which file is asked; a plugin knows that itself.
		request = slices.Concat([]byte(c.Kind+" "+c.Digest+" "), request)
	}
	return digestIn(c.of.plan, request)
}

// digestIn is over a text without the place of the playbook, so that an answer is kept when that is moved.
func digestIn(p *plan.Plan, text []byte) string {
	return source.DigestOf([]byte(p.Basis.O.Moved.Placeless(p.Root, string(text))))
}

// ask asks for a value.
func (c *callee) ask(t *talk, request []byte) ([]byte, error) {
	out := &c.of.plan.Basis.O.Outside
	switch {
	case c.Protocol > 0 && out.Plugin == nil, c.Protocol == 0 && out.Python == nil:
		return nil, call.Unavailable(c.Name)
	case c.Protocol == 0:
		return out.Python(c.of.plan.Root, "the "+c.Kind+" "+c.Name, request, t.answer)
	case c.Speaks == "":
		return nil, value.Errorf(value.Failure, "plan again", "%s was not trusted when the plan was made", c.of.plan.Shown(c.Path))
	}
	return out.Plugin(c.of.plan.Root, c.Callee, request)
}
