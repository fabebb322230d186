package netaddr

import (
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// asked is a value that a query is about: its network, and the text that it was, which is the answer where a query only lets through.
type asked struct {
	network
	given any
}

// kept gives the value where a condition holds, and null where not.
func (a asked) kept(holds bool) (any, error) {
	if holds {
		return a.given, nil
	}
	return nil, nil
}

// textIf gives a text where there is one to give, and null where not: an address has no broadcast.
func textIf(holds bool, text string) (any, error) {
	if !holds {
		return nil, nil
	}
	return text, nil
}

// notNetwork is the error of queries that ask a lone address for what only a network has.
func (a asked) needsNetwork() error {
	if a.alone {
		return fmt.Errorf("%v is an address; a network has a prefix: 192.0.2.0/24", a.given)
	}
	return nil
}

// integer gives a number as templates have them, and as text where it is too large for them.
func integer(n *big.Int) any {
	if n.IsInt64() {
		return int(n.Int64())
	}
	return n.String()
}

// queries are what can be asked of a value, by name. What is unknown here may be a network to look the value up in, or an index.
var queries map[string]func(a asked) (any, error)

// It is filled by init, since two queries ask others.
func init() {
	// Here and not where it is declared: some answers ask again, by a name of the table.
	queries = map[string]func(a asked) (any, error){
		"":                 func(a asked) (any, error) { return a.written(), nil },
		"6to4":             askSixToFour,
		"address":          askAddress,
		"address/prefix":   askHostPrefix,
		"bool":             func(asked) (any, error) { return true, nil },
		"broadcast":        func(a asked) (any, error) { return textIf(a.hostBits() > 1, spell(a.last())) },
		"cidr":             func(a asked) (any, error) { return a.String(), nil },
		"first_usable":     askUsable(func(from, _ netip.Addr) string { return spell(from) }),
		"last_usable":      askUsable(func(_, to netip.Addr) string { return spell(to) }),
		"range_usable":     askUsable(func(from, to netip.Addr) string { return spell(from) + "-" + spell(to) }),
		"host":             askHost,
		"hostmask":         func(a asked) (any, error) { return a.hostmaskText(), nil },
		"int":              askInteger,
		"ip/prefix":        func(a asked) (any, error) { return textIf(a.isHost(), a.String()) },
		"ip_netmask":       func(a asked) (any, error) { return textIf(a.isHost(), spell(a.ip)+" "+a.netmaskText()) },
		"ipv4":             askVersionFour,
		"ipv6":             askVersionSix,
		"link-local":       func(a asked) (any, error) { return a.kept(a.ip.IsLinkLocalUnicast()) },
		"loopback":         func(a asked) (any, error) { return a.kept(a.ip.IsLoopback()) },
		"multicast":        func(a asked) (any, error) { return a.kept(a.ip.IsMulticast()) },
		"unicast":          func(a asked) (any, error) { return a.kept(!a.ip.IsMulticast()) },
		"net":              func(a asked) (any, error) { return textIf(a.hostBits() > 0 && a.isNetwork(), a.String()) },
		"netmask":          func(a asked) (any, error) { return a.netmaskText(), nil },
		"network":          func(a asked) (any, error) { return spell(a.first()), nil },
		"network_netmask":  func(a asked) (any, error) { return spell(a.first()) + " " + a.netmaskText(), nil },
		"network_wildcard": func(a asked) (any, error) { return spell(a.first()) + " " + a.hostmaskText(), nil },
		"next_usable":      func(a asked) (any, error) { return a.neighbour(1) },
		"previous_usable":  func(a asked) (any, error) { return a.neighbour(-1) },
		"peer":             askPeer,
		"prefix":           func(a asked) (any, error) { return a.bits, nil },
		"private":          func(a asked) (any, error) { return a.kept(isPrivate(a.network)) },
		"public":           func(a asked) (any, error) { return a.kept(isPublic(a.ip)) },
		"revdns":           func(a asked) (any, error) { return reverse(a.ip), nil },
		"size":             func(a asked) (any, error) { return integer(a.size()), nil },
		"size_usable":      askUsableSize,
		"subnet":           func(a asked) (any, error) { return a.with(a.first()), nil },
		"type":             askType,
		"version":          func(a asked) (any, error) { return a.version(), nil },
		"wrap":             askWrapped,
	}
	for name, other := range map[string]string{
		"ip": "address", "lo": "loopback", "gateway": "address/prefix", "gw": "address/prefix", "router": "address/prefix",
		"host/prefix": "address/prefix", "hostnet": "address/prefix", "network_id": "network", "network/prefix": "subnet",
		"v4": "ipv4", "v6": "ipv6", "wildcard": "hostmask",
	} {
		queries[name] = queries[other]
	}
}

// Query answers a question about an address, a network or a number; of a list, about each item, and what is false is dropped. A version
// of 4 or 6 lets only that one through. A value that is not an address is false, and an unknown question an error.
func Query(v any, query string, version int) (any, error) {
	if list, ok := v.([]any); ok {
		answers := []any{}
		for _, item := range list {
			answer, err := Query(item, query, version)
			if err != nil {
				return nil, err
			}
			if !isEmpty(answer) {
				answers = append(answers, answer)
			}
		}
		return answers, nil
	}
	if isEmpty(v) || v == true {
		return false, nil
	}
	n, ok := parse(v, version)
	if !ok {
		return false, nil
	}
	a := asked{network: n, given: v}
	if _, isDigits := parseDigits(fmt.Sprint(v)); isDigits {
		a.given = n.String()
	} else if address, _, _ := strings.Cut(fmt.Sprint(v), "/"); !a.alone {
		// A number before the slash is written as the address it is.
		if _, isDigits := parseDigits(address); isDigits {
			a.given = n.String()
		}
	}
	if ask, ok := queries[query]; ok {
		if version != 0 && n.version() != version {
			return false, nil
		}
		return ask(a)
	}
	return a.lookUp(query, version)
}

// lookUp answers what is not a name of a query: whether the value is in a network, or the host with an index.
func (a asked) lookUp(query string, version int) (any, error) {
	index, isIndex := new(big.Int).SetString(query, 10)
	if !isIndex {
		within, ok := parse(query, 0)
		if !ok {
			return nil, unknownQuery(query)
		}
		if version != 0 && a.version() != version {
			return false, nil
		}
		return a.kept(within.contains(a.network))
	}
	switch {
	case version != 0 && a.version() != version:
		return false, nil
	case a.hostBits() == 0:
		return a.written(), nil
	}
	ip, ok := a.at(index)
	if !ok {
		return false, nil
	}
	return a.with(ip), nil
}

func unknownQuery(query string) error {
	names := slices.Sorted(maps.Keys(queries))
	return fmt.Errorf("%q is neither a network, nor an index, nor a query; queries are %s", query, strings.Join(names[1:], ", "))
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int:
		return v == 0
	}
	return false
}

