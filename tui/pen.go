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
	inkMark                           // what kind of run this is
	inkBanner                         // that it is about production
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
	for mode := range p.on {
		for i := range inkCount {
			p.on[mode][i] = sequence(styleOf(theme, i, mode))
		}
	}
	p.back = sequence(themes.Style{Fg: theme.Style(themes.Text).Fg, Bg: theme.Background})
	return p
}

// styleOf is how an ink looks in a mode. In the cursor's row what is a state keeps its colour; the rest is quiet.
func styleOf(theme *themes.Theme, i ink, mode int) themes.Style {
	style := lookOf(theme, i)
	if style.Bg == nil {
		style.Bg = theme.Background
	}
	if mode == onRow {
		return style
	}
	cursor := theme.Style(themes.Cursor)
	quiet := i < themes.Roles && !isState(i)
	if quiet {
		style = themes.Style{Fg: theme.Style(themes.Text).Fg, Bg: theme.Background}
	}
	if cursor.Bg == nil {
		style.Reverse, style.Faint = true, false
		return style
	}
	style.Bg = cursor.Bg
	if quiet && cursor.Fg != nil {
		style.Fg = cursor.Fg
	}
	return style
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
	case inkBanner:
		// Reverse in any theme, unless it has a background of its own for this.
		s = theme.Style(themes.Danger)
		s.Bold, s.Reverse = true, s.Reverse || s.Bg == nil
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
