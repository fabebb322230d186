package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"moon/engine/exact"
	"moon/events"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/plan"
)

// exactly is the value of --exact, which may be left out.
type exactly struct{ given, all bool }

// IsBool says that the flag needs no value.
func (exactly) IsBool() bool { return true }

// Decode takes the value, if there is one.
func (e *exactly) Decode(ctx *kong.DecodeContext) error {
	e.given = true
	next := ctx.Scan.Peek()
	if next.Type != kong.FlagValueToken {
		return nil
	}
	switch word := fmt.Sprint(ctx.Scan.Pop().Value); word {
	case "true":
	case "false":
		e.given = false
	case "all":
		e.all = true
	default:
		return fmt.Errorf("--exact is given alone or as --exact=all, not as --exact=%s", word)
	}
	return nil
}

// hold has the run held to what a saved plan keeps of predictions, and gives the steps that cannot be held to anything, in words. With
// --exact=all there may be none.
func (e exactly) hold(call *app.Invocation, p *plan.Plan, expected *events.Expectations, check bool) (open string, err error) {
	switch {
	case !e.given:
		return "", nil
	case check:
		return "", app.Usage("--exact holds a run to its predictions, and a dry run changes nothing; give one of --exact and --check")
	case expected == nil:
		return "", app.Usage("--exact needs predictions to hold the run to; save them with moon plan --check -o FILE, and give --plan FILE")
	}
	call.Session.Expected = expected
	var may, spare []string
	for _, o := range exact.NewBook(expected).Open(p) {
		s := &p.Steps[o.Step]
		line := fmt.Sprintf("%s  %s: %s", s.ID(), termtext.CleanName(s.Label(s.Title())), o.Why)
		if o.Spare {
			spare = append(spare, line)
		} else {
			may = append(may, line)
		}
	}
	if e.all && len(may) > 0 {
		return "", app.Usage("--exact=all: %s could not be predicted; nothing was run\n%s", plan.CountOf(len(may), "step"), indented(may))
	}
	// A step that only runs after a failure cannot keep a run from beginning.
	lines := append(may, spare...)
	switch len(lines) {
	case 0:
		return "", nil
	case 1:
		return "1 step could not be predicted and runs as it is\n" + indented(lines), nil
	}
	return fmt.Sprintf("%d steps could not be predicted and run as they are\n%s", len(lines), indented(lines)), nil
}

// inOneLine is a text without the lines that follow its first.
func inOneLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
