package netaddr

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
)

// errNoAddress is what a value is that was to be an address or a network.
func errNoAddress(v any) error { return fmt.Errorf("%v is neither an address nor a network", v) }

// network reads a value of which only the network counts, without the host in it.
func networkOf(v any) (network, bool) {
	n, ok := parse(v, 0)
	if ok && n.isNetwork() {
		n.ip = n.first()
	}
	return n, ok
}

// Subnet takes a network apart. Without a query it gives the network. A length of a prefix counts the networks of that size in it, and
// with an index gives one of them; of an address, the network around it. Another network gives the place of the first in it.
func Subnet(v any, query string, index *int) (any, error) {
	n, ok := networkOf(v)
	if !ok {
		return false, nil
	}
	host := !n.isNetwork() || n.hostBits() == 0
	n.ip = n.first()
	if query == "" {
		return n.String(), nil
	}
	if bits, err := strconv.Atoi(query); err == nil && bits >= 0 {
		if bits > n.ip.BitLen() {
			return false, nil
		}
		if host {
			return n.around(bits, index)
		}
		return n.inside(bits, index)
	}
	outer, ok := networkOf(query)
	switch {
	case !ok:
		return nil, fmt.Errorf("%q is neither the length of a prefix nor a network", query)
	case !outer.contains(n):
		return nil, fmt.Errorf("%s is not in %s", n, network{ip: outer.first(), bits: outer.bits})
	}
	place := new(big.Int).Sub(number(n.ip), number(outer.first()))
	place.Rsh(place, uint(n.hostBits()))
	return place.Add(place, big.NewInt(1)).String(), nil
}

// around is the network with a prefix of that length which an address is in, or the one so many bits further in.
func (n network) around(bits int, index *int) (any, error) {
	at := bits
	if index != nil {
		if *index > n.ip.BitLen()+1-*index || *index < bits-n.ip.BitLen() {
			return false, nil
		}
		// The networks around it are counted from the outermost, which has the length that was asked for.
		if at = bits + *index; *index < 0 {
			at = n.bits + *index
		}
		if at < 0 || at >= n.bits && *index >= 0 {
			return nil, fmt.Errorf("there are %d networks around %s from /%d on; number %d is not among them", n.bits-bits, n, bits, *index)
		}
	}
	if index == nil && at >= n.bits {
		return nil, fmt.Errorf("there is no network around %s that is /%d", n, bits)
	}
	return netip.PrefixFrom(n.ip, at).Masked().String(), nil
}

// inside counts the networks of a size in this one, or gives one of them.
func (n network) inside(bits int, index *int) (any, error) {
	if bits < n.bits {
		if index != nil {
			return false, nil
		}
		return nil, fmt.Errorf("a network with /%d is larger than %s", bits, n)
	}
	count := new(big.Int).Lsh(big.NewInt(1), uint(bits-n.bits))
	if index == nil {
		return count.String(), nil
	}
	at := big.NewInt(int64(*index))
	if at.Sign() < 0 {
		at.Add(at, count)
	}
	if at.Sign() < 0 || at.Cmp(count) >= 0 {
		return false, nil
	}
	at.Lsh(at, uint(n.ip.BitLen()-bits))
	ip, _ := addrOfLength(at.Add(at, number(n.ip)), n.ip.BitLen())
	return network{ip: ip, bits: bits}.String(), nil
}

// Host gives the address with an index in a network, false if it has none.
func Host(v any, index int) any {
	n, ok := parse(v, 0)
	if !ok || big.NewInt(int64(index)).Cmp(n.size()) >= 0 {
		return false
	}
	ip, ok := n.at(big.NewInt(int64(index)))
	if !ok {
		return false
	}
	return spell(ip)
}

// NthUsable gives the address that is so many behind the one given, null if no host may have it, false if there is no address.
func NthUsable(v any, steps int) any {
	n, ok := networkOf(v)
	if !ok {
		return false
	}
	return n.usableAt(steps)
}

