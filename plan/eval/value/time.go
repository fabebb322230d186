package value

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Date is a moment of the calendar, as Python's datetime. It lives within one template: what a template gives is text.
type Date struct {
	time.Time      // in UTC if it is not zoned, whatever clock it was read from
	Zoned     bool // it says itself how far it is from UTC
}

// Span is the time between two dates, as Python's timedelta.
type Span struct{ Micros int64 }

const (
	microsOfSecond = int64(time.Second / time.Microsecond)
	microsOfDay    = 24 * 60 * 60 * microsOfSecond
)

// Kind implements Thing.
func (Date) Kind() string { return "a date" }

// Kind implements Thing.
func (Span) Kind() string { return "a time between dates" }

// String is how Python prints a date.
func (d Date) String() string { return d.print(" ") }

// ISO is the date in the form of ISO 8601.
func (d Date) ISO() string { return d.print("T") }

func (d Date) print(between string) string {
	format := "2006-01-02" + between + "15:04:05"
	if d.Nanosecond() >= int(time.Microsecond) {
		format += ".000000"
	}
	if d.Zoned {
		format += "-07:00"
	}
	return d.Format(format)
}

// Unix is in seconds. Without a zone the date is one of this machine's.
func (d Date) Unix() float64 {
	t := d.Time
	if !d.Zoned {
		t = time.Date(d.Year(), d.Month(), d.Day(), d.Hour(), d.Minute(), d.Second(), d.Nanosecond(), time.Local)
	}
	return float64(t.UnixMicro()) / float64(microsOfSecond)
}

// Get gives what Python calls an attribute.
func (d Date) Get(name string) (any, bool) {
	switch name {
	case "year":
		return d.Year(), true
	case "month":
		return int(d.Month()), true
	case "day":
		return d.Day(), true
	case "hour":
		return d.Hour(), true
	case "minute":
		return d.Minute(), true
	case "second":
		return d.Second(), true
	case "microsecond":
		return d.Nanosecond() / int(time.Microsecond), true
	}
	return nil, false
}

// days are whole ones, rounded down as Python does, and the rest is never negative.
func (s Span) days() (days, rest int64) {
	days = s.Micros / microsOfDay
	if rest = s.Micros % microsOfDay; rest < 0 {
		days, rest = days-1, rest+microsOfDay
	}
	return days, rest
}

// String is how Python prints a span: 2 days, 3:04:05.
func (s Span) String() string {
	days, rest := s.days()
	seconds := rest / microsOfSecond
	var b strings.Builder
	switch days {
	case 0:
	case 1, -1:
		fmt.Fprintf(&b, "%d day, ", days)
	default:
		fmt.Fprintf(&b, "%d days, ", days)
	}
	fmt.Fprintf(&b, "%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if micros := rest % microsOfSecond; micros > 0 {
		fmt.Fprintf(&b, ".%06d", micros)
	}
	return b.String()
}

// Seconds are all of it.
func (s Span) Seconds() float64 { return float64(s.Micros) / float64(microsOfSecond) }

// Get gives what Python calls an attribute.
func (s Span) Get(name string) (any, bool) {
	days, rest := s.days()
	switch name {
	case "days":
		return int(days), true
	case "seconds":
		return int(rest / microsOfSecond), true
	case "microseconds":
		return int(rest % microsOfSecond), true
	}
	return nil, false
}

// CalculateTime applies an operator to two values of which one is a date or a span. ok reports whether it works on them.
func CalculateTime(op string, a, b any) (v any, ok bool) {
	switch x := a.(type) {
	case Date:
		switch y := b.(type) {
		case Date:
			if op == "-" && x.Zoned == y.Zoned {
				return Span{x.UnixMicro() - y.UnixMicro()}, true
			}
		case Span:
			return x.shifted(op, y)
		}
	case Span:
		switch y := b.(type) {
		case Date:
			if op == "+" {
				return y.shifted(op, x)
			}
		case Span:
			return x.with(op, y)
		case int:
			return x.by(op, int64(y))
		}
	case int:
		if y, isSpan := b.(Span); isSpan && op == "*" {
			return y.by(op, int64(x))
		}
	}
	return nil, false
}

func (d Date) shifted(op string, by Span) (any, bool) {
	switch op {
	case "+":
	case "-":
		by.Micros = -by.Micros
	default:
		return nil, false
	}
	// By days first: a time.Duration holds no more than 292 years.
	days, rest := by.days()
	moved := d.AddDate(0, 0, int(days)).Add(time.Duration(rest) * time.Microsecond)
	return Date{moved, d.Zoned}, moved.Year() >= 1 && moved.Year() <= 9999
}

func (s Span) with(op string, other Span) (any, bool) {
	switch {
	case op == "+":
		return Span{s.Micros + other.Micros}, true
	case op == "-":
		return Span{s.Micros - other.Micros}, true
	case op == "/" && other.Micros != 0:
		return float64(s.Micros) / float64(other.Micros), true
	}
	return nil, false
}

func (s Span) by(op string, n int64) (any, bool) {
	if op != "*" || n != 0 && (s.Micros*n)/n != s.Micros {
		return nil, false
	}
	return Span{s.Micros * n}, true
}

// compareTimes orders two dates or two spans.
func compareTimes(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case Date:
		if b, same := b.(Date); same && a.Zoned == b.Zoned {
			return a.Compare(b.Time), true
		}
	case Span:
		if b, same := b.(Span); same {
			return cmp.Compare(a.Micros, b.Micros), true
		}
	}
	return 0, false
}
