package tui

import (
	"moon/tui/draw"
	"moon/tui/view"
)

// body draws the rows of a pane, one at a time, into a stretch that is open.
type body interface{ drawRow(b *draw.Brush, i int) }

// docBody is a doc, scrolled.
type docBody struct {
	doc *draw.Doc
	top int
	h   int
}

func (d docBody) drawRow(b *draw.Brush, i int) { d.doc.Draw(b, d.top+i) }

func (m detailPane) detailBody(w, h int) body {
	w = max(w-1, 1) // a cell of air at the right edge
	if m.Sheet != nil {
		return docBody{m.Sheet.Draw(m.Screen(), w, h), 0, h}
	}
	if m.Detail.Tab == view.TabOutputs {
		return timePane(m).withTime(w, h, func(h int) *draw.Doc { return outputPane(m).outputDoc(outputWidth(m.CurrentLayout()), h) })
	}
	return docBody{m.detailDoc(w, h), m.Detail.Scroll, h}
}
