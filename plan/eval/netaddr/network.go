package netaddr

import (
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// network is an address with the network it is in: 192.0.2.10/24 keeps the 10. A lone address is a network of one.
type network struct {
	ip   netip.Addr
	bits int
	// alone is set if it was written without a prefix: such a value is an address even where its network is asked for.
	alone bool
}

// parse reads an address, a network with a prefix or a mask, or a number. The version is 4 or 6 if only that one is wanted: it decides
// what a number means, and nothing else.
func parse(v any, version int) (network, bool) {
	text := strings.TrimSpace(fmt.Sprint(v))
	if n, ok := parseDigits(text); ok {
		ip, ok := addrOf(n, version)
		return network{ip: ip, bits: ip.BitLen(), alone: true}, ok
	}
	address, prefix, hasPrefix := strings.Cut(text, "/")
	ip, ok := parseAddr(address)
	if !ok {
		n, isNumber := parseDigits(address)
		if !isNumber || !hasPrefix {
			return network{}, false
		}
		if ip, ok = addrOf(n, 0); !ok {
			return network{}, false
		}
	}
	if !hasPrefix {
		return network{ip: ip, bits: ip.BitLen(), alone: true}, true
	}
	bits, ok := parsePrefix(prefix, ip)
	return network{ip: ip, bits: bits}, ok
}

func parseDigits(text string) (*big.Int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return nil, false
	}
	return new(big.Int).SetString(text, 10)
}

// parseAddr reads an address. Zones are refused: they belong to an interface, and no network has one.
func parseAddr(text string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(text)
	return ip, err == nil && ip.Zone() == ""
}

// parsePrefix reads what stands behind the slash: a length, a netmask, or the mask of the hosts.
func parsePrefix(text string, ip netip.Addr) (int, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, n >= 0 && n <= ip.BitLen()
	}
	mask, ok := parseAddr(text)
	if !ok || mask.BitLen() != ip.BitLen() {
		return 0, false
	}
	n := number(mask)
	for bits := range ip.BitLen() + 1 {
		hosts := hostMask(ip.BitLen(), bits)
		if n.Cmp(hosts) == 0 && bits < ip.BitLen() && bits > 0 || n.Cmp(new(big.Int).Xor(hosts, hostMask(ip.BitLen(), 0))) == 0 {
			return bits, true
		}
	}
	return 0, false
}

// hostMask has a one for each bit of the hosts.
func hostMask(length, bits int) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(length-bits))
	return n.Sub(n, big.NewInt(1))
}

func number(ip netip.Addr) *big.Int { return new(big.Int).SetBytes(ip.AsSlice()) }

// addrOf gives the address with a number: of version 4 if it fits and 6 is not asked for.
func addrOf(n *big.Int, version int) (netip.Addr, bool) {
	length := 4
	if version == 6 || n.BitLen() > 32 {
		length = 16
	}
	return addrOfLength(n, length*8)
}

func addrOfLength(n *big.Int, bits int) (netip.Addr, bool) {
	if n.Sign() < 0 || n.BitLen() > bits {
		return netip.Addr{}, false
	}
	return netip.AddrFromSlice(n.FillBytes(make([]byte, bits/8)))
}

func (n network) version() int {
	if n.ip.Is4() {
		return 4
	}
	return 6
}

func (n network) prefix() netip.Prefix { return netip.PrefixFrom(n.ip, n.bits).Masked() }

// first and last are the ends of the network, with those that no host has.
func (n network) first() netip.Addr { return n.prefix().Addr() }

func (n network) last() netip.Addr {
	ip, _ := addrOfLength(new(big.Int).Or(number(n.first()), n.hostmask()), n.ip.BitLen())
	return ip
}

func (n network) hostmask() *big.Int { return hostMask(n.ip.BitLen(), n.bits) }

func (n network) mask(of *big.Int) string {
	ip, _ := addrOfLength(of, n.ip.BitLen())
	return ip.String()
}

func (n network) hostmaskText() string { return n.mask(n.hostmask()) }

func (n network) netmaskText() string {
	return n.mask(new(big.Int).Xor(n.hostmask(), hostMask(n.ip.BitLen(), 0)))
}

func (n network) size() *big.Int { return new(big.Int).Add(n.hostmask(), big.NewInt(1)) }

// hostBits is how many bits count hosts: 0 is a single address, 1 a pair of which both are usable.
func (n network) hostBits() int { return n.ip.BitLen() - n.bits }

func (n network) String() string { return n.with(n.ip) }

// with is another address in the same network, as text.
func (n network) with(ip netip.Addr) string { return spell(ip) + "/" + strconv.Itoa(n.bits) }

// isNetwork reports whether it is the network itself, not a host in it.
func (n network) isNetwork() bool { return n.ip == n.first() }

// usable are the first and the last address that a host may have.
func (n network) usable() (from, to netip.Addr) {
	if n.hostBits() <= 1 {
		return n.first(), n.last()
	}
	return n.first().Next(), n.last().Prev()
}

// contains reports whether all of m is in n.
func (n network) contains(m network) bool {
	return n.version() == m.version() && n.bits <= m.bits && n.prefix().Contains(m.ip)
}

// at gives the address with an index, from the end if it is negative.
func (n network) at(index *big.Int) (netip.Addr, bool) {
	base := n.first()
	if index.Sign() < 0 {
		index = new(big.Int).Add(n.size(), index)
	}
	if index.Sign() < 0 || index.Cmp(n.size()) >= 0 {
		return netip.Addr{}, false
	}
	return addrOfLength(new(big.Int).Add(number(base), index), n.ip.BitLen())
}

// spell writes an address as other programs do: those of version 6 that hold one of version 4 end with it.
func spell(ip netip.Addr) string {
	n := number(ip)
	if ip.Is4() || n.BitLen() > 32 || n.BitLen() <= 16 {
		return ip.String()
	}
	inner, _ := addrOfLength(n, 32)
	return "::" + inner.String()
}
