package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// Sign is a mark in the gutter that says how a node is. It has a glyph, a word and a colour, so that none of them
// has to be seen to know it.
type Sign uint8

// The status symbols.
const (
	SignNone Sign = iota
	SignUnapproved
	SignApproved
	SignPartly
	SignConfirm
	SignExcluded
	SignWaiting
	SignRunning
	SignOK
	SignChanged
	SignFailed
	SignUnreachable
	SignIgnored
	SignRescued
	SignSkipped
	SignKept
	SignOutdated
	SignCancelled
	SignPaused
	Signs
)

// signLook is a sign's word, as people read it, and its colour.
type signLook struct {
	Word string
	Role themes.Role
}

// SignLooks gives each status symbol its word and the role of its colour.
var SignLooks = [Signs]signLook{
	SignNone:        {"", themes.Text},
	SignUnapproved:  {"not approved", themes.Gate},
	SignApproved:    {"approved", themes.Text},
	SignPartly:      {"partly approved", themes.Text},
	SignConfirm:     {"needs confirmation", themes.Warn},
	SignExcluded:    {"excluded", themes.Dim},
	SignWaiting:     {"waiting", themes.Pending},
	SignRunning:     {"running", themes.Running},
	SignOK:          {"ok", themes.OK},
	SignChanged:     {"changed", themes.Changed},
	SignFailed:      {"FAILED", themes.Failed},
	SignUnreachable: {"UNREACHABLE", themes.Failed},
	SignIgnored:     {"failed (ignored)", themes.Dim},
	SignRescued:     {"rescued", themes.Changed},
	SignSkipped:     {"skipped", themes.Skipped},
	SignKept:        {"kept", themes.Dim},
	SignOutdated:    {"outdated", themes.Warn},
	SignCancelled:   {"cancelled", themes.Warn},
	SignPaused:      {"paused", themes.Accent},
}

// Glyphs is a set of characters to draw with. Every one is a single cell under both ways of counting, except the
// strings of the tree and the words, which only have to keep their own length.
type Glyphs struct {
	Signs   [Signs]string
	Spin    []string
	Brk     string // breakpoint
	BrkIf   string // one with a condition or a count
	BrkLog  string // one that only says something
	Pointer string
	Mark    string
	Closed  string
	Open    string
	Branch  string // of the tree; two or three cells
	Corner  string
	Trunk   string
	Gap     string
	Across  string // rules
	Down    string
	TeeDown string
	TeeUp   string
	Cross   [4]string // corners of a box: top left, top right, bottom left, bottom right
	Dots    string
	Arrow   string
	Dot     string // between words
	Times   string
	Most    string // so many, or fewer
	Dash    string
	Caret   string // where typing goes
	Bar     []string
	barRest string
	Quote   [2]string
	Follow  string
	Retried string
	ascii   bool
	OnLeft  string // a line goes on beyond the edge
	OnRight string
	Mask    string // each character of what stands for a secret; "" leaves it as it is
}

// UnicodeGlyphs are for terminals that show UTF-8.
var UnicodeGlyphs = Glyphs{
	Signs: [Signs]string{
		SignNone: " ", SignUnapproved: "◇", SignApproved: "◆", SignPartly: "◈", SignConfirm: "!", SignExcluded: "⊘",
		SignWaiting: "·", SignRunning: "◐", SignOK: "✓", SignChanged: "~", SignFailed: "✗", SignUnreachable: "↯", SignIgnored: "✗",
		SignRescued: "↻", SignSkipped: "-", SignKept: "=", SignOutdated: "≠", SignCancelled: "×", SignPaused: "‖",
	},
	Spin: []string{"◐", "◓", "◑", "◒"},
	Brk:  "●", BrkIf: "◉", BrkLog: "•", Pointer: "❯", Mark: "+", Closed: "▸", Open: "▾",
	Branch: "├ ", Corner: "└ ", Trunk: "│ ", Gap: "  ",
	Across: "─", Down: "│", TeeDown: "┬", TeeUp: "┴", Cross: [4]string{"┌", "┐", "└", "┘"},
	Dots: "…", Arrow: "→", Dot: "·", Times: "×", Most: "≤", Dash: "–", Caret: "▏",
	Bar: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}, barRest: " ",
	Quote: [2]string{"«", "»"}, Follow: "▌", Retried: "↻", OnLeft: "…", OnRight: "…",
}

// AsciiGlyphs are for all other terminals.
var AsciiGlyphs = Glyphs{
	Signs: [Signs]string{
		SignNone: " ", SignUnapproved: "?", SignApproved: "+", SignPartly: "%", SignConfirm: "!", SignExcluded: "/",
		SignWaiting: ".", SignRunning: "*", SignOK: "v", SignChanged: "~", SignFailed: "X", SignUnreachable: "U", SignIgnored: "x",
		SignRescued: "R", SignSkipped: "-", SignKept: "=", SignOutdated: "#", SignCancelled: "c", SignPaused: "P",
	},
	Spin: []string{"*"},
	Brk:  "B", BrkIf: "b", BrkLog: "l", Pointer: ">", Mark: "+", Closed: "+", Open: "-",
	Branch: "|- ", Corner: "`- ", Trunk: "| ", Gap: "  ",
	Across: "-", Down: "|", TeeDown: "-", TeeUp: "-", Cross: [4]string{"+", "+", "+", "+"},
	Dots: "...", Arrow: "->", Dot: "-", Times: "x", Most: "<=", Dash: "-", Caret: "_",
	Bar: []string{"#"}, barRest: " ",
	Quote: [2]string{`"`, `"`}, Follow: "_", Retried: "R", ascii: true, Mask: "*", OnLeft: "<", OnRight: ">",
}

