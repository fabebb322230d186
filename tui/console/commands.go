package console

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/suggest"
)

// verb is something that can be typed.
type verb struct {
	name  string
	also  []string // other words for it; letters are those of the screen's keys, and Ansible's
	takes string
	does  string
	more  string // what else there is to say of it
	do    func(args string)

	starts   bool // it can make something run
	asks     bool // it asks something of the run, and an ended one cannot be asked
	atOnce   bool // in a script it does not wait until the run has come to rest
	predicts bool // it says what is predicted
}

// commands are the words that can be typed.
type commands struct {
	*speaker
	verbs []verb // in the order in which help lists them
}

// allNames are all words for a verb.
func (v *verb) allNames() []string { return append([]string{v.name}, v.also...) }

// lookUp finds what a line asks for: by a whole word, by the beginning of one, or by a letter, which is the screen's key. A
// line that begins with a number shows what has it. why says what is wrong with it.
func (c *commands) lookUp(line string) (v *verb, args, why string) {
	line = strings.TrimSpace(line)
	end := strings.IndexFunc(line, unicode.IsSpace)
	if end < 0 {
		end = len(line)
	}
	word, args := line[:end], strings.TrimSpace(line[end:])
	if isNumber(word) {
		word, args = "show", line
	}
	named := func(is func(name string) bool) (found []*verb) {
		for i := range c.verbs {
			if slices.ContainsFunc(c.verbs[i].allNames(), is) {
				found = append(found, &c.verbs[i])
			}
		}
		return found
	}
	lower := strings.ToLower(word)
	// From exact to vague: case counts at first, because letters are the keys of the screen, and `a` and `A` are two.
	for _, is := range []func(string) bool{
		func(name string) bool { return name == word },
		func(name string) bool { return name == lower },
		func(name string) bool { return len(name) > 1 && strings.HasPrefix(name, lower) },
	} {
		switch found := named(is); len(found) {
		case 0:
		case 1:
			return found[0], args, ""
		default:
			return nil, "", fmt.Sprintf("%s may be %s. type more of it.", clean(word), eitherOf(found, lower))
		}
	}
	return nil, "", c.unknownWords(word)
}

// eitherOf lists what a beginning may mean.
func eitherOf(found []*verb, start string) string {
	var names []string
	for _, v := range found {
		for _, name := range v.allNames() {
			if len(name) > 1 && strings.HasPrefix(name, start) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func (c *commands) unknownWords(word string) string {
	var known []string
	for i := range c.verbs {
		for _, name := range c.verbs[i].allNames() {
			// A letter resembles every short word.
			if len(name) > 2 {
				known = append(known, name)
			}
		}
	}
	if near := suggest.Nearest(word, known); near != "" && utf8.RuneCountInString(word) > 1 {
		return fmt.Sprintf("there is no command %s. did you mean %s? nothing was done.", clean(word), near)
	}
	return fmt.Sprintf("there is no command %s; help lists those there are. nothing was done.", clean(word))
}

// sayHelp lists the commands, or says more of one.
func (c *commands) sayHelp(args string) {
	if args == "" {
		lines := []string{"N is a number of the plan such as 2.1. A unique prefix of a word is enough. Letters are the keys of the TUI."}
		for i := range c.verbs {
			lines = append(lines, c.verbs[i].usageLine())
		}
		c.sayList(lines)
		return
	}
	v, _, why := c.lookUp(args)
	if v == nil {
		c.say("%s", why)
		return
	}
	c.say("%s", v.usageLine())
	if v.more != "" {
		c.say("%s", v.more)
	}
	if len(v.also) > 0 {
		c.say("also: %s.", strings.Join(v.also, ", "))
	}
}

func (v *verb) usageLine() string {
	words := v.name
	if v.takes != "" {
		words += " " + v.takes
	}
	return words + ": " + v.does + "."
}
