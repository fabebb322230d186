package becoming

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// none is how flags are kept that ask for less than moon's own: it adds this one itself where it has no password.
const none = "-n"

// usual are the flags of each method that moon gives if no others are asked for, as Ansible does.
var usual = map[string][]string{"sudo": {"-H"}}

// own says of a flag that moon does the same by itself, in its own way.
const own = "\x00"

// flag is one that a method has.
type flag struct {
	short, long string
	takes       bool   // a value
	refused     string // why it cannot be honoured; own: it is dropped; "": it is passed on
}

// The reasons why flags are refused, each with a way out.
const (
	typed    = "moon itself asks for the password and passes it on; use `ansible_become_password` or --ask-become-pass"
	channel  = "moon speaks with a process of that user over its input and output, which this would take away; remove it"
	elsewise = "this runs no command; remove it"
	chdir    = "moon sets the directory itself; use `chdir`"
)

var flags = map[string][]flag{
	"sudo": {
		{short: "H", long: "set-home"},
		{short: "E", long: "preserve-env"},
		{short: "i", long: "login"},
		{short: "s", long: "shell"},
		{short: "k", long: "reset-timestamp"},
		{short: "N", long: "no-update"},
		{short: "P", long: "preserve-groups"},
		{short: "g", long: "group", takes: true},
		{short: "r", long: "role", takes: true},
		{short: "t", long: "type", takes: true},
		{short: "n", long: "non-interactive", refused: own},
		{short: "S", long: "stdin", refused: own},
		{short: "p", long: "prompt", takes: true, refused: own},
		{short: "A", long: "askpass", refused: typed},
		{short: "b", long: "background", refused: channel},
		{short: "B", long: "bell", refused: "there is no terminal; remove it"},
		{short: "C", long: "close-from", takes: true, refused: channel},
		{short: "T", long: "command-timeout", takes: true, refused: "the process serves many steps; use `timeout`"},
		{short: "u", long: "user", takes: true, refused: "use `become_user`"},
		{short: "U", long: "other-user", takes: true, refused: elsewise},
		{short: "D", long: "chdir", takes: true, refused: chdir},
		{short: "R", long: "chroot", takes: true, refused: "use a host with `ansible_connection: chroot`"},
		{short: "h", long: "host", takes: true, refused: "moon runs it on the host of the step; use `delegate_to`"},
		{short: "l", long: "list", refused: elsewise},
		{short: "v", long: "validate", refused: elsewise},
		{short: "V", long: "version", refused: elsewise},
		{short: "K", long: "remove-timestamp", refused: elsewise},
		{short: "e", long: "edit", refused: elsewise},
	},
	"su": {
		{short: "l", long: "login"},
		{short: "m", long: "preserve-environment"},
		{short: "p"},
		{short: "s", long: "shell", takes: true},
		{short: "g", long: "group", takes: true},
		{short: "G", long: "supp-group", takes: true},
		{short: "w", long: "whitelist-environment", takes: true},
		{short: "c", long: "command", takes: true, refused: "moon gives su a command of its own; remove it"},
		{long: "session-command", takes: true, refused: "moon gives su a command of its own; remove it"},
		{short: "f", long: "fast", refused: "the shell of moon's command reads no such file; remove it"},
		{short: "P", long: "pty", refused: channel},
		{short: "T", long: "no-pty"},
	},
	"doas": {
		{short: "n", refused: own},
		{short: "L", refused: elsewise},
		{short: "s", refused: "moon gives doas a command of its own; remove it"},
		{short: "C", takes: true, refused: elsewise},
		{short: "a", takes: true},
		{short: "u", takes: true, refused: "use `become_user`"},
	},
}

// FlagsError says why flags cannot be honoured.
type FlagsError struct{ Message, Hint string }

func (e *FlagsError) Error() string { return e.Message }

// errOutside is of flags that a shell would have to fill in.
var errOutside = errors.New("it has a value that only a shell knows")