// ChooseGlyphs decides between the sets. Auto takes ASCII where anything else may come out wrong: a locale that is
// not UTF-8, the Linux console, a dumb terminal, or a width table that counts line drawing as two cells.
func ChooseGlyphs(want string, env func(string) string) *Glyphs {
	g := UnicodeGlyphs
	if want == "ascii" || want != "unicode" && !speaksUnicode(env) {
		g = AsciiGlyphs
	}
	return &g
}

// ASCII reports whether a screen with this wish for glyphs is drawn in ASCII here.
func ASCII(want string, env func(string) string) bool { return ChooseGlyphs(want, env).ascii }

func speaksUnicode(env func(string) string) bool {
	// LC_ALL wins over the others, as in setlocale.
	locale := env("LC_ALL")
	for _, name := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = env(name)
		}
	}
	locale = strings.ToLower(locale)
	if !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8") {
		return false
	}
	// The Linux console has few glyphs, whatever the locale says.
	switch env("TERM") {
	case "linux", "dumb", "":
		return false
	}
	return ansi.StringWidth("─") == 1 && ansi.StringWidthWc("─") == 1
}

// signNames are the names a theme may give its own glyphs to.
var signNames = map[string]Sign{
	"undecided": SignUnapproved, "approved": SignApproved, "partly": SignPartly, "confirm": SignConfirm,
	"excluded": SignExcluded, "waiting": SignWaiting, "running": SignRunning, "ok": SignOK, "changed": SignChanged,
	"failed": SignFailed, "unreachable": SignUnreachable, "ignored": SignIgnored, "rescued": SignRescued, "skipped": SignSkipped,
	"kept": SignKept, "outdated": SignOutdated,
	"cancelled": SignCancelled, "paused": SignPaused,
}

// GlyphNames are the names a theme may give glyphs to.
func GlyphNames() []string { return slices.Sorted(maps.Keys(signNames)) }

// Adopt takes the glyphs of a theme, and says what it had to refuse: what is no single cell under both ways of counting, what is
// no name of a sign, and what would make two signs look alike.
func (g *Glyphs) Adopt(theme *themes.Theme) (refused []themes.Warning) {
	wanted := g.Signs
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(theme.Glyphs)) {
		glyph, why := theme.Glyphs[name], ""
		s, ok := signNames[name]
		switch {
		case !ok:
			why = fmt.Sprintf("no glyph is called %q; known are %s", name, strings.Join(GlyphNames(), ", "))
		case !OneCell(glyph.Text):
			why = fmt.Sprintf("the glyph %q of %s is not one cell wide in every terminal", glyph.Text, name)
		case g.ascii && !IsASCII(glyph.Text):
			continue // it was asked for ASCII
		default:
			wanted[s] = glyph.Text
			taken = append(taken, name)
			continue
		}
		refused = append(refused, at(glyph, why))
	}
	// Compared when all are in: a theme may swap two signs.
	for _, name := range taken {
		s := signNames[name]
		if other := likeness(&wanted, s); other != "" {
			refused = append(refused, at(theme.Glyphs[name], fmt.Sprintf("the glyph %q of %s means %s already", wanted[s], name, other)))
			continue
		}
		g.Signs[s] = wanted[s]
		if s == SignRunning {
			g.Spin = []string{wanted[s]}
		}
	}
	return refused
}

func at(g themes.Glyph, why string) themes.Warning {
	w := g.Place
	w.Message = why
	return w
}

// likeness is the word of another sign with the same glyph, or "". Failed and ignored may share one: a word stands beside it.
func likeness(all *[Signs]string, s Sign) string {
	for other := SignUnapproved; other < Signs; other++ {
		both := [2]Sign{min(s, other), max(s, other)}
		if other != s && all[other] == all[s] && both != [2]Sign{SignFailed, SignIgnored} {
			return SignLooks[other].Word
		}
	}
	return ""
}

// OneCell reports whether text takes one cell in every terminal, whichever tables of widths it has.
func OneCell(s string) bool {
	return ansi.StringWidth(s) == 1 && ansi.StringWidthWc(s) == 1 && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x1f000
	})
}

// Chosen marks one of several.
func (g *Glyphs) Chosen() string {
	if g.Mask != "" {
		return "*"
	}
	return "•"
}

// Gauge draws a part of w cells.
func (g *Glyphs) Gauge(part float64, w int) string {
	steps := len(g.Bar)
	n := int(part*float64(w*steps) + 0.5)
	n = max(min(n, w*steps), 0)
	s := strings.Repeat(g.Bar[steps-1], n/steps)
	if rest := n % steps; rest > 0 {
		s += g.Bar[rest-1]
	}
	return s
}

// BreakSign is how a breakpoint looks: one that only says something, one that stops only sometimes, or one that always stops.
func (g *Glyphs) BreakSign(logs, sometimes bool) Text {
	switch {
	case logs:
		return Inked(themes.Accent, g.BrkLog)
	case sometimes:
		return Inked(themes.Failed, g.BrkIf)
	}
	return Inked(themes.Failed, g.Brk)
}