// Add gives an address so many further, whatever its network.
func Add(v any, amount int) (any, error) {
	n, ok := parse(v, 0)
	if !ok {
		return nil, errNoAddress(v)
	}
	ip, ok := addrOfLength(new(big.Int).Add(number(n.ip), big.NewInt(int64(amount))), n.ip.BitLen())
	if !ok {
		return nil, fmt.Errorf("there is no address %d from %s", amount, n.ip)
	}
	return spell(ip), nil
}

// Within reports whether an address or all of a network is in another; if usable, without the addresses that no host may have.
func Within(outer, inner any, usable bool) (bool, error) {
	o, ok := parse(outer, 0)
	if !ok {
		return false, errNoAddress(outer)
	}
	i, ok := parse(inner, 0)
	if !ok {
		return false, errNoAddress(inner)
	}
	if o.version() != i.version() {
		return false, nil
	}
	from, to := o.first(), o.last()
	if usable {
		from, to = o.usable()
	}
	// A host with a prefix stands for its network here.
	return !i.first().Less(from) && !to.Less(i.last()), nil
}

// Merge gives the fewest networks that are together those of the list; span gives the one network around all of them.
func Merge(list []any, span bool) (any, error) {
	var all []network
	for _, v := range list {
		n, ok := parse(v, 0)
		if !ok {
			return nil, errNoAddress(v)
		}
		n.ip = n.first()
		all = append(all, n)
	}
	if span {
		return spanning(all)
	}
	merged := merge(all)
	texts := make([]any, len(merged))
	for i, n := range merged {
		texts[i] = n.String()
	}
	return texts, nil
}

// merge sorts networks, drops those inside of others, and joins halves until none are left.
func merge(all []network) []network {
	slices.SortFunc(all, func(a, b network) int {
		if c := a.ip.Compare(b.ip); c != 0 {
			return c
		}
		return a.bits - b.bits
	})
	var done []network
	for _, n := range all {
		if len(done) > 0 && done[len(done)-1].contains(n) {
			continue
		}
		done = append(done, n)
		// Each join may make the half of another: 0/2 and 1/2 make what joins with 2/1.
		for len(done) > 1 {
			a, b := done[len(done)-2], done[len(done)-1]
			outer := network{ip: a.ip, bits: a.bits - 1}
			if a.version() != b.version() || a.bits != b.bits || a.bits == 0 || !outer.contains(b) || !outer.isNetwork() {
				break
			}
			done = append(done[:len(done)-2], outer)
		}
	}
	return done
}

func spanning(all []network) (any, error) {
	if len(all) == 0 {
		return nil, nil
	}
	outer := all[0]
	for _, n := range all[1:] {
		if n.version() != outer.version() {
			return nil, errors.New("no network holds addresses of both versions")
		}
		for !outer.contains(n) {
			outer.bits--
		}
	}
	outer.ip = outer.first()
	return outer.String(), nil
}

// Usable gives all addresses of a network, which must be small enough to list.
func Usable(v any) ([]any, error) {
	n, ok := parse(v, 0)
	switch {
	case !ok:
		return nil, errNoAddress(v)
	case !n.isNetwork():
		return nil, fmt.Errorf("%v is a host, not a network: %s is", v, n.with(n.first()))
	case n.hostBits() > 16:
		return nil, fmt.Errorf("%v has more addresses than can be listed", v)
	}
	list := make([]any, 0, 1<<n.hostBits())
	for ip := n.first(); ip.IsValid() && n.prefix().Contains(ip); ip = ip.Next() {
		list = append(list, spell(ip))
	}
	return list, nil
}

// Hex writes an address of version 4 in hexadecimal digits.
func Hex(v any, between string) (any, error) {
	n, ok := parse(v, 4)
	if !ok || n.version() != 4 {
		return nil, fmt.Errorf("%v is not an address of version 4", v)
	}
	b := n.ip.As4()
	return fmt.Sprintf("%02x%s%02x%s%02x%s%02x", b[0], between, b[1], between, b[2], between, b[3]), nil
}
