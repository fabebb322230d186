package value

import (
	"maps"
	"reflect"
	"slices"
)

// Changes are what methods have made of lists and maps while a text is rendered: append, update and the like. The values themselves never
// change, because variables, results and other renderings hold them too. What a list or map looks like by now is kept here, and found where
// it is read, by whatever name or other value it is reached: as in Python, two names may stand for one list.
type Changes struct {
	of   map[any]*state // by identity
	seen int            // lists and maps that were looked through
	lost []Missing      // set once any list and map may have been changed by what is not known yet
}

// state is what one list or map looks like by now. Several identities may lead to it: each copy of it that was handed out is it.
type state struct{ now any }

// listIdentity tells lists apart: where the items are, and how many. Lists that share items are different lists if one is longer.
type listIdentity struct {
	first *any
	items int
}

// identity tells lists and maps apart; nil for what cannot change, and for a list without room, which is nowhere: see Distinct.
func identity(v any) any {
	switch v := v.(type) {
	case []any:
		if cap(v) > 0 {
			return listIdentity{&v[:1][0], len(v)}
		}
	case *Dict:
		return v
	case map[string]any:
		if v != nil {
			return reflect.ValueOf(v).Pointer()
		}
	}
	return nil
}

// Same reports whether two values are one list or map.
func Same(a, b any) bool {
	id := identity(a)
	return id != nil && id == identity(b)
}

// Distinct is a value in which each list has an identity, also if it is empty.
func Distinct(v any) any {
	if !hasNowhere(v) { // looked through first: nearly none has
		return v
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v), max(1, len(v)))
		for i := range v {
			list[i] = Distinct(v[i])
		}
		return list
	case map[string]any, *Dict:
		return MapValues(v, Distinct)
	}
	return v
}

func hasNowhere(v any) bool {
	if list, ok := v.([]any); ok && cap(list) == 0 {
		return true
	}
	return anyPart(v, hasNowhere)
}

// anyPart reports whether is holds for an item of a list or a value of a map.
func anyPart(v any, is func(any) bool) bool {
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, is)
	}
	m, _ := MapOf(v)
	for _, item := range m {
		if is(item) {
			return true
		}
	}
	return false
}

// Copied is another list or map with the same contents.
func Copied(v any) any {
	switch v := v.(type) {
	case []any:
		return append(make([]any, 0, max(1, len(v))), v...)
	case map[string]any, *Dict:
		return MapValues(v, func(item any) any { return item })
	}
	return v
}

// state finds what a list or map looks like, and begins to keep it if nothing is kept yet.
func (c *Changes) state(v any) *state {
	id := identity(v)
	if id == nil {
		return nil
	}
	if s := c.of[id]; s != nil {
		return s
	}
	if list, ok := v.([]any); ok {
		// Clipped, so that the first append copies: others may have the items behind it.
		v = slices.Clip(list)
	}
	s := &state{v}
	c.keep(id, s)
	return s
}

func (c *Changes) keep(id any, s *state) {
	if id == nil {
		return
	}
	if c.of == nil {
		c.of = map[any]*state{}
	}
	c.of[id] = s
}

// Now is what a list or map looks like by now, with its contents as they are stored.
func (c *Changes) Now(v any) any {
	if c == nil || len(c.of) == 0 {
		return v
	}
	if s := c.of[identity(v)]; s != nil {
		if list, ok := s.now.([]any); ok {
			c.keep(identity(list), s) // it may be handed on
		}
		return s.now
	}
	return v
}

// Current is what a value looks like by now, in depth. Spend counts what is copied for that.
func (c *Changes) Current(v any, spend func(int) *Error) (any, *Error) {
	if c == nil || c.lost == nil && len(c.of) == 0 {
		return v, nil
	}
	if c.lost != nil && identity(v) != nil {
		return &Unsettled{Missing: c.lost}, nil
	}
	now := c.Now(v)
	if identity(now) == nil {
		return now, nil
	}
	// Weighed as in Settle: to look at a part costs less than to evaluate a node.
	if c.seen++; c.seen%16 == 0 {
		if err := spend(1); err != nil {
			return nil, err
		}
	}
	made, err := c.currentParts(now, spend)
	if made != nil && err == nil {
		// A copy to read from is still the same list or map.
		c.keep(identity(made), c.state(v))
		return made, nil
	}
	return now, err
}

// currentParts is a copy of a list or map with its contents as they are by now; nil if they are unchanged.
func (c *Changes) currentParts(v any, spend func(int) *Error) (made any, err *Error) {
	part := func(item any) (any, bool) {
		now, e := c.Current(item, spend)
		if err == nil {
			err = e
		}
		_, open := now.(*Unsettled)
		return now, open || identity(now) != identity(item)
	}
	if list, ok := v.([]any); ok {
		var all []any
		for i, item := range list {
			if now, other := part(item); other {
				if all == nil {
					all = slices.Clone(list)
				}
				all[i] = now
			}
		}
		if all == nil {
			return nil, err
		}
		if e := spend(len(all)); err == nil {
			err = e
		}
		return all, err
	}
	m, _ := MapOf(v)
	others := map[string]any{}
	for key, item := range m {
		if now, other := part(item); other {
			others[key] = now
		}
	}
	if len(others) == 0 {
		return nil, err
	}
	if e := spend(len(m)); err == nil {
		err = e
	}
	made = Copied(v)
	all, _ := MapOf(made) // of a map that nobody else has
	maps.Copy(all, others)
	return made, err
}

// Link says that one value is a copy of another that stands for it, such as one without the marks of secrets.
func (c *Changes) Link(made, of any) {
	if c == nil || identity(made) == nil || Same(made, of) {
		return
	}
	if s := c.state(of); s != nil {
		c.keep(identity(made), s)
	}
	switch of := of.(type) {
	case []any:
		list, _ := made.([]any)
		for i := 0; i < len(list) && i < len(of); i++ {
			c.Link(list[i], of[i])
		}
	case map[string]any, *Dict:
		for _, key := range KeysOf(of) {
			item, _ := EntryOf(of, key)
			other, _ := EntryOf(made, key)
			c.Link(other, item)
		}
	}
}

// Change has a list or map look otherwise from now on. It reports false for what has no identity.
func (c *Changes) Change(v, now any) bool {
	s := c.state(v)
	if s == nil {
		return false
	}
	s.now = now
	return true
}

// Holds reports whether a value is, or has in it, the list or map that of is.
func (c *Changes) Holds(v, of any) bool {
	id := identity(v)
	return id != nil && (c.of[id] == c.state(of) || c.HoldsInside(v, of))
}

// HoldsInside reports whether a value has in it the list or map that of is.
func (c *Changes) HoldsInside(v, of any) bool {
	return anyPart(c.Now(v), func(item any) bool { return c.Holds(item, of) })
}

// Lose has all lists and maps in a value be open: what is not known yet may have changed them.
func (c *Changes) Lose(v any, missing []Missing) {
	id := identity(v)
	if id == nil {
		return
	}
	now := c.Now(v)
	if s := c.state(v); s != nil {
		s.now = &Unsettled{Missing: missing}
	}
	anyPart(now, func(item any) bool { c.Lose(item, missing); return false })
}

// LoseAll has all lists and maps be open.
func (c *Changes) LoseAll(missing []Missing) { c.lost = UniteMissing(c.lost, missing) }
