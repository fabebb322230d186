package pki

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeUnits are the units of a time from now, in the order in which they stand.
var timeUnits = []struct {
	letter string
	is     time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// ParseTime reads a time from now, as +32w1d2h, or a point in time, as 20301231235959Z.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if text != "" && strings.ContainsAny(text[:1], "+-") {
		after, ok := parseOffset(text[1:])
		if !ok {
			return now, fmt.Errorf("is %q, which is not like +32w1d2h or 20301231235959Z", text)
		}
		if text[0] == '-' {
			after = -after
		}
		return now.UTC().Add(after), nil
	}
	for _, layout := range []string{Time, "200601021504Z", "20060102150405-0700", "200601021504-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return now, fmt.Errorf("is %q, which is not like +32w1d2h or 20301231235959Z", text)
}

// parseOffset reads 32w1d2h. A number without a unit at the end is seconds.
func parseOffset(text string) (sum time.Duration, ok bool) {
	for _, unit := range timeUnits {
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		if digits == 0 || digits > 9 {
			continue
		}
		n, err := strconv.Atoi(text[:digits])
		if err != nil {
			return 0, false
		}
		rest := text[digits:]
		switch {
		case len(rest) > 0 && strings.EqualFold(rest[:1], unit.letter):
			rest = rest[1:]
		case unit.letter != "s" || rest != "":
			continue
		}
		sum, text, ok = sum+time.Duration(n)*unit.is, rest, true
	}
	return sum, ok && text == ""
}
