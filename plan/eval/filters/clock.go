package filters

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// filterStrftime formats a time, in seconds since 1970, as the text before the bar says. Without one it would be the
// time of the plan.
func filterStrftime(c *call.Input) (any, error) {
	format, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	t := time.Time{}
	if c.Arg(0) == nil {
		// Steps have no clock: the same files must give the same plan.
		if c.World.Now == nil {
			return nil, value.Errorf(value.TypeError, "", "needs the seconds since 1970")
		}
		t, err = c.World.Now(c.Env)
		if t, err = call.Ask("now", "", t, err); err != nil {
			return nil, err
		}
	} else {
		seconds, ok := value.NumberOf(c.Args[0])
		if s, isText := c.Args[0].(string); isText {
			// Seconds often come as the text that `date +%s` printed.
			f, err := strconv.ParseFloat(s, 64)
			seconds, ok = f, err == nil
		}
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs the seconds since 1970, not %s", value.KindOf(c.Args[0]))
		}
		// Split first: a float64 of seconds since 1970 times 1e9 does not fit into 53 bits.
		whole := int64(value.Float(seconds))
		t = time.Unix(whole, int64((value.Float(seconds)-float64(whole))*1e9))
	}
	if c.ArgTruth(1) {
		t = t.UTC()
	}
	return FormatTime(t, format)
}

// filterToDatetime reads a date as a format says.
func filterToDatetime(c *call.Input) (any, error) {
	text, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	format := c.ArgText(0, "%Y-%m-%d %H:%M:%S")
	layout, err := dateLayout(format)
	if err != nil {
		return nil, err
	}
	t, parseErr := time.Parse(layout, oneSpace(text))
	// Go reads a fraction behind the seconds whether the layout has one or not.
	if parseErr != nil || t.Nanosecond() != 0 && !strings.Contains(format, "%f") {
		return nil, value.Errorf(value.Failure, "", "the text %q is not a date of the form %q", text, format)
	}
	if t.Year() == 0 { // without a year it is one of 1900, as in Python
		t = t.AddDate(1900, 0, 0)
	}
	return NewDate(c, t, strings.Contains(format, "%z")), nil
}

// oneSpace makes one space of any white space: to Python that of a format stands for any other.
func oneSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

// dateParts are the parts of a date that are read, by the letters that Python has for them. Numbers may have one digit less.
var dateParts = map[byte]string{
	'Y': "2006", 'm': "1", 'd': "2", 'H': "15", 'M': "4", 'S': "5", 'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday",
	'p': "PM", 'I': "3", 'j': "002", 'Z': "MST", 'z': "-0700", 'F': "2006-1-2", 'T': "15:4:5", 'R': "15:4", 'D': "1/2/06", '%': "%",
}

// dateLayout is the format of a date as Go has it.
func dateLayout(format string) (string, error) {
	format = strings.NewReplacer(".%f", "", ",%f", "").Replace(oneSpace(format))
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return "", value.Errorf(value.Failure, "write `%%` for a percent sign", "the format of a date ends in `%%`")
		}
		part, ok := dateParts[format[i]]
		if !ok {
			return "", value.Errorf(value.Failure, "", "the format of a date has `%%%c`, which cannot be read", format[i])
		}
		b.WriteString(part)
	}
	return b.String(), nil
}

// NewDate is a time as a date. One without a zone is what the clock on the wall shows.
func NewDate(c *call.Input, t time.Time, zoned bool) value.Date {
	c.Times = true
	if !zoned {
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	return value.Date{Time: t.Truncate(time.Microsecond), Zoned: zoned}
}

// FormatTime formats a time as C does.
func FormatTime(t time.Time, format string) (any, error) {
	layouts := map[byte]string{
		'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'y': "06", 'b': "Jan", 'h': "Jan", 'B': "January",
		'a': "Mon", 'A': "Monday", 'p': "PM", 'I': "03", 'Z': "MST", 'z': "-0700", 'e': "_2", 'F': "2006-01-02", 'T': "15:04:05",
		'R': "15:04", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		// Byte by byte is safe in UTF-8: no byte of a longer character is a percent sign.
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return nil, value.Errorf(value.Failure, "write `%%` for a percent sign", "the format of a time ends in `%%`")
		}
		layout, ok := layouts[format[i]]
		_, week := t.ISOWeek()
		switch verb := format[i]; {
		case ok:
			b.WriteString(t.Format(layout))
		case verb == '%':
			b.WriteByte('%')
		case verb == 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case verb == 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		case verb == 's':
			fmt.Fprintf(&b, "%d", t.Unix())
		case verb == 'w':
			fmt.Fprintf(&b, "%d", t.Weekday())
		// ISO counts Sunday as 7, Go as 0.
		case verb == 'u':
			fmt.Fprintf(&b, "%d", (t.Weekday()+6)%7+1)
		case verb == 'V':
			fmt.Fprintf(&b, "%02d", week)
		// C leaves this to the platform; a letter that comes out as it stands would be found much later.
		default:
			return nil, value.Errorf(value.Failure, "write `%%` for a percent sign", "the format of a time has an unknown `%%%c`", verb)
		}
	}
	return b.String(), nil
}
