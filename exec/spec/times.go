package spec

import (
	"fmt"
	"strconv"
	"time"
)

// timeDigits are the directives of a time format that can be read, with how many digits each has at most.
var timeDigits = map[byte]int{'Y': 4, 'm': 2, 'd': 2, 'H': 2, 'M': 2, 'S': 2}

// ParseTime reads a time by a format of strptime. It knows numbers only: names of months depend on a language.
func ParseTime(text, format string, in *time.Location) (time.Time, error) {
	parts := map[byte]int{'Y': 1900, 'm': 1, 'd': 1}
	rest := text
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) || format[i+1] == '%' {
			if rest == "" || rest[0] != c {
				return time.Time{}, fmt.Errorf("must be like %s, found %q", format, text)
			}
			if c == '%' {
				i++
			}
			rest = rest[1:]
			continue
		}
		i++
		most, known := timeDigits[format[i]]
		if !known {
			return time.Time{}, fmt.Errorf("has a format with %%%c; moon reads %%Y, %%m, %%d, %%H, %%M and %%S", format[i])
		}
		n := 0
		for n < most && n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		number, err := strconv.Atoi(rest[:n])
		if err != nil {
			return time.Time{}, fmt.Errorf("must be like %s, found %q", format, text)
		}
		parts[format[i]], rest = number, rest[n:]
	}
	t := time.Date(parts['Y'], time.Month(parts['m']), parts['d'], parts['H'], parts['M'], parts['S'], 0, in)
	if rest != "" || int(t.Month()) != parts['m'] || t.Day() != parts['d'] || parts['H'] > 23 || parts['M'] > 59 {
		return time.Time{}, fmt.Errorf("must be like %s, found %q", format, text)
	}
	return t, nil
}