// written is the value as it was asked for: an address alone, or with its prefix.
func (a asked) written() string {
	if a.alone {
		return spell(a.ip)
	}
	return a.String()
}

// isHost reports whether the address is one of a network, and not its own.
func (n network) isHost() bool { return n.hostBits() == 1 || n.hostBits() > 1 && !n.isNetwork() }

func askAddress(a asked) (any, error) {
	// A network of two has no broadcast, so both are addresses; so is the first of a network of version 6.
	return textIf(a.hostBits() <= 1 || !a.isNetwork() || a.version() == 6, spell(a.ip))
}

func askHostPrefix(a asked) (any, error) {
	if a.hostBits() > 1 && (a.isNetwork() || a.ip == a.last()) {
		return false, nil
	}
	return a.String(), nil
}

func askHost(a asked) (any, error) {
	return textIf(a.hostBits() == 0 || a.version() == 4 && a.hostBits() == 1 || !a.isNetwork(), a.String())
}

func askUsable(of func(from, to netip.Addr) string) func(a asked) (any, error) {
	return func(a asked) (any, error) {
		if err := a.needsNetwork(); err != nil {
			return nil, err
		}
		from, to := a.usable()
		return textIf(a.hostBits() > 0, of(from, to))
	}
}

func askUsableSize(a asked) (any, error) {
	switch a.hostBits() {
	case 0:
		return 0, nil
	case 1:
		return 2, nil
	}
	return integer(new(big.Int).Sub(a.size(), big.NewInt(2))), nil
}

