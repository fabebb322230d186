package draw

import (
	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// Ink is how a piece of text looks: a role of the theme, or one of a few looks made from one.
type Ink = themes.Role

// Inks that are made of the roles of a theme, numbered after them.
const (
	InkTitle    = themes.Roles + iota // bold text
	InkKey                            // a key in a hint
	InkTab                            // the tab that is shown
	InkTabFocus                       // the same, in the pane that has the keys
	InkMark                           // what kind of run this is
	InkBanner                         // that it is about production
	InkRaw                            // text with its own colours
	InkCount                          // how many inks there are
)

// Pen knows the escape sequence of every ink, in the normal way and for the cursor's row.
type Pen struct {
	On   [2][InkCount]string
	back string // what a reset is followed by
}

// The backgrounds that an ink is painted on.
const (
	OnRow    = 0
	OnCursor = 1
)

// NewPen prepares the control sequences of a theme, one for each ink and background.
func NewPen(theme *themes.Theme) *Pen {
	p := &Pen{}
	for mode := range p.On {
		for i := range InkCount {
			p.On[mode][i] = sequence(StyleOf(theme, i, mode))
		}
	}
	p.back = sequence(themes.Style{Fg: theme.Style(themes.Text).Fg, Bg: theme.Background})
	return p
}

// StyleOf is how an ink looks in a mode. In the cursor's row what is a state keeps its colour; the rest is quiet.
func StyleOf(theme *themes.Theme, i Ink, mode int) themes.Style {
	style := lookOf(theme, i)
	if style.Bg == nil {
		style.Bg = theme.Background
	}
	if mode == OnRow {
		return style
	}
	cursor := theme.Style(themes.Cursor)
	quiet := i < themes.Roles && !IsState(i)
	if quiet {
		style = themes.Style{Fg: theme.Style(themes.Text).Fg, Bg: theme.Background}
	}
	// A theme without a colour for the cursor has it reversed.
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

// IsState reports whether a role says how a node is.
func IsState(i Ink) bool {
	switch i {
	case themes.Running, themes.OK, themes.Changed, themes.Failed, themes.Warn, themes.Gate, themes.Match:
		return true
	default:
		return false
	}
}

func lookOf(theme *themes.Theme, i Ink) themes.Style {
	if i < themes.Roles {
		return theme.Style(i)
	}
	s := theme.Style(themes.Text)
	switch i {
	case InkTitle:
		s.Bold = true
	case InkKey:
		s = theme.Style(themes.Accent)
		s.Bold = true
	case InkTab:
		s.Underline = true
	case InkTabFocus:
		s = theme.Style(themes.Accent)
		s.Bold, s.Underline = true, true
	case InkMark:
		s = theme.Style(themes.Warn)
		s.Reverse = true
	case InkBanner:
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
