package completing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"moon/internal/app"
	"moon/internal/termtext"
)

// Complete is moon complete, which shells call.
type Complete struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" help:"The words behind moon, up to the one that is typed."`
}

// Run prints what the shell does with the rest – words, files or dirs – and then the words, each with what it is behind a tab.
func (c *Complete) Run(call *app.Invocation, ctx *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	q := question{root: ctx.Model.Node, words: words, source: &source{call: call}}
	q.apart = c.Shell != "fish"
	if c.Shell == "bash" { // which takes --theme=dark for three words, and gives them with their quotes
		for i, w := range words {
			words[i] = unquoted.Replace(w)
		}
		q.words = joinAssigned(words)
	}
	kind, offers := q.answer()
	return write(call.Out, kind, offers)
}

// unquoted takes off what quotes a word in bash.
var unquoted = strings.NewReplacer("\\\\", "\\", "\\", "", "'", "", `"`, "")

// offer is a word that may follow.
type offer struct{ word, about string }

// What a shell does in addition to offering the words.
const (
	onlyWords = "words"
	alsoFiles = "files"
	alsoDirs  = "dirs"
)

func write(w io.Writer, kind string, offers []offer) error {
	var b strings.Builder
	b.WriteString(kind + "\n")
	seen := map[string]bool{}
	for _, o := range offers {
		// One line each; a word that a terminal would obey is not one to type.
		if seen[o.word] || o.word == "" || termtext.CleanName(o.word) != o.word || strings.ContainsAny(o.word, "\n\t") {
			continue
		}
		seen[o.word] = true
		about, _, _ := strings.Cut(o.about, "\n")
		fmt.Fprintf(&b, "%s\t%s\n", o.word, termtext.CleanName(about))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// joinAssigned puts the words together that bash takes apart at =.
func joinAssigned(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		if words[i] == "=" && len(out) > 0 && strings.HasPrefix(out[len(out)-1], "--") {
			out[len(out)-1] += "="
			if i+1 < len(words) {
				i++
				out[len(out)-1] += words[i]
			}
			continue
		}
		out = append(out, words[i])
	}
	return out
}

// question is a call that is being typed; its last word is the one to complete.
type question struct {
	root   *kong.Node
	words  []string
	apart  bool // the shell completes the value of --flag=value alone
	source *source
}

// answer says what may be in the place of the last word.
func (q *question) answer() (kind string, offers []offer) {
	if len(q.words) == 0 {
		q.words = []string{""}
	}
	typed := q.words[len(q.words)-1]
	at, given, waiting := q.walk()
	if waiting != nil {
		return q.ofFlag(at, waiting, typed, "")
	}
	if name, value, assigned := strings.Cut(typed, "="); assigned && strings.HasPrefix(name, "--") {
		for _, f := range flagsOf(at) {
			if "--"+f.Name == name {
				prefix := name + "="
				if q.apart {
					prefix = ""
				}
				return q.ofFlag(at, f, value, prefix)
			}
		}
	}
	if strings.HasPrefix(typed, "-") {
		for _, f := range flagsOf(at) {
			offers = append(offers, offer{"--" + f.Name, f.Help})
			if f.Short != 0 && typed == "-" {
				offers = append(offers, offer{"-" + string(f.Short), f.Help})
			}
		}
		return onlyWords, starting(offers, typed)
	}
	for _, n := range at.Children {
		if n.Type == kong.CommandNode && !n.Hidden {
			offers = append(offers, offer{n.Name, n.Help})
		}
	}
	if len(offers) > 0 {
		return onlyWords, starting(offers, typed)
	}
	kind, offers = q.ofArgument(at, given)
	return kind, starting(offers, typed)
}

// walk follows the words in front of the last: the command they lead to, its arguments, and the flag whose value is to come.
func (q *question) walk() (at *kong.Node, given []string, waiting *kong.Flag) {
	at = q.root
	behind := false // of --: no word is a flag any more
	for _, w := range q.words[:len(q.words)-1] {
		switch {
		case waiting != nil:
			q.source.note(waiting, w)
			waiting = nil
		case behind:
			given = append(given, w)
		case w == "--":
			behind = true
		case strings.HasPrefix(w, "-") && len(w) > 1:
			name, value, assigned := strings.Cut(w, "=")
			for _, f := range flagsOf(at) {
				if "--"+f.Name != name && (f.Short == 0 || "-"+string(f.Short) != name) {
					continue
				}
				switch {
				case assigned:
					q.source.note(f, value)
				case !f.IsBool() && !f.IsCounter():
					waiting = f
				}
			}
		default:
			next := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Type == kong.CommandNode && n.Name == w })
			if next >= 0 {
				at, given = at.Children[next], nil
				continue
			}
			given = append(given, w)
		}
	}
	q.source.given = given
	return at, given, waiting
}

