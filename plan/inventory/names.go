package inventory

import (
	"fmt"
	"strconv"
	"strings"
)

// most is how many hosts one name may stand for, and mostHosts how many there may be in all.
const (
	most      = 100_000
	mostHosts = 1_000_000
)

// splitPort takes a port off a host's name. Addresses of IPv6 have one only in the form [address]:port.
func splitPort(name string) (host, port string) {
	at := strings.LastIndexByte(name, ':')
	if at < 1 || !isNumber(name[at+1:]) {
		return name, ""
	}
	host, port = name[:at], name[at+1:]
	// [::1]:22 is an address with a port, web[1:3]:22 a range with one.
	if inside, ok := strings.CutPrefix(host, "["); ok {
		if inside, ok = strings.CutSuffix(inside, "]"); ok && isAddress(inside) {
			return inside, port
		}
	}
	within := false // the brackets of a range, where a colon is its own
	for _, c := range host {
		switch {
		case c == '[':
			within = true
		case c == ']':
			within = false
		case c == ':' && !within:
			return name, ""
		}
	}
	if within {
		return name, ""
	}
	return host, port
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// isAddress reports whether brackets are around an address or a name, and not around a range.
func isAddress(inside string) bool {
	colons := strings.Count(inside, ":")
	return inside != "" && !strings.ContainsAny(inside, "[]") && (colons == 0 || colons == 7 || strings.Contains(inside, "::"))
}

// expandName gives the names that one stands for, as long as there is room for them.
func (inv *Inventory) expandName(name string) ([]string, error) {
	names, err := expandRanges(name)
	if err == nil && len(inv.Hosts)+len(names) > mostHosts {
		err = fmt.Errorf("there are more than %d hosts in all", mostHosts)
	}
	return names, err
}

// expandRanges gives the names that one with ranges stands for: web[1:3], web[01:10:2], db-[a:c].
func expandRanges(name string) ([]string, error) {
	names := []string{""}
	for {
		from := strings.IndexByte(name, '[')
		if from < 0 {
			if strings.Contains(name, "]") {
				return nil, fmt.Errorf("a `]` without its `[`")
			}
			return joinEach(names, []string{name}), nil
		}
		to := strings.IndexByte(name[from:], ']')
		if to < 0 {
			return nil, fmt.Errorf("a `[` is not closed")
		}
		to += from
		part, err := expandSequence(name[from+1 : to])
		if err != nil {
			return nil, err
		}
		if len(names)*len(part) > most {
			return nil, fmt.Errorf("these are more than %d hosts", most)
		}
		for i := range part {
			part[i] = name[:from] + part[i]
		}
		names = joinEach(names, part)
		name = name[to+1:]
	}
}

// joinEach puts every one of the ends behind every one of the beginnings.
func joinEach(beginnings, ends []string) []string {
	all := make([]string, 0, len(beginnings)*len(ends))
	for _, b := range beginnings {
		for _, e := range ends {
			all = append(all, b+e)
		}
	}
	return all
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// expandSequence returns what the inside of a range stands for: begin:end or begin:end:step.
func expandSequence(text string) ([]string, error) {
	bounds := strings.Split(text, ":")
	if len(bounds) != 2 && len(bounds) != 3 {
		return nil, fmt.Errorf("a range is [begin:end] or [begin:end:step], not [%s]", text)
	}
	step := 1
	if len(bounds) == 3 {
		var err error
		if step, err = strconv.Atoi(bounds[2]); err != nil || step < 1 {
			return nil, fmt.Errorf("the step of a range is a number from 1 on, not `%s`", bounds[2])
		}
	}
	begin, end := bounds[0], bounds[1]
	switch {
	case end == "":
		return nil, fmt.Errorf("the range [%s] has no end", text)
	case begin == "":
		begin = "0"
	}
	width := 0
	// A leading zero asks for numbers of that width.
	if len(begin) > 1 && begin[0] == '0' {
		if width = len(begin); len(end) != width {
			return nil, fmt.Errorf("begin and end of the range [%s] must have the same number of digits, as in [01:10]", text)
		}
	}
	if len(begin) == 1 && len(end) == 1 {
		if from, to := strings.Index(letters, begin), strings.Index(letters, end); from >= 0 && to >= 0 {
			// Capitals come after small letters, as in Ansible.
			return countNames(text, from, to, step, func(i int) string { return letters[i : i+1] })
		}
	}
	from, err := strconv.Atoi(begin)
	to, err2 := strconv.Atoi(end)
	if err != nil || err2 != nil || from < 0 || to < 0 {
		return nil, fmt.Errorf("a range goes from number to number or from letter to letter, not [%s]", text)
	}
	return countNames(text, from, to, step, func(i int) string { return fmt.Sprintf("%0*d", width, i) })
}

func countNames(text string, from, to, step int, name func(int) string) ([]string, error) {
	switch {
	case from > to:
		return nil, fmt.Errorf("the range [%s] ends before it begins", text)
	case (to-from)/step >= most:
		return nil, fmt.Errorf("these are more than %d hosts", most)
	}
	var names []string
	for i := from; i <= to; i += step {
		names = append(names, name(i))
		if i > to-step { // or the sum could overflow
			break
		}
	}
	return names, nil
}
