package netaddr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// hardware are the ways to write a hardware address: how many digits are together, what is between, whether they are capital, and
// whether zeros in front are dropped.
var hardware = map[string]struct {
	digits  int
	between string
	capital bool
	short   bool
}{
	"bare":       {12, "", true, false},
	"cisco":      {4, ".", false, false},
	"eui48":      {2, "-", true, false},
	"win":        {2, "-", true, false},
	"linux":      {2, ":", false, false},
	"unix":       {2, ":", false, true},
	"pgsql":      {6, ":", false, false},
	"postgresql": {6, ":", false, false},
}

// Hardware answers a question about a hardware address: false if it is none and nothing more is asked, itself if it is one, or the same
// as another program writes it.
func Hardware(v any, query string) (any, error) {
	n, ok := parseHardware(fmt.Sprint(v))
	switch {
	case !ok && (query == "" || query == "bool"):
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("%v is not a hardware address", v)
	}
	switch query {
	case "":
		return v, nil
	case "bool":
		return true, nil
	case "int":
		return int(n), nil
	}
	style, ok := hardware[query]
	if !ok {
		return nil, fmt.Errorf("%q is not a way to write a hardware address; those are bare, cisco, eui48, linux, pgsql, unix, win; and bool, int",
			query)
	}
	digits := fmt.Sprintf("%012x", n)
	if style.capital {
		digits = strings.ToUpper(digits)
	}
	var words []string
	for at := 0; at < len(digits); at += style.digits {
		word := digits[at : at+style.digits]
		if style.short {
			if word = strings.TrimLeft(word, "0"); word == "" {
				word = "0"
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, style.between), nil
}

// parseHardware reads an address of 48 bits in any of the ways.
func parseHardware(text string) (uint64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	var words []string
	width := 2
	switch {
	case strings.Contains(text, ":"):
		words = strings.Split(text, ":")
	case strings.Contains(text, "-"):
		words = strings.Split(text, "-")
	case strings.Contains(text, "."):
		words = strings.Split(text, ".")
	default:
		words, width = []string{text}, 12
		if len(text) != 12 && len(text) != 11 {
			return 0, false
		}
	}
	switch len(words) {
	case 3:
		width = 4
	case 2:
		width = 6
	case 6, 1:
	default:
		return 0, false
	}
	var n uint64
	for _, word := range words {
		part, err := strconv.ParseUint(word, 16, 64)
		if err != nil || word == "" || len(word) > width {
			return 0, false
		}
		n = n<<(4*width) | part
	}
	return n, true
}

// Autoconfigured gives the address of version 6 that a machine with a hardware address gives itself in a network; false if there is no
// such network or address.
func Autoconfigured(v any, hardwareAddress string) any {
	n, ok := parse(v, 0)
	mac, isMAC := parseHardware(hardwareAddress)
	if !ok || !isMAC || n.version() != 6 {
		return false
	}
	b := n.first().As16()
	// The middle is marked, and the bit that says who has given the number is turned: RFC 4291, appendix A.
	eui := mac>>24<<40 | 0xfffe<<24 | mac&0xffffff
	eui ^= 1 << 57
	for i := range 8 {
		b[15-i] |= byte(eui >> (8 * i))
	}
	return netip.AddrFrom16(b).String()
}
