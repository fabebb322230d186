package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/tui/draw"
	"moon/tui/overlay"
	"moon/tui/view"
)

// clipboard is where copied texts go: to the terminal, by OSC 52, so it works through SSH as well, and to what programs of
// this machine there are for it, since not every terminal takes that.
//
// tmux does not take it as it is set up at first, so it must be given the text by its own command. GNU screen knows
// nothing of it, and passes on what is wrapped for it, in pieces.
type clipboard struct {
	put    func(text string) []string // may be nil
	screen bool                       // GNU screen is in between
}

func newClipboard(put func(text string) []string, env func(string) string) clipboard {
	return clipboard{put, env("STY") != "" && env("TMUX") == ""}
}

// clipped says which programs took a text.
type clipped struct {
	view.Copied
	by []string
}

// terminalTakes is how much of a text every terminal takes that knows OSC 52: some stop at 100,000 bytes of base64.
const terminalTakes = 74_994

// screenPiece is how long a wrapped piece may be that GNU screen passes on.
const screenPiece = 256

// copyText puts a text on the clipboard.
func (b clipboard) copyText(m *view.State, c view.Copied) tea.Cmd {
	if c.Err != nil {
		m.ShowMessage("copy: " + c.Err.Error())
		return nil
	}
	put := b.put
	if put == nil {
		return b.clipText(m, clipped{c, nil})
	}
	return func() tea.Msg { return clipped{c, put(c.Text)} }
}

// clipText gives the text to the terminal, and says what was copied and how much.
func (b clipboard) clipText(m *view.State, c clipped) tea.Cmd {
	text := fmt.Sprintf("copied %s, %s", c.Words, byteAmount(len(c.Text)))
	if len(c.by) == 0 && len(c.Text) > terminalTakes {
		text += "; many terminals take no more than 75 kB"
	}
	if c.Rest != "" {
		text += "; " + c.Rest
	}
	m.ShowMessage(text)
	switch {
	// tmux sends the text to its own terminal, which would otherwise get it twice.
	case slices.Contains(c.by, "tmux"):
		return nil
	case b.screen:
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(c.Text), screenPiece))
	}
	return tea.SetClipboard(c.Text)
}

// byteAmount is a number of bytes for people.
func byteAmount(n int) string {
	switch {
	case n < 1000:
		return draw.Count(n, "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// copyItem copies what was chosen of the menu.
func (b clipboard) copyItem(m *view.State, item overlay.CopyItem) tea.Cmd {
	if item.Output != "" {
		m.ShowMessage("reading the output")
		return readAll(m.Tools.OutDir(), item.Output)
	}
	return b.copyText(m, view.Copied{Text: item.Text, Words: item.Words})
}

// copyLimit bounds what is read of an output to be copied: terminals take much less.
const copyLimit = 1 << 20

func readAll(dir, prefix string) tea.Cmd {
	return func() tea.Msg {
		log := steplog.Open(dir, prefix)
		defer log.Close() //nolint:errcheck // it was only read
		// Also while the step still runs: what is there when the file has been read to its end is copied, and no more is waited for.
		for more := true; more; more = log.More() {
			if _, err := log.Refresh(); err != nil {
				return view.Copied{Err: err}
			}
		}
		var b strings.Builder
		n := 0
		for ; n < log.Len() && b.Len() < copyLimit; n++ {
			b.WriteString(draw.Bare(termtext.Still(log.Line(n).Text)))
			b.WriteByte('\n')
		}
		c := view.Copied{Text: b.String(), Words: draw.Count(n, "line") + " of output"}
		if n < log.Len() {
			c.Words = "the first " + c.Words
			c.Rest = fmt.Sprintf("all %d are in %s", log.Len(), steplog.Files(dir, prefix)[0])
		}
		return c
	}
}