// Read returns flags in the form in which they are kept, and in which two texts that ask for the same are equal. method is sudo if it is "".
func Read(method, text string) (kept string, err error) {
	method = methodOf(method)
	words, err := split(text)
	if err != nil {
		return "", &FlagsError{
			fmt.Sprintf("`%s` cannot be taken apart: %s", text, err), "write the flags as they stand on a command line, without variables of a shell",
		}
	}
	var list []string
	// A flag may be one of several letters behind one dash, and take the rest of its word or the next word: so each reader returns what is left.
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		var more []string
		switch {
		case method == "su" && word == "-":
			more = []string{"-l"}
		case strings.HasPrefix(word, "--") && word != "--":
			more, words, err = readLong(method, word, words)
		case len(word) > 1 && word[0] == '-' && word != "--":
			more, words, err = readShort(method, word, words)
		default:
			err = &FlagsError{fmt.Sprintf("`%s` is not a flag of %s", word, method), "variables of the environment belong into `environment`, the user into `become_user`"}
		}
		if err != nil {
			return "", err
		}
		list = append(list, more...)
	}
	switch {
	case slices.Equal(list, usual[method]):
		return "", nil
	case len(list) == 0:
		return none, nil
	}
	for i, word := range list {
		if list[i], err = syntax.Quote(word, syntax.LangPOSIX); err != nil {
			return "", &FlagsError{fmt.Sprintf("`%s` cannot be passed on: %s", word, err), "remove it"}
		}
	}
	return strings.Join(list, " "), nil
}

// methodOf is the method that an empty one stands for.
func methodOf(method string) string {
	if method == "" {
		return "sudo"
	}
	return method
}

// split takes the text apart as a shell does.
func split(text string) (words []string, err error) {
	var parsed []*syntax.Word
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return nil, err
		}
		outside := false
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
				outside = true
			}
			return true
		})
		if outside {
			return nil, errOutside
		}
		parsed = append(parsed, w)
	}
	if len(parsed) == 0 {
		return nil, nil
	}
	return expand.Fields(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "" })}, parsed...)
}

// readLong reads --name, --name=value, or --name value.
func readLong(method, word string, rest []string) (list, after []string, err error) {
	name, value, given := strings.Cut(word[2:], "=")
	i := slices.IndexFunc(flags[method], func(f flag) bool { return f.long == name })
	if i < 0 {
		return nil, nil, unknownFlag(method, "--"+name)
	}
	f := flags[method][i]
	switch {
	case f.takes && !given:
		if len(rest) == 0 {
			return nil, nil, lacksValue(method, word)
		}
		value, given, rest = rest[0], true, rest[1:]
	case given && !f.takes && name != "preserve-env":
		return nil, nil, &FlagsError{fmt.Sprintf("`--%s` of %s takes no value", name, method), "remove it"}
	}
	if f.refused != "" {
		return nil, rest, refuse(method, "--"+name, f)
	}
	switch {
	case f.short == "", given && !f.takes: // the one with a list of names has only a long form
		return []string{word}, rest, nil
	case given:
		return []string{"-" + f.short, value}, rest, nil
	}
	return []string{"-" + f.short}, rest, nil
}

// readShort reads letters behind one dash, of which the last may take what is left of the word, or the next word.
func readShort(method, word string, rest []string) (list, after []string, err error) {
	for letters := word[1:]; letters != ""; {
		letter := letters[:1]
		letters = letters[1:]
		i := slices.IndexFunc(flags[method], func(f flag) bool { return f.short == letter })
		if i < 0 {
			return nil, nil, unknownFlag(method, "-"+letter)
		}
		f := flags[method][i]
		value := letters
		if f.takes {
			if letters = ""; value == "" {
				if len(rest) == 0 {
					return nil, nil, lacksValue(method, "-"+letter)
				}
				value, rest = rest[0], rest[1:]
			}
		}
		if f.refused != "" {
			if err := refuse(method, "-"+letter, f); err != nil {
				return nil, nil, err
			}
			continue
		}
		if list = append(list, "-"+letter); f.takes {
			list = append(list, value)
		}
	}
	return list, rest, nil
}

// refuse is the error of a flag that is not passed on; nil if moon does the same anyway.
func refuse(method, name string, f flag) error {
	if f.refused == own {
		return nil
	}
	return &FlagsError{fmt.Sprintf("moon cannot pass `%s` to %s", name, method), f.refused}
}

func unknownFlag(method, name string) error {
	return &FlagsError{fmt.Sprintf("`%s` is not a flag of %s", name, method), "see `man " + method + "`"}
}

func lacksValue(method, name string) error {
	return &FlagsError{fmt.Sprintf("`%s` of %s takes a value", name, method), "write it behind the flag"}
}

// Words are flags as arguments, of a text that Read has returned.
func Words(method, kept string) []string {
	if kept == "" {
		return usual[methodOf(method)]
	}
	words, err := split(kept)
	if err != nil || kept == none {
		return nil
	}
	return words
}

// Has reports whether a flag of one letter is among arguments that Words has returned.
func Has(method string, words []string, letter string) bool {
	for i := 0; i < len(words); i++ {
		if words[i] == "-"+letter {
			return true
		}
		at := slices.IndexFunc(flags[methodOf(method)], func(f flag) bool { return "-"+f.short == words[i] })
		if at >= 0 && flags[methodOf(method)][at].takes {
			i++ // its value
		}
	}
	return false
}
