package hostnames

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/plan"
)

// hostsNamed is how many names, or ranges of them, a list of hosts has at most.
const hostsNamed = 4

// List is a list of hosts in few words: "web1, db1", "web[01:20] (20 hosts)". Ranges are written as inventories have them.
func List(hosts []string) string {
	var parts []string
	named, cut := 0, false
	for i := 0; i < len(hosts); {
		n := inSequence(hosts[i:])
		// Two names are as short as a range of two.
		if n < 3 {
			n = 1
		}
		// The last place is for what ends the list, or else for the number of the rest.
		if len(parts) == hostsNamed-1 && i+n < len(hosts) {
			cut = true
			break
		}
		part := hosts[i]
		if n > 1 {
			head, from, tail := numbered(hosts[i])
			_, to, _ := numbered(hosts[i+n-1])
			part = fmt.Sprintf("%s[%s:%s]%s", head, from, to, tail)
		}
		parts = append(parts, part)
		i += n
		named = i
	}
	text := strings.Join(parts, ", ")
	if cut {
		return fmt.Sprintf("%s and %d more (%s)", text, len(hosts)-named, plan.CountOf(len(hosts), "host"))
	}
	if len(hosts) > len(parts) && len(hosts) > hostsNamed {
		text += " (" + plan.CountOf(len(hosts), "host") + ")"
	}
	return text
}

// inSequence is how many hosts at the beginning differ only in a number that goes up by one.
func inSequence(hosts []string) int {
	head, number, tail := numbered(hosts[0])
	at, err := strconv.Atoi(number)
	if err != nil {
		return 1
	}
	n := 1
	for ; n < len(hosts); n++ {
		// The zeros are part of the name: web09 is followed by web10, and web9 is another host.
		if hosts[n] != fmt.Sprintf("%s%0*d%s", head, len(number), at+n, tail) {
			break
		}
	}
	return n
}

// numbered splits the name of a host at the first number in it: web, 01 and .example.org.
func numbered(host string) (head, number, tail string) {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	from := strings.IndexFunc(host, digit)
	if from < 0 {
		return host, "", ""
	}
	rest := host[from:]
	to := strings.IndexFunc(rest, func(r rune) bool { return !digit(r) })
	if to < 0 {
		to = len(rest)
	}
	return host[:from], rest[:to], rest[to:]
}

// Nameless is a text with <host> where the name of a host stands as a word of its own.
func Nameless(host, text string) string {
	var out strings.Builder
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for {
		at := strings.Index(text, host)
		if at < 0 || host == "" {
			return out.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(out.String() + text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(host):])
		out.WriteString(text[:at])
		if part(before) || part(after) {
			out.WriteString(host)
		} else {
			out.WriteString("<host>")
		}
		text = text[at+len(host):]
	}
}
