package lines

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
	do    func(d *desk, args string)

	starts    bool // it can make something run
	asks      bool // it asks something of the run, and an ended one cannot be asked
	atOnce    bool // in a script it does not wait until the run has come to rest
	foretells bool // it says what is predicted
}

// verbs are in the order in which help lists them.
var verbs []verb

func init() { // not in the declaration: help is one of them
	verbs = []verb{
		{
			name: "show", takes: "[N]", does: "say what a step or a part of the plan is", foretells: true, do: (*desk).show,
			more: "Without a number, the plan. A number by itself does the same: 2.1 is the first below the second.",
		},
		{
			name: "list", also: []string{"l"}, takes: "[N]", does: "list the plan, or a part of it, whole", foretells: true,
			do: (*desk).listAll,
		},
		{name: "next", does: "go to what needs attention: failed, asking or not approved", foretells: true, do: (*desk).next},
		{name: "find", also: []string{"f", "/"}, takes: "TEXT", does: "list what has TEXT in its name", foretells: true, do: (*desk).find},
		{name: "more", also: []string{"m"}, does: "continue a list that stopped", do: (*desk).more},
		{name: "where", also: []string{"w", "."}, does: "say where the run is; so does an empty line", do: (*desk).where},
		{name: "why", takes: "[N]", does: "say what a step is waiting for, or why it ended as it did", do: (*desk).why},

		{
			name: "approve", also: []string{"a"}, takes: "all, safe or N...", does: "let steps run; runs nothing by itself", asks: true,
			do:   (*desk).approve,
			more: "safe is all except the steps that need confirmation. Approving a part of the plan does not confirm them either: give their own number, or all.",
		},
		{name: "unapprove", takes: "all or N...", does: "take approvals back", asks: true, do: (*desk).unapprove},
		{
			name: "skip", also: []string{"x", "exclude"}, takes: "[N...]", does: "exclude steps; if one has failed, continue without it",
			asks: true, starts: true, do: (*desk).skip,
		},
		{name: "restore", takes: "N...", does: "take a skip back", asks: true, do: (*desk).restore},
		{
			name: "yes", also: []string{"y"}, does: "yes to what it stopped for: approve the step, or continue after a pause step",
			asks: true,
			do:   (*desk).yes,
		},
		{name: "no", also: []string{"n"}, does: "no to it: exclude the step, or reject", asks: true, do: (*desk).no},

		{
			name: "run", also: []string{"continue", "c"}, does: "run, or continue, until something needs attention", asks: true,
			starts: true, do: (*desk).proceed,
			more: "It approves nothing: it stops at the first step that is not approved. After a failure it continues without the failed step.",
		},
		{
			name: "step", also: []string{"s"}, does: "run one step", asks: true, starts: true, do: (*desk).step,
			more: "step and over approve what they run, except steps that need confirmation.",
		},
		{
			name: "over", also: []string{"o"}, takes: "[N]", does: "run all of the next step, or of the part N that begins with it",
			asks: true, starts: true, do: (*desk).over,
		},
		{
			name: "out", also: []string{"O"}, does: "run to the end of the part that the next step is in", asks: true, starts: true,
			do: (*desk).out,
		},
		{
			name: "until", also: []string{"u"}, takes: "N", does: "run until N is about to start", asks: true, starts: true,
			do: (*desk).until,
		},
		{
			name: "pause", also: []string{"p"}, does: "start nothing new; running steps finish first", asks: true, atOnce: true,
			do: (*desk).pause,
		},
		{
			name: "retry", also: []string{"r"}, takes: "[N or all]", does: "run failed steps again, and stay paused", asks: true,
			starts: true,
			do:     (*desk).retry,
		},
		{
			name: "rerun", takes: "N... [with]", does: "run done steps again, and stay paused", asks: true, starts: true, do: (*desk).rerun,
			more: "Only this runs a step again that succeeded. with also reruns the done steps that depend on it.",
		},
		{name: "keep", takes: "[N... or all]", does: "keep outdated steps: done with an earlier definition", asks: true, do: (*desk).keep},
		{name: "mark", takes: "N...", does: "mark steps as done: failed or not started", asks: true, do: (*desk).mark},

		{
			name: "break", also: []string{"b"}, takes: "N [if CONDITION] [after COUNT] [log TEXT]", does: "stop before N", asks: true,
			do:   (*desk).setBreak,
			more: "after COUNT lets it pass COUNT times first. log TEXT, a template, is said instead of stopping.",
		},
		{name: "breaks", does: "list the breakpoints", do: (*desk).breaks},
		{name: "clear", takes: "all or N...", does: "take breakpoints away", asks: true, do: (*desk).clearBreak},

		{
			name: "output", takes: "[N] [attempt K] [COUNT or all]", does: "say the last lines a step printed, 20 or COUNT",
			do: (*desk).output,
		},
		{
			name: "diff", also: []string{"d"}, takes: "[N]", does: "say what a step changed, or would change", foretells: true,
			do: (*desk).diff,
		},
		{
			name: "vars", also: []string{"v"}, takes: "[N]", does: "list the values that a step uses, and where they come from",
			do: (*desk).vars,
		},
		{
			name: "print", takes: "EXPRESSION", does: "say what an expression is at the current step", do: (*desk).printOnce,
			more: "As in a condition of the playbook: print release, print r.rc == 0.",
		},
		{
			name: "watch", also: []string{"W"}, takes: "[EXPRESSION]",
			does: "say what an expression is at each pause; without one, list them now", do: (*desk).watch,
		},
		{name: "unwatch", takes: "EXPRESSION, number or all", does: "stop watching it", do: (*desk).unwatch},
		{name: "events", takes: "[N]", does: "list what has happened", do: (*desk).events},
		{name: "follow", takes: "on or off", does: "say what steps print while they run", atOnce: true, do: (*desk).followOutput},
		{name: "summary", does: "say the results so far", do: (*desk).summary},

		{
			name: "edit", also: []string{"e", "fix"}, takes: "[NAME [of N]]",
			does: "list the values of a step, or change one of them, for this run only", asks: true, do: (*desk).edit,
			more: "NAME is a variable, an argument such as cmd (args.cmd), env.NAME or cwd, or its number in the list. edit NAME=VALUE asks nothing; edit rest NAME=VALUE is for the rest of the run, edit block NAME=VALUE for the part that the step is in. It runs nothing: retry does.",
		},
		{name: "set", takes: "NAME=VALUE", does: "the same, without a question", asks: true, do: (*desk).set},
		{name: "overrides", does: "list the values that are overridden in this run", do: (*desk).overrides},
		{name: "undo", takes: "[NAME or number]", does: "remove an override", asks: true, do: (*desk).undo},
		{
			name: "editor", also: []string{"E"}, takes: "[N]", does: "open the file of a step in $EDITOR, then plan again", asks: true,
			do: (*desk).editor,
		},
		{name: "shell", also: []string{"!"}, takes: "[N]", does: "open a shell where a step runs", do: (*desk).shell},

		{
			name: "help", also: []string{"h", "?"}, takes: "[COMMAND]", does: "list the commands, or say more of one", atOnce: true,
			do: (*desk).help,
		},
		{name: "quit", also: []string{"q", "exit", "stop"}, does: "quit; asks what to do with running steps", do: (*desk).quit},
	}
}

