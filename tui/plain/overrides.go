package plain

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
)

// listOverrides lists the values that were put in the place of others and that steps have run with, each once, with where to write what
// is to stay.
func listOverrides(b *strings.Builder, p *plan.Plan, run *events.Run, arrow string) {
	seen := map[string]bool{}
	for i := range min(len(p.Steps), len(run.Steps)) {
		of := &run.Steps[i]
		// A step that never ran has used no value.
		if of.Attempt == 0 && !of.Kept {
			continue
		}
		for _, o := range p.Steps[i].Overridden {
			text := termtext.CleanName(o.Text() + onHost(&o))
			// Many steps share an override.
			if seen[text] {
				continue
			}
			if len(seen) == 0 {
				b.WriteString("\nOverrides used (not in your files)\n")
			}
			seen[text] = true
			fmt.Fprintf(b, "  %s   %s\n", strings.Replace(text, " → ", arrow, 1), termtext.CleanName(p.Steps[i].Label(p.Steps[i].Title())))
			if place := o.Origin.String(); place != "" {
				fmt.Fprintf(b, "    to keep it, edit %s\n", termtext.CleanName(place))
			}
		}
	}
}

// listMarked lists the steps that count as done because a person has said so. A report of success also says what of it
// was never run.
func listMarked(b *strings.Builder, run *events.Run, line func(step int) string) {
	title := "\nMarked as done by hand (not run)\n"
	for i := range run.Steps {
		if !run.Steps[i].Marked {
			continue
		}
		b.WriteString(title)
		title = ""
		fmt.Fprintf(b, "  %s\n", line(i))
	}
}

// onHost says which host alone an override is for.
func onHost(o *plan.Overridden) string {
	if o.Host == "" {
		return ""
	}
	return "   on " + o.Host
}
