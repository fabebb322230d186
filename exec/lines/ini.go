package lines

import (
	"regexp"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/pattern"
)

// byteOrderMark may begin a file in UTF-8. It goes with the first change, since it would stand in front of the first section.
const byteOrderMark = "\ufeff"

// iniText is a file with sections. Its part is the lines of the one section that the step is about, the head included; what comes
// before the first section has no head, so that it may have no line at all.
type iniText struct {
	*Text
	args     *spec.IniFileArgs
	from, to int  // of the part
	head     int  // lines of it: 1, or 0 before the first section
	found    bool // the section is there
	edited   Edited

	option *regexp.Regexp // a line of the option; the last group is its value
}

// PutOption sets the option of a section, or takes it out, or does so with the section. Of what it has put in that was not there before,
// Values are those of new lines, Section says that the section is new, and Created that there is anything.
func PutOption(text string, args *spec.IniFileArgs) Edited {
	plain := strings.TrimPrefix(text, byteOrderMark)
	d := iniText{Text: Read(plain), args: args, edited: Edited{Says: "OK"}}
	// Such files begin with an empty line, as Ansible leaves them: what is compared with its files is the same.
	if len(d.Lines) == 0 {
		d.Lines = []string{"\n"}
	}
	d.findSection()
	if args.State == "absent" {
		d.option = optionLine(args.Option, false)
		d.remove()
	} else {
		d.option = optionLine(args.Option, args.Inactive)
		d.put()
	}
	// Every line has an end, so that what the next program adds is a line of its own.
	d.Open = false
	now := d.String()
	if args.IfEmpty && strings.TrimSpace(now) == "" {
		now = "" // what moon has created is as before without it
	}
	if now == plain || plain == "" && now == "\n" {
		return Edited{Text: text, Says: "OK"}
	}
	d.edited.Text = now
	return d.edited
}

// optionLine matches the lines of an option: its name and nothing else, or an equals sign and a value. A comment may hide one.
func optionLine(name string, hidden bool) *regexp.Regexp {
	begin := `^[ \t]*`
	if hidden {
		begin = `^[#;]?[ \t]*`
	}
	return regexp.MustCompile(begin + regexp.QuoteMeta(name) + `[ \t]*(?:=|$)[ \t]*(.*)$`)
}

// sectionName is the name in a line that begins a section.
func sectionName(line string) (name string, ok bool) {
	if !strings.HasPrefix(line, "[") {
		return "", false
	}
	name, _, _ = strings.Cut(line[1:], "]")
	return strings.TrimSpace(name), true
}

// findSection finds the lines of the section, of several with one name the first.
func (d *iniText) findSection() {
	d.found, d.to = d.args.Section == "", len(d.Lines)
	for i := range d.Lines {
		name, begins := sectionName(d.Line(i))
		switch {
		case !begins:
		case d.found:
			d.to = i
			return
		case name == d.args.Section, strings.HasPrefix(d.Line(i), "["+d.args.Section+"]"):
			d.found, d.from, d.head = true, i, 1
		}
	}
}

// value is the value of the option in a line of the part.
func (d *iniText) value(i int) (value string, ok bool) {
	m := d.option.FindStringSubmatch(d.Line(i))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// assignment is the line of a value; that of none is the option alone.
func (d *iniText) assignment(value string) string {
	switch {
	case value == "" && d.args.AllowNoValue:
		return d.args.Option
	case d.args.NoSpaces:
		return d.args.Option + "=" + value
	}
	return d.args.Option + " = " + value
}

// replace puts a line in the place of another.
func (d *iniText) replace(i int, value string) {
	line := d.assignment(value)
	is, active := optionLine(d.args.Option, false).FindStringSubmatch(d.Line(i)), false
	if is != nil {
		active = strings.TrimSpace(is[1]) == strings.TrimSpace(value)
	}
	if d.Line(i) == line || d.args.IgnoreSpaces && active {
		return
	}
	d.Put(i, i+1, line)
	d.edited.Says = "option changed"
}

// drop takes the lines of the part out that are meant.
func (d *iniText) drop(meant func(i int) bool) {
	for i := d.to - 1; i >= d.from+d.head; i-- {
		if meant(i) {
			d.Put(i, i+1)
			d.to--
			d.edited.Says = "option changed"
		}
	}
}

// put ensures the option.
func (d *iniText) put() {
	args := d.args
	if !d.found {
		d.edited.Says = "only section added"
		d.Put(len(d.Lines), len(d.Lines), "["+args.Section+"]")
		if args.Option != "" {
			d.edited.Says = "section and option added"
			d.add(len(d.Lines), args.Wanted, false)
		}
		d.edited.Section, d.edited.Created = true, true
		return
	}
	if args.Option == "" {
		return
	}
	left, settled, bare := d.keepValues()
	if args.Exclusive && !args.AllowNoValue {
		// Values without a line take over those of others, from the top, and what is left of the others goes.
		for i := d.from + d.head; i < d.to && len(left) > 0; i++ {
			if _, is := d.value(i); is && !settled[i] {
				d.replace(i, left[0])
				settled[i], left = true, left[1:]
			}
		}
		d.drop(func(i int) bool { _, is := d.value(i); return is && !settled[i] })
	}
	if d.add(d.lastLine(), left, bare) {
		d.edited.Says = "option added"
	}
}

// add puts in the lines of values; without any, the option alone, unless there is one already.
func (d *iniText) add(at int, values []string, bare bool) bool {
	if len(d.args.Wanted) == 0 && !bare {
		values = []string{""}
	}
	for i, value := range values {
		d.Put(at+i, at+i, d.assignment(value))
	}
	d.edited.Values, d.edited.Created = values, len(values) > 0
	return len(values) > 0
}

// keepValues settles the lines that have one of the values: written as they should be they stay. It returns the values that have no
// line, and whether there is a line of the option alone.
func (d *iniText) keepValues() (left []string, settled map[int]bool, bare bool) {
	left, settled = slices.Clone(d.args.Wanted), map[int]bool{}
	for i := d.from + d.head; i < d.to; i++ {
		value, is := d.value(i)
		at := slices.Index(left, value)
		switch {
		case !is:
		case at >= 0:
			d.replace(i, value)
			settled[i], bare = true, bare || value == "" && d.args.AllowNoValue
			left = slices.Delete(left, at, at+1)
		case len(left) == 0 && len(d.args.Wanted) == 0 && d.args.AllowNoValue:
			d.replace(i, "")
			settled[i] = true
			return left, settled, true
		}
	}
	return left, settled, bare
}

// blankOrComment matches the lines that may follow the last option of a section.
var blankOrComment = pattern.New(`^[ \t]*([#;].*)?$`)

// lastLine is where an option is added: below the last line of the part that is neither blank nor a comment.
func (d *iniText) lastLine() int {
	end := d.to
	for end > d.from+d.head && blankOrComment.MatchString(d.Line(end-1)) {
		end--
	}
	return end
}

// remove takes out the option, some of its values, or the section.
func (d *iniText) remove() {
	args := d.args
	switch {
	case !d.found:
	case args.Option != "" && args.Exclusive:
		d.drop(func(i int) bool { _, is := d.value(i); return is })
	case args.Option != "":
		d.drop(func(i int) bool { value, is := d.value(i); return is && slices.Contains(args.Wanted, value) })
	case args.IfEmpty && strings.TrimSpace(strings.Join(d.Between(d.from+d.head, d.to), "")) != "":
	case d.from < d.to:
		d.Put(d.from, d.to)
		d.edited.Says = "section removed"
	}
}