// names are all words for a verb.
func (v *verb) names() []string { return append([]string{v.name}, v.also...) }

// lookUp finds what a line asks for: by a whole word, by the beginning of one, or by a letter, which is the screen's key. A
// line that begins with a number shows what has it. why says what is wrong with it.
func lookUp(line string) (v *verb, args, why string) {
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
		for i := range verbs {
			if slices.ContainsFunc(verbs[i].names(), is) {
				found = append(found, &verbs[i])
			}
		}
		return found
	}
	lower := strings.ToLower(word)
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
			return nil, "", fmt.Sprintf("%s may be %s. type more of it.", clean(word), either(found, lower))
		}
	}
	return nil, "", unknown(word)
}

// either lists what a beginning may mean.
func either(found []*verb, start string) string {
	var names []string
	for _, v := range found {
		for _, name := range v.names() {
			if len(name) > 1 && strings.HasPrefix(name, start) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func unknown(word string) string {
	var known []string
	for i := range verbs {
		for _, name := range verbs[i].names() {
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

// isNumber reports whether a word is the number of a node.
func isNumber(word string) bool {
	word = strings.TrimSuffix(word, ".")
	if word == "" || len(word) > 100 {
		return false
	}
	for place := range strings.SplitSeq(word, ".") {
		if place == "" || strings.ContainsFunc(place, func(r rune) bool { return r < '0' || r > '9' }) {
			return false
		}
	}
	return true
}

// help lists the commands, or says more of one.
func (d *desk) help(args string) {
	if args == "" {
		lines := []string{"N is a number of the plan such as 2.1. A unique prefix of a word is enough. Letters are the keys of the TUI."}
		for i := range verbs {
			lines = append(lines, verbs[i].usage())
		}
		d.list(lines)
		return
	}
	v, _, why := lookUp(args)
	if v == nil {
		d.say("%s", why)
		return
	}
	d.say("%s", v.usage())
	if v.more != "" {
		d.say("%s", v.more)
	}
	if len(v.also) > 0 {
		d.say("also: %s.", strings.Join(v.also, ", "))
	}
}

func (v *verb) usage() string {
	words := v.name
	if v.takes != "" {
		words += " " + v.takes
	}
	return words + ": " + v.does + "."
}
