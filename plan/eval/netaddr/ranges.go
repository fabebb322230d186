package netaddr

import (
	"math/big"
	"net/netip"
)

// private are the ranges that no one is reached at from outside. They are wider than those that netip calls private: what is shared by a
// provider, or by a link, counts as well.
var private = parsePrefixes(
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "239.0.0.0/8",
	"169.254.0.0/16",
	"fc00::/7", "fec0::/10", "fe80::/10",
)

func parsePrefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

func isPrivate(n network) bool {
	for _, p := range private {
		if (network{ip: p.Addr(), bits: p.Bits()}).contains(n) {
			return true
		}
	}
	return false
}

// isPublic reports whether an address is one host's, in the whole world. Masks look like addresses and are none.
func isPublic(ip netip.Addr) bool {
	return !ip.IsMulticast() && !ip.IsLoopback() && !isPrivate(network{ip: ip, bits: ip.BitLen()}) && !isMask(ip)
}

// isMask reports whether the bits are ones and then zeros, or zeros and then ones.
func isMask(ip netip.Addr) bool {
	n := number(ip)
	if n.Sign() == 0 {
		return true
	}
	ones := hostMask(ip.BitLen(), 0)
	for _, bits := range []*big.Int{n, new(big.Int).Xor(n, ones)} {
		// One more than ones from the right is a single one.
		if next := new(big.Int).Add(bits, big.NewInt(1)); new(big.Int).And(next, bits).Sign() == 0 {
			return true
		}
	}
	return false
}
