package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"moon/events"
	"moon/internal/termtext"
	"moon/secret"
	"moon/tui/status"
)

// state is what a step is like: a decision before it runs, an outcome afterwards.
type state = status.State

const (
	undecided   = status.Undecided
	waiting     = status.Waiting
	confirm     = status.Confirm
	asking      = status.Asking
	excluded    = status.Excluded
	running     = status.Running
	ok          = status.OK
	changed     = status.Changed
	failed      = status.Failed
	unreachable = status.Unreachable
	ignored     = status.Ignored
	rescued     = status.Rescued
	skipped     = status.Skipped
	kept        = status.Kept
	outdated    = status.Outdated
	cancelled   = status.Cancelled
	omitted     = status.Omitted
	states      = status.States
)

var stateWords = [states]string{
	undecided: "not approved", waiting: "approved", confirm: "CONFIRM", asking: "asks whether to continue", excluded: "excluded",
	running: "running", ok: "ok", changed: "changed", failed: "FAILED", unreachable: "UNREACHABLE", ignored: "failed (ignored)",
	rescued: "rescued",
	skipped: "skipped", kept: "kept", outdated: "outdated", cancelled: "cancelled", omitted: "not run",
}

// tallied lists what there is, the worst first.
func tallied(t *status.Tally, of ...state) string {
	var parts []string
	for _, s := range of {
		if t[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", t[s], stateWords[s]))
		}
	}
	return strings.Join(parts, ", ")
}

// ends are the states of what has ended, as a summary has them.
var ends = []state{failed, unreachable, ok, changed, rescued, ignored, skipped, kept, outdated, cancelled, excluded, omitted}

// longest is how much of a text is said on one line.
const longest = 400

// clean makes a text fit to be said on one line: no controls, no endless names.
func clean(text string) string {
	if len(text) > 8*longest {
		// Before cleaning, which costs as much as the text is long, and a name may be a whole file.
		text = text[:8*longest]
	}
	text = spoken.Replace(termtext.CleanName(text))
	if len(text) <= longest {
		return text
	}
	if letters := []rune(text); len(letters) > longest {
		return string(letters[:longest]) + "..."
	}
	return text
}

// spoken are the marks that moon's own texts have on the screen, in what can be read aloud anywhere.
var spoken = strings.NewReplacer(secret.Mask, "(hidden)", "…", "...", " → ", " to ", "→", "to")

// firstLine is the first line of a text, and what follows it.
func firstLine(text string) (head string, rest []string) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	return lines[0], lines[1:]
}

// count says how many of something there are: 1 step, 2 steps.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// lastedWords is a time in words: 9 seconds, 2 minutes 13, 1 hour 5. What took no time says nothing.
func lastedWords(t time.Duration) string {
	s := int(t / time.Second)
	switch {
	case s <= 0:
		return ""
	case s < 60:
		return count(s, "second")
	case s < 3600 && s%60 == 0:
		return count(s/60, "minute")
	case s < 3600:
		return fmt.Sprintf("%s %d", count(s/60, "minute"), s%60)
	case s/60%60 == 0:
		return count(s/3600, "hour")
	}
	return fmt.Sprintf("%s %d", count(s/3600, "hour"), s/60%60)
}

// waitedWords is how long a run waited for a person, in words, or "".
func waitedWords(t time.Duration) string {
	if words := lastedWords(t); words != "" {
		return "waited " + words
	}
	return ""
}

// aboutTime is a time as roughly as it is known.
func aboutTime(t time.Duration) string {
	switch t = events.Roughly(t); {
	case t == 0:
		return "a few seconds"
	case t < time.Minute:
		return "about " + count(int(t/time.Second), "second")
	case t < time.Hour:
		return "about " + count(int(t/time.Minute), "minute")
	}
	return "about " + lastedWords(t)
}

// sentence joins parts and ends them.
func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	text := strings.Join(kept, ", ")
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || text == "" {
		return text
	}
	return text + "."
}

// placeWords is file:line as it is read aloud.
func placeWords(at string) string {
	if i := strings.LastIndexByte(at, ':'); i > 0 {
		return clean(at[:i]) + " line " + clean(at[i+1:])
	}
	return clean(at)
}

// sayLine is a value on one line: the first of it, and how many there are.
func sayLine(text string) string {
	head, rest := firstLine(text)
	switch {
	case text == "":
		return "empty"
	case len(rest) > 0:
		return clean(head) + " and so on, " + count(len(rest)+1, "line")
	}
	return clean(head)
}

// diffLines says in words which lines go and which come: a sign at the beginning of a line is easily missed.
func diffLines(text string) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@"):
			lines = append(lines, hunkWords(line))
		case strings.HasPrefix(line, "+"):
			lines = append(lines, "added: "+clean(line[1:]))
		case strings.HasPrefix(line, "-"):
			lines = append(lines, "removed: "+clean(line[1:]))
		default:
			lines = append(lines, "same: "+clean(strings.TrimPrefix(line, " ")))
		}
	}
	return lines
}

// hunkWords is where a part of a diff is: @@ -12,4 +12,4 @@ is at line 12.
func hunkWords(line string) string {
	words := strings.Fields(line)
	if len(words) > 2 {
		at, _, _ := strings.Cut(strings.TrimPrefix(words[2], "+"), ",")
		if n, err := strconv.Atoi(at); err == nil {
			return "at line " + strconv.Itoa(n) + ":"
		}
	}
	return clean(line)
}

func cleanLines(lines []string) []string {
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return lines
}

func clockText(t time.Time) string { return t.Local().Format("15:04:05") }
