package tui

import (
	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// ink is how a piece of text looks: a role of the theme, or one of a few looks made from one.
type ink = themes.Role

const (
	inkTitle    = themes.Roles + iota // bold text
	inkKey                            // a key in a hint
	inkTab                            // the tab that is shown
	inkTabFocus                       // the same, in the pane that has the keys
	inkMark                           // a banner
	inkRaw                            // text with its own colours
	inkCount                          // how many inks there are
)

// pen knows the escape sequence of every ink, in the normal way and for the cursor's row.
type pen struct {
	on   [2][inkCount]string
	back string // what a reset is followed by
}

const (
	onRow    = 0
	onCursor = 1
)

func newPen(theme *themes.Theme) *pen {
	p := &pen{}
	base := themes.Style{Fg: theme.Style(themes.Text).Fg, Bg: theme.Background}
	cursor := theme.Style(themes.Cursor)
	for i := range inkCount {
		style := lookOf(theme, i)
		if style.Bg == nil {
			style.Bg = theme.Background
		}
		p.on[onRow][i] = sequence(style)
		// What is a state keeps its colour in the cursor's row; the rest is quiet.
		if i < themes.Roles && !isState(i) {
			style = base
		}
		if cursor.Bg != nil {
			style.Bg = cursor.Bg
		} else {
			style.Reverse, style.Faint = true, false
		}
		p.on[onCursor][i] = sequence(style)
	}
	p.back = sequence(base)
	return p
}

// isState reports whether a role says how a node is.
func isState(i ink) bool {
	switch i {
	case themes.Running, themes.OK, themes.Changed, themes.Failed, themes.Warn, themes.Gate, themes.Match:
		return true
	default:
		return false
	}
}

func lookOf(theme *themes.Theme, i ink) themes.Style {
	if i < themes.Roles {
		return theme.Style(i)
	}
	s := theme.Style(themes.Text)
	switch i {
	case inkTitle:
		s.Bold = true
	case inkKey:
		s = theme.Style(themes.Accent)
		s.Bold = true
	case inkTab:
		s.Underline = true
	case inkTabFocus:
		s = theme.Style(themes.Accent)
		s.Bold, s.Underline = true, true
	case inkMark:
		s = theme.Style(themes.Warn)
		s.Reverse = true
	default: // drawn as text, with its own colours
	}
	return s
}

// sequence resets and then sets the style, so that inks may follow each other in any order.
func sequence(s themes.Style) string {
	a := ansi.NewStyle().Reset()
	if s.Bold {
		a = a.Bold()
	}
	if s.Faint {
		a = a.Faint()
	}
	if s.Italic {
		a = a.Italic(true)
	}
	if s.Underline {
		a = a.Underline(true)
	}
	if s.Reverse {
		a = a.Reverse(true)
	}
	if s.Fg != nil {
		a = a.ForegroundColor(s.Fg)
	}
	if s.Bg != nil {
		a = a.BackgroundColor(s.Bg)
	}
	return a.String()
}
