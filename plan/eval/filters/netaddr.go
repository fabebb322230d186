package filters

import (
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/netaddr"
	"moon/plan/eval/value"
)

// addressFilters are those that compute with addresses and networks.
func addressFilters() map[string]*Filter {
	return map[string]*Filter{
		"ipaddr": {Params: jinja.Takes("query? version? alias?"), Run: func(c *call.Input) (any, error) {
			version, err := c.ArgInt(1, 0)
			if err != nil {
				return nil, err
			}
			return asFailure(netaddr.Query(plain(c.Value), queryText(c), version))
		}},
		"ipv4":                {Params: jinja.Takes("query?"), Run: ofVersion(4)},
		"ipv6":                {Params: jinja.Takes("query?"), Run: ofVersion(6)},
		"ipwrap":              {Params: jinja.Takes("query?"), Run: filterIPWrap},
		"ipsubnet":            {Params: jinja.Takes("query? index?"), Run: filterIPSubnet},
		"ipmath":              {Params: jinja.Takes("amount"), Run: withSteps(netaddr.Add)},
		"nthhost":             {Params: jinja.Takes("query"), Run: withSteps(func(v any, n int) (any, error) { return netaddr.Host(v, n), nil })},
		"next_nth_usable":     {Params: jinja.Takes("offset"), Run: withSteps(func(v any, n int) (any, error) { return netaddr.NthUsable(v, n), nil })},
		"previous_nth_usable": {Params: jinja.Takes("offset"), Run: withSteps(func(v any, n int) (any, error) { return netaddr.NthUsable(v, -n), nil })},
		"network_in_network":  {Params: jinja.Takes("test"), Run: filterWithin(false)},
		"network_in_usable":   {Params: jinja.Takes("test"), Run: filterWithin(true)},
		"reduce_on_network":   {Params: jinja.Takes("network"), Run: filterReduceOnNetwork},
		"cidr_merge":          {Params: jinja.Takes("action?"), Run: filterCIDRMerge},
		"usable_range":        {Run: filterUsableRange},
		"ip4_hex": {Params: jinja.Takes("delimiter?"), Run: func(c *call.Input) (any, error) {
			return asFailure(netaddr.Hex(plain(c.Value), c.ArgText(0, "")))
		}},
		"slaac": {Params: jinja.Takes("query"), Run: func(c *call.Input) (any, error) {
			return netaddr.Autoconfigured(plain(c.Value), c.ArgText(0, "")), nil
		}},
		"hwaddr":  {Params: jinja.Takes("query?"), Run: filterHardware},
		"macaddr": {Params: jinja.Takes("query?"), Run: filterHardware},
	}
}

// addressTests are those of a network and what is in it.
func addressTests() map[string]*Test {
	within := func(of func(c *call.Input) (outer, inner any)) *Test {
		return &Test{Params: jinja.Takes("network"), Run: func(c *call.Input) (bool, error) {
			outer, inner := of(c)
			in, err := netaddr.Within(plain(outer), plain(inner), false)
			// What is not an address is in no network.
			return in && err == nil, nil
		}}
	}
	inside := func(c *call.Input) (any, any) { return c.Arg(0), c.Value }
	isVersion := func(version int) *Test {
		return &Test{Run: func(c *call.Input) (bool, error) {
			is, err := netaddr.Query(plain(c.Value), "bool", version)
			return is == true && err == nil, nil
		}}
	}
	return map[string]*Test{
		"ip":          isVersion(0),
		"ipv4":        isVersion(4),
		"ipv6":        isVersion(6),
		"in_network":  within(inside),
		"subnet_of":   within(inside),
		"supernet_of": within(func(c *call.Input) (any, any) { return c.Value, c.Arg(0) }),
		"in_any_network": {Params: jinja.Takes("networks"), Run: func(c *call.Input) (bool, error) {
			list, err := value.ItemsOf(c.Arg(0))
			if err != nil {
				return false, err
			}
			for _, network := range list {
				if in, err := netaddr.Within(plain(network), plain(c.Value), false); in && err == nil {
					return true, nil
				}
			}
			return false, nil
		}},
	}
}

// plain gives a value without what is only known about how it is written.
func plain(v any) any {
	switch v := v.(type) {
	case value.Number:
		return v.Value
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	}
	return v
}

// asFailure makes what netaddr says an error of a template.
func asFailure(v any, err error) (any, error) {
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "%s", err)
	}
	return v, nil
}

func queryText(c *call.Input) string {
	if c.Arg(0) == nil {
		return ""
	}
	return c.ArgText(0, "")
}

func ofVersion(version int) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		return asFailure(netaddr.Query(plain(c.Value), queryText(c), version))
	}
}

// filterIPWrap puts addresses of version 6 in brackets, as URLs need them, and leaves everything else alone.
func filterIPWrap(c *call.Input) (any, error) {
	wrap := func(v any, asItIs bool) any {
		asked, err := netaddr.Query(v, queryText(c), 0)
		if err != nil || !value.Truthy(asked) {
			return v
		}
		// An item of a list stays as it is written, a value by itself is what the query gave.
		if asItIs {
			asked = v
		}
		wrapped, err := netaddr.Query(asked, "wrap", 0)
		if err != nil {
			return v
		}
		return wrapped
	}
	list, ok := plain(c.Value).([]any)
	if !ok {
		return wrap(plain(c.Value), false), nil
	}
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = wrap(v, true)
	}
	return all, nil
}

func filterIPSubnet(c *call.Input) (any, error) {
	var index *int
	if c.Has(1) && c.Args[1] != nil {
		n, err := c.ArgInt(1, 0)
		if err != nil {
			return nil, err
		}
		index = &n
	}
	return asFailure(netaddr.Subnet(plain(c.Value), queryText(c), index))
}

// withSteps calls what takes an address and a whole number.
func withSteps(of func(v any, n int) (any, error)) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		n, err := c.ArgInt(0, 0)
		if err != nil {
			return nil, err
		}
		return asFailure(of(plain(c.Value), n))
	}
}

func filterWithin(usable bool) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		return asFailure(netaddr.Within(plain(c.Value), plain(c.Arg(0)), usable))
	}
}

func filterReduceOnNetwork(c *call.Input) (any, error) {
	list, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	kept := []any{}
	for _, v := range list {
		in, err := netaddr.Within(plain(c.Arg(0)), plain(v), false)
		if err != nil {
			return asFailure(nil, err)
		}
		if in {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

func filterCIDRMerge(c *call.Input) (any, error) {
	list, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	action := c.ArgText(0, "merge")
	if action != "merge" && action != "span" {
		return nil, value.Errorf(value.Failure, "", "the action is `merge` or `span`, not %q", action)
	}
	return asFailure(netaddr.Merge(plain(list).([]any), action == "span"))
}

func filterUsableRange(c *call.Input) (any, error) {
	list, err := netaddr.Usable(plain(c.Value))
	if err != nil {
		return asFailure(nil, err)
	}
	return map[string]any{"usable_ips": list, "number_of_ips": len(list)}, nil
}

func filterHardware(c *call.Input) (any, error) {
	return asFailure(netaddr.Hardware(plain(c.Value), queryText(c)))
}
