package pane

import (
	"moon/tui/draw"
	"moon/tui/view"
)

// Body draws the rows of a pane, one at a time, into a stretch that is open.
type Body interface{ DrawRow(b *draw.Brush, i int) }

// docBody is a doc, scrolled.
type docBody struct {
	doc *draw.Doc
	top int
	h   int
}

func (d docBody) DrawRow(b *draw.Brush, i int) { d.doc.Draw(b, d.top+i) }

// DetailBody is what fills w by h cells of the detail: the values that are edited, or the tab that is open.
func (m DetailPane) DetailBody(w, h int) Body {
	w = max(w-1, 1) // a cell of air at the right edge
	if m.Sheet != nil {
		return docBody{m.Sheet.Draw(m.Screen(), w, h), 0, h}
	}
	if m.Detail.Tab == view.TabOutputs {
		return TimePane(m).withTime(w, h, func(h int) *draw.Doc { return OutputPane(m).outputDoc(outputWidth(m.CurrentLayout()), h) })
	}
	return docBody{m.detailDoc(w, h), m.Detail.Scroll, h}
}
