package console

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"moon/events"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/secret"
	"moon/tui/tuitest"
)

// starters are the only words that make something run.
var starters = []string{"run", "step", "over", "out", "until", "retry", "accept", "rerun"}

func TestStarters(t *testing.T) {
	for _, v := range newTalk(t, release()).commands.verbs {
		if v.starts != (slices.Contains(starters, v.name) || v.name == "skip") { // a failed step that is skipped lets the run go on
			t.Errorf("%s", v.name)
		}
	}
}

// TestVerbs finds each command by all of its words, and no two share one.
func TestVerbs(t *testing.T) {
	seen := map[string]string{}
	known := newTalk(t, release()).commands
	for _, v := range known.verbs {
		for _, name := range v.allNames() {
			if seen[name] != "" {
				t.Errorf("%s is %s and %s", name, seen[name], v.name)
			}
			seen[name] = v.name
			if got, args, why := known.lookUp(" " + name + "  some thing "); got == nil || got.name != v.name || args != "some thing" {
				t.Errorf("%s: found %v, %q, %q", name, got, args, why)
			}
		}
	}
	for letter, want := range map[string]string{"y": "yes", "n": "no", "c": "run", "A": "approve", "O": "out", "E": "editor"} {
		if v, _, _ := known.lookUp(letter); v == nil || v.name != want {
			t.Errorf("%s is %v", letter, v)
		}
	}
}

// hostile are names that would do something to a terminal, or to a reader.
var hostile = []string{
	"plain", "", "\x1b[2Jgone", "two\nlines", "tab\there", "\x00\x07\x9b", "\u202eback", strings.Repeat("long ", 400), "größe 🚀 名前", "\xff\xfe", "1.2.3", "if x after 2 log y", "…→" + secret.Mask,
}

func hostilePlan(t *rapid.T) *plan.Plan {
	p := release()
	for i := range p.Steps {
		name := rapid.SampledFrom(hostile).Draw(t, "name")
		p.Steps[i].Name, p.Steps[i].Summary, p.Steps[i].Confirm = name, name, strings.TrimSpace(p.Steps[i].Confirm+" "+name)
		if i != 7 {
			p.Steps[i].Confirm = ""
		}
		p.Steps[i].When = name
		p.Steps[i].Args = map[string]any{"cmd": name, name: name}
		p.Steps[i].Env = map[string]string{name: name}
		p.Steps[i].Uses = append(p.Steps[i].Uses, plan.Use{Name: name, Value: name, From: name}, plan.Use{Name: "later", Value: value.Unknown{}})
	}
	for i := range p.Scopes {
		p.Scopes[i].Name = rapid.SampledFrom(hostile).Draw(t, "scope")
	}
	return p
}

func drawLine(t *rapid.T, verbs []verb) string {
	var words []string
	for i := range verbs {
		words = append(words, verbs[i].allNames()...)
	}
	if rapid.Bool().Draw(t, "usual") { // what gets somewhere
		return rapid.SampledFrom([]string{"", "approve all", "approve safe", "run", "step", "over", "y", "n", "where", "why", "retry", "break 3", "show", "next", "until 3.2", "skip", "quit", "stay", "edit", "e 1", "60s", "edit 1 of 3.2", "set lock_timeout=60s", "block", "rest", "watch x", "vars", "summary"}).Draw(t, "line")
	}
	first := rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom([]string{"", "wait", "stop", "stay", "sto", "ap", "re", "2", "9.9", "-1", "step-0003", "y", "n", "c"}), rapid.String()).Draw(t, "word")
	rest := rapid.OneOf(rapid.SampledFrom([]string{"", "all", "safe", "1", "2", "2.2", "2.2.1", "4", "3 4", "3,9", "1 2 3", "on", "off", "lock_timeout", "lock_timeout of 3.2", "rest lock_timeout=1", "args.cmd=\x1b[2J", "cwd=", "attempt 1", "1 attempt 9", "x=1", "2 if a", "3 after 2", "3 log {{ x }}", "0", "99999999999999999999", "stop the app"}), rapid.SampledFrom(hostile), rapid.String()).Draw(t, "rest")
	return strings.TrimSpace(first + " " + rest)
}

// TestAnyLines types whatever there is to type: nothing breaks, nothing but text is said, all of it moon's own in ASCII, and
// nothing runs that was not asked for.
func TestAnyLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, nasty := release(), rapid.Bool().Draw(rt, "hostile")
		if nasty {
			p = hostilePlan(rt)
		}
		k := newTalk(t, p, func(o *Options, f *tuitest.Engine) {
			o.Person = rapid.Bool().Draw(rt, "person")
			o.Eval = func(_ *plan.Plan, _ int, text string) (string, error) { return text, nil }
			o.Why = func(_ string, steps []int) []events.Wait {
				kinds := []events.WaitFor{"", events.WaitSteps, events.WaitValue, events.WaitPool, events.WaitRetry, events.WaitPaused, events.WaitStopping}
				return []events.Wait{{For: rapid.SampledFrom(kinds).Draw(rt, "for"), Is: rapid.SampledFrom(kinds).Draw(rt, "is"), Steps: steps, Root: rapid.IntRange(-1, 20).Draw(rt, "root")}}
			}
			for _, name := range []string{"run the migration", "check the site", ""} {
				f.Fails[name] = rapid.IntRange(0, 3).Draw(rt, "failures")
			}
		})
		check(rt, k, nasty)
		for range rapid.IntRange(1, 25).Draw(rt, "lines") {
			line := drawLine(rt, k.commands.verbs)
			before, onFailure := k.attempts(), k.run.Phase == events.Paused && k.run.Pause.Reason == events.PauseFailure
			v, _, _ := k.commands.lookUp(line)
			asked := k.question != nil
			switch rapid.IntRange(0, 12).Draw(rt, "how") {
			case 0:
				k.handleInterrupt()
				line, v = "(ctrl-c)", nil
			case 1:
				k.takeLine(endOfInput)
				line, v = "(ctrl-d)", nil
			default:
				k.takeLine(line)
			}
			if rapid.Bool().Draw(rt, "wait") {
				k.settle()
			} else {
				k.engine.Tick()
			}
			k.handleTick(k.engine.Clock)
			if k.attempts() > before && k.rest == before {
				if v == nil || asked || !slices.Contains(starters, v.name) && (v.name != "skip" || !onFailure) {
					rt.Fatalf("%q has started something", line)
				}
			}
			for k.engine.Tick() { // so that the next line cannot be taken for what this one has started
			}
			k.rest = k.attempts()
			nasty = nasty || strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) // a value that is typed is shown later
			check(rt, k, nasty)
			if k.exit.leaving {
				return
			}
		}
	})
}

func (k *talk) attempts() (n int) {
	for i := range k.engine.Run.Steps {
		n += k.engine.Run.Steps[i].Attempt
	}
	return n
}

func check(t *rapid.T, k *talk, foreign bool) {
	k.flush()
	text := k.heard.String()
	k.heard.Reset()
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	for _, r := range text {
		switch {
		case r == '\n':
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			t.Fatalf("a control %U in %q", r, text)
		case r > unicode.MaxASCII && !foreign:
			t.Fatalf("%U is no ASCII in %q", r, text)
		case strings.ContainsRune("…→", r):
			t.Fatalf("%U in %q", r, text)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 5*longest {
			t.Fatalf("a line of %d characters: %q", n, line)
		}
	}
}
