package plain

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/internal/termtext"
	"moon/tui/status"
)

// writeRecap writes how the tasks of each host ended, one line for each, the numbers below each other.
func writeRecap(to io.Writer, hosts []events.HostCounts) {
	if len(hosts) == 0 {
		return
	}
	wide := len("host")
	for i := range hosts {
		wide = max(wide, ansi.StringWidth(termtext.CleanName(hosts[i].Host)))
	}
	var b strings.Builder
	defer func() { fmt.Fprint(to, b.String()) }()
	line := func(name string, cell func(column int) string) {
		// Widths are of cells, not of characters.
		b.WriteString("  " + name + strings.Repeat(" ", wide-ansi.StringWidth(name)))
		for k, word := range status.TallyWords {
			fmt.Fprintf(&b, "  %*s", max(len(word), 4), cell(k))
		}
		b.WriteByte('\n')
	}
	line("host", func(k int) string { return status.TallyWords[k] })
	for i := range hosts {
		n := status.Tallies(&hosts[i])
		line(termtext.CleanName(hosts[i].Host), func(k int) string { return fmt.Sprint(n[k]) })
	}
}
