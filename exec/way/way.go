package way

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Way is a program that leads to a machine which is not reached by ssh, such as a container: it runs a command there, joined to its own
// standard input and output. Two that are equal lead to the same. The zero value is none.
type Way struct {
	Kind     string // of the connection, as in `connection: docker`
	words    string // up to the command, each ended by a NUL
	terminal string // the same where the command needs a terminal
}

// Self is the program that this process is, if ways know it by a name: then that one is meant, and not another that PATH has. It is set
// before anything is started.
var Self struct{ Name, Path string }

// OnTerminal stands before a word of New that is there only if the command needs a terminal.
const OnTerminal = "\x00"

// New is the way with these words.
func New(kind string, words []string) Way {
	w := Way{Kind: kind}
	for _, word := range words {
		if flag, only := strings.CutPrefix(word, OnTerminal); only {
			w.terminal += flag + "\x00"
			continue
		}
		w.words += word + "\x00"
		w.terminal += word + "\x00"
	}
	return w
}

// With is the way with these words, and with others where the command needs a terminal; nil: the same.
func With(kind string, words, terminal []string) Way {
	w := New(kind, words)
	if terminal != nil {
		w.terminal = New(kind, terminal).words
	}
	return w
}

// IsZero reports whether there is none.
func (w Way) IsZero() bool { return w.words == "" }

// Argv are the words up to the command, with or without a terminal.
func (w Way) Argv(terminal bool) []string {
	text := w.words
	if terminal {
		text = w.terminal
	}
	argv := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	if Self.Name != "" && argv[0] == Self.Name {
		argv[0] = Self.Path
	}
	return argv
}

// Program is the first of the words, as it is written.
func (w Way) Program() string {
	program, _, _ := strings.Cut(w.words, "\x00")
	return program
}

// Key identifies the way among others.
func (w Way) Key() string { return w.Kind + "\x00" + w.words }

// SplitWords takes a text apart as a shell does, which starts nothing. getenv gives the values of variables.
func SplitWords(text string, getenv func(name string) string) ([]string, error) {
	var words []*syntax.Word
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return nil, nil
	}
	return expand.Fields(&expand.Config{Env: expand.FuncEnviron(getenv)}, words...)
}