func askInteger(a asked) (any, error) {
	if a.alone {
		return integer(number(a.ip)), nil
	}
	return number(a.ip).String() + "/" + strconv.Itoa(a.bits), nil
}

func askType(a asked) (any, error) {
	if a.hostBits() == 0 || !a.isNetwork() {
		return "address", nil
	}
	return "network", nil
}

func askWrapped(a asked) (any, error) {
	switch {
	case a.version() == 4:
		return a.given, nil
	case a.alone:
		return "[" + spell(a.ip) + "]", nil
	}
	return "[" + spell(a.ip) + "]/" + strconv.Itoa(a.bits), nil
}

// neighbour is the usable address that is so many further, null if there is none.
func (a asked) neighbour(steps int) (any, error) {
	if err := a.needsNetwork(); err != nil {
		return nil, err
	}
	return a.usableAt(steps), nil
}

// usableAt is the address that is so many behind this one, null if no host may have it.
func (n network) usableAt(steps int) any {
	ip, ok := addrOfLength(new(big.Int).Add(number(n.ip), big.NewInt(int64(steps))), n.ip.BitLen())
	from, to := n.usable()
	if !ok || n.hostBits() == 0 || ip.Less(from) || to.Less(ip) {
		return nil
	}
	return spell(ip)
}

// askPeer gives the other end of a link: the second address of a pair, or of the two hosts of a /30.
func askPeer(a asked) (any, error) {
	if err := a.needsNetwork(); err != nil {
		return nil, err
	}
	switch {
	case a.hostBits() == 1 && a.isNetwork():
		return spell(a.last()), nil
	case a.hostBits() == 1:
		return spell(a.first()), nil
	case a.hostBits() != 2:
		return nil, fmt.Errorf("%v is not a network of two hosts", a.given)
	case a.isNetwork() || a.ip == a.last():
		return nil, fmt.Errorf("%v is not a host: a /30 has two, and each is the peer of the other", a.given)
	}
	if from, to := a.usable(); a.ip != from {
		return spell(from), nil
	} else {
		return spell(to), nil
	}
}

// reverse is the name under which DNS has the name of an address.
func reverse(ip netip.Addr) string {
	bytes := ip.AsSlice()
	labels := make([]string, 0, 32)
	if ip.Is4() {
		for _, b := range bytes {
			labels = append(labels, strconv.Itoa(int(b)))
		}
		slices.Reverse(labels)
		return strings.Join(labels, ".") + ".in-addr.arpa."
	}
	for _, b := range bytes {
		labels = append(labels, strconv.FormatUint(uint64(b>>4), 16), strconv.FormatUint(uint64(b&15), 16))
	}
	slices.Reverse(labels)
	return strings.Join(labels, ".") + ".ip6.arpa."
}

// sixToFour is the range of addresses of version 6 that hold one of version 4.
var sixToFour = netip.MustParsePrefix("2002::/16")

func askSixToFour(a asked) (any, error) {
	if a.version() == 6 {
		if !sixToFour.Contains(a.ip) || !a.alone && a.isNetwork() {
			return false, nil
		}
		return a.given, nil
	}
	if a.hostBits() > 0 && a.isNetwork() || !isPublic(a.ip) && !isPrivate(network{ip: a.ip, bits: 32}) {
		return false, nil
	}
	b := a.ip.As4()
	return fmt.Sprintf("2002:%02x%02x:%02x%02x::1/48", b[0], b[1], b[2], b[3]), nil
}

func askVersionFour(a asked) (any, error) {
	if a.version() == 4 {
		return a.given, nil
	}
	n := number(a.ip)
	// What is mapped, or simply small, has one of version 4.
	if mapped := a.ip.Is4In6(); !mapped && n.BitLen() > 32 || a.bits < 96 {
		return false, nil
	}
	ip, _ := addrOfLength(new(big.Int).And(n, hostMask(32, 0)), 32)
	return network{ip: ip, bits: a.bits - 96}.String(), nil
}

func askVersionSix(a asked) (any, error) {
	if a.version() == 6 {
		return a.given, nil
	}
	return "::ffff:" + spell(a.ip) + "/" + strconv.Itoa(a.bits+96), nil
}
