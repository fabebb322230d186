package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// copyBox offers what can be copied of the node under the cursor, by one more key.
type copyBox struct{ items []copyItem }

type copyItem struct {
	key, words string
	text       string
	output     string // the prefix of the files to read it from
}

func newCopyBox(m *view.State) view.Overlay {
	s := m.DetailSubject()
	c := &copyBox{items: []copyItem{{key: "y", words: "name", text: m.Tree.Title(s.Node)}}}
	if prefix := m.AttemptPrefix(m.OutputOf(s.Node), m.Detail.Output.Attempt); prefix != "" {
		c.items = append(c.items, copyItem{key: "o", words: "output", output: prefix})
	}
	if o, ok := m.OriginOf(s.Node); ok {
		c.items = append(c.items, copyItem{key: "l", words: "file:line", text: o.String()})
	}
	if s.Step < 0 {
		return c.ofScope(m, s.Node)
	}
	p := m.StepNow(s.Step)
	if text := commandOf(p, &s.Of); text != "" {
		c.items = append(c.items, copyItem{key: "c", words: "command", text: text})
	}
	if s.Of.Diff != nil && s.Of.Diff.Text != "" {
		c.items = append(c.items, copyItem{key: "d", words: "diff", text: s.Of.Diff.Text})
	}
	return c
}

// ofScope adds what can be copied of a scope: the paths of its steps, and of the whole what it came to.
func (c *copyBox) ofScope(m *view.State, n int) *copyBox {
	var paths strings.Builder
	r := m.Tree.Steps(n)
	for i := r.From; i < r.To; i++ {
		paths.WriteString(m.Plan.Steps[i].Path + "\n")
	}
	if r.From < r.To {
		c.items = append(c.items, copyItem{key: "p", words: "paths of its " + draw.Count(r.To-r.From, "step"), text: paths.String()})
	}
	if n == 0 && (m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended) {
		c.items = append(c.items, copyItem{key: "s", words: "summary", text: summaryPane{m}.summaryText()})
	}
	return c
}

// summaryText is the summary as text.
func (m summaryPane) summaryText() string {
	d := draw.NewDoc(summaryWidth, 0, m.Glyphs)
	m.summaryTab(d)
	b := strings.Builder{}
	b.WriteString(m.Plan.RootFile + "\n")
	for _, line := range d.Lines {
		var row strings.Builder
		for _, span := range line {
			row.WriteString(draw.Bare(span.S))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

const summaryWidth = 100

// commandOf is what a step ran, or would run.
func commandOf(p *plan.Step, of *events.Step) string {
	if of.Command != "" {
		return of.Command
	}
	if text, after := plan.Display(p.Args["cmd"]); text != "" && len(after) == 0 {
		return text
	}
	return p.Summary
}

func (c *copyBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (c *copyBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	m.Overlay = nil
	for _, item := range c.items {
		if item.key != msg.String() {
			continue
		}
		return c.copyItem(m, &item)
	}
	return nil
}

func (*copyBox) copyItem(m *view.State, item *copyItem) tea.Cmd {
	m.Overlay = nil
	if item.output != "" {
		m.ShowMessage("reading the output")
		return readAll(m.Tools.OutDir(), item.output)
	}
	m.Want(view.Copied{Text: item.text, Words: item.words})
	return nil
}

func (c *copyBox) DrawLines(*view.State, int, int) (title string, body [][]draw.Text, foot string) {
	for _, item := range c.items {
		body = append(body, draw.Hint(item.key, item.words))
	}
	body = append(body, []draw.Text{draw.Inked(themes.Dim, " esc  nothing")})
	return "Copy", body, ""
}

// copyLimit bounds what is read of an output to be copied: terminals take much less.
const copyLimit = 1 << 20

func readAll(dir, prefix string) tea.Cmd {
	return func() tea.Msg {
		log := steplog.Open(dir, prefix)
		defer log.Close() //nolint:errcheck // it was only read
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