func flagsOf(n *kong.Node) (flags []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

// ofFlag completes the value of a flag, by what its placeholder says it is.
func (q *question) ofFlag(at *kong.Node, f *kong.Flag, typed, prefix string) (string, []offer) {
	kind, offers := onlyWords, []offer(nil)
	list := f.IsSlice() && f.Tag.Sep > 0
	switch {
	case f.Enum != "":
		offers = wordsOf(strings.Split(f.Enum, ","))
	case strings.Contains(f.PlaceHolder, "|"):
		offers = wordsOf(strings.Split(f.PlaceHolder, "|"))
	case f.Name == "theme" || f.Name == "light-theme":
		offers = q.source.themes()
	case f.Name == "tags" || f.Name == "skip-tags":
		offers, list = q.source.tags(), true
	case f.Name == "limit" || f.Name == "host":
		kind, offers = q.source.hosts()
		list = f.Name == "limit"
	case f.PlaceHolder == "STEP":
		offers = q.source.steps()
	case f.PlaceHolder == "RUN":
		offers = q.source.runs(at.Name)
	case f.PlaceHolder == "USER" || f.Name == "user" || f.Name == "become-user" || f.PlaceHolder == "N" || f.PlaceHolder == "TIME":
	case strings.HasSuffix(f.PlaceHolder, "DIR"):
		kind = alsoDirs
	default:
		kind = alsoFiles
	}
	// In a list only the last is typed.
	if at := strings.LastIndexByte(typed, ','); list && at >= 0 {
		prefix, typed = prefix+typed[:at+1], typed[at+1:]
	}
	offers = starting(offers, typed)
	for i := range offers {
		offers[i].word = prefix + offers[i].word
	}
	return kind, offers
}

// ofArgument completes an argument that is not a flag.
func (q *question) ofArgument(at *kong.Node, given []string) (string, []offer) {
	if len(at.Positional) == 0 {
		return onlyWords, nil
	}
	p := at.Positional[min(len(given), len(at.Positional)-1)]
	switch {
	case at.Name == "do" && p.Name == "hosts" || at.Name == "inventory":
		return q.source.hosts()
	case p.Enum != "":
		return onlyWords, wordsOf(strings.Split(p.Enum, ","))
	case p.Name == "run":
		return onlyWords, q.source.runs(at.Name)
	case p.Name == "action", at.Name == "actions":
		return onlyWords, actions()
	case at.Name == "themes":
		return onlyWords, q.source.themes()
	case at.Name == "man":
		var offers []offer
		for _, n := range q.root.Children {
			if n.Type == kong.CommandNode && !n.Hidden {
				offers = append(offers, offer{n.Name, n.Help})
			}
		}
		return onlyWords, offers
	case at.Name == "config":
		return alsoFiles, settings()
	case at.Name == "run" || at.Name == "tui" || at.Name == "plan" || at.Name == "graph":
		// Behind a playbook, or where one is found without its name, stands what of it to run.
		return alsoFiles, append(q.source.steps(), q.source.tags()...)
	}
	return alsoFiles, nil
}

func wordsOf(list []string) (offers []offer) {
	for _, w := range list {
		offers = append(offers, offer{word: w})
	}
	return offers
}

// starting are those that begin as what is typed.
func starting(offers []offer, typed string) []offer {
	return slices.DeleteFunc(offers, func(o offer) bool { return !strings.HasPrefix(o.word, typed) })
}
