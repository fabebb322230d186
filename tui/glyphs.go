package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// sign is a mark in the gutter that says how a node is. It has a glyph, a word and a colour, so that none of them
// has to be seen to know it.
type sign uint8

const (
	signNone sign = iota
	signUndecided
	signApproved
	signPartly
	signConfirm
	signExcluded
	signWaiting
	signRunning
	signOK
	signChanged
	signFailed
	signUnreachable
	signIgnored
	signRescued
	signSkipped
	signKept
	signOutdated
	signCancelled
	signPaused
	signs
)

// signLook is a sign's word, as people read it, and its colour.
type signLook struct {
	word string
	role themes.Role
}

var signLooks = [signs]signLook{
	signNone:        {"", themes.Text},
	signUndecided:   {"not approved", themes.Gate},
	signApproved:    {"approved", themes.Text},
	signPartly:      {"partly approved", themes.Text},
	signConfirm:     {"needs confirmation", themes.Warn},
	signExcluded:    {"excluded", themes.Dim},
	signWaiting:     {"waiting", themes.Pending},
	signRunning:     {"running", themes.Running},
	signOK:          {"ok", themes.OK},
	signChanged:     {"changed", themes.Changed},
	signFailed:      {"FAILED", themes.Failed},
	signUnreachable: {"UNREACHABLE", themes.Failed},
	signIgnored:     {"failed (ignored)", themes.Dim},
	signRescued:     {"rescued", themes.Changed},
	signSkipped:     {"skipped", themes.Skipped},
	signKept:        {"kept", themes.Dim},
	signOutdated:    {"outdated", themes.Warn},
	signCancelled:   {"cancelled", themes.Warn},
	signPaused:      {"paused", themes.Accent},
}

// glyphs is a set of characters to draw with. Every one is a single cell under both ways of counting, except the
// strings of the tree and the words, which only have to keep their own length.
type glyphs struct {
	signs   [signs]string
	spin    []string
	brk     string // breakpoint
	brkIf   string // one with a condition or a count
	brkLog  string // one that only says something
	pointer string
	mark    string
	closed  string
	open    string
	branch  string // of the tree; two or three cells
	corner  string
	trunk   string
	gap     string
	across  string // rules
	down    string
	teeDown string
	teeUp   string
	cross   [4]string // corners of a box: top left, top right, bottom left, bottom right
	dots    string
	arrow   string
	dot     string // between words
	times   string
	most    string // so many, or fewer
	dash    string
	caret   string // where typing goes
	bar     []string
	barRest string
	quote   [2]string
	follow  string
	retried string
	ascii   bool
	onLeft  string // a line goes on beyond the edge
	onRight string
	mask    string // each character of what stands for a secret; "" leaves it as it is
}

var unicodeGlyphs = glyphs{
	signs: [signs]string{
		signNone: " ", signUndecided: "◇", signApproved: "◆", signPartly: "◈", signConfirm: "!", signExcluded: "⊘",
		signWaiting: "·", signRunning: "◐", signOK: "✓", signChanged: "~", signFailed: "✗", signUnreachable: "↯", signIgnored: "✗",
		signRescued: "↻", signSkipped: "-", signKept: "=", signOutdated: "≠", signCancelled: "×", signPaused: "‖",
	},
	spin: []string{"◐", "◓", "◑", "◒"},
	brk:  "●", brkIf: "◉", brkLog: "•", pointer: "❯", mark: "+", closed: "▸", open: "▾",
	branch: "├ ", corner: "└ ", trunk: "│ ", gap: "  ",
	across: "─", down: "│", teeDown: "┬", teeUp: "┴", cross: [4]string{"┌", "┐", "└", "┘"},
	dots: "…", arrow: "→", dot: "·", times: "×", most: "≤", dash: "–", caret: "▏",
	bar: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}, barRest: " ",
	quote: [2]string{"«", "»"}, follow: "▌", retried: "↻", onLeft: "…", onRight: "…",
}

var asciiGlyphs = glyphs{
	signs: [signs]string{
		signNone: " ", signUndecided: "?", signApproved: "+", signPartly: "%", signConfirm: "!", signExcluded: "/",
		signWaiting: ".", signRunning: "*", signOK: "v", signChanged: "~", signFailed: "X", signUnreachable: "U", signIgnored: "x",
		signRescued: "R", signSkipped: "-", signKept: "=", signOutdated: "#", signCancelled: "c", signPaused: "P",
	},
	spin: []string{"*"},
	brk:  "B", brkIf: "b", brkLog: "l", pointer: ">", mark: "+", closed: "+", open: "-",
	branch: "|- ", corner: "`- ", trunk: "| ", gap: "  ",
	across: "-", down: "|", teeDown: "-", teeUp: "-", cross: [4]string{"+", "+", "+", "+"},
	dots: "...", arrow: "->", dot: "-", times: "x", most: "<=", dash: "-", caret: "_",
	bar: []string{"#"}, barRest: " ",
	quote: [2]string{`"`, `"`}, follow: "_", retried: "R", ascii: true, mask: "*", onLeft: "<", onRight: ">",
}

// chooseGlyphs decides between the sets. Auto takes ASCII where anything else may come out wrong: a locale that is
// not UTF-8, the Linux console, a dumb terminal, or a width table that counts line drawing as two cells.
func chooseGlyphs(want string, env func(string) string) *glyphs {
	g := unicodeGlyphs
	if want == "ascii" || want != "unicode" && !speaksUnicode(env) {
		g = asciiGlyphs
	}
	return &g
}

// ASCII reports whether a screen with this wish for glyphs is drawn in ASCII here.
func ASCII(want string, env func(string) string) bool { return chooseGlyphs(want, env).ascii }

func speaksUnicode(env func(string) string) bool {
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
	switch env("TERM") {
	case "linux", "dumb", "":
		return false
	}
	return ansi.StringWidth("─") == 1 && ansi.StringWidthWc("─") == 1
}

// signNames are the names a theme may give its own glyphs to.
var signNames = map[string]sign{
	"undecided": signUndecided, "approved": signApproved, "partly": signPartly, "confirm": signConfirm,
	"excluded": signExcluded, "waiting": signWaiting, "running": signRunning, "ok": signOK, "changed": signChanged,
	"failed": signFailed, "unreachable": signUnreachable, "ignored": signIgnored, "rescued": signRescued, "skipped": signSkipped, "kept": signKept, "outdated": signOutdated,
	"cancelled": signCancelled, "paused": signPaused,
}

// GlyphNames are the names a theme may give glyphs to.
func GlyphNames() []string { return slices.Sorted(maps.Keys(signNames)) }

// adopt takes the glyphs of a theme, and says what it had to refuse: what is no single cell under both ways of counting, what is
// no name of a sign, and what would make two signs look alike.
func (g *glyphs) adopt(theme *themes.Theme) (refused []themes.Warning) {
	wanted := g.signs
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(theme.Glyphs)) {
		glyph, why := theme.Glyphs[name], ""
		s, ok := signNames[name]
		switch {
		case !ok:
			why = fmt.Sprintf("no glyph is called %q; known are %s", name, strings.Join(GlyphNames(), ", "))
		case !oneCell(glyph.Text):
			why = fmt.Sprintf("the glyph %q of %s is not one cell wide in every terminal", glyph.Text, name)
		case g.ascii && !isASCII(glyph.Text):
			continue // it was asked for ASCII
		default:
			wanted[s] = glyph.Text
			taken = append(taken, name)
			continue
		}
		refused = append(refused, at(glyph, why))
	}
	for _, name := range taken {
		s := signNames[name]
		if other := likeness(&wanted, s); other != "" {
			refused = append(refused, at(theme.Glyphs[name], fmt.Sprintf("the glyph %q of %s means %s already", wanted[s], name, other)))
			continue
		}
		g.signs[s] = wanted[s]
		if s == signRunning {
			g.spin = []string{wanted[s]}
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
func likeness(all *[signs]string, s sign) string {
	for other := signUndecided; other < signs; other++ {
		both := [2]sign{min(s, other), max(s, other)}
		if other != s && all[other] == all[s] && both != [2]sign{signFailed, signIgnored} {
			return signLooks[other].word
		}
	}
	return ""
}

func oneCell(s string) bool {
	return ansi.StringWidth(s) == 1 && ansi.StringWidthWc(s) == 1 && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x1f000
	})
}

// chosen marks one of several.
func (g *glyphs) chosen() string {
	if g.mask != "" {
		return "*"
	}
	return "•"
}

// gauge draws a part of w cells.
func (g *glyphs) gauge(part float64, w int) string {
	steps := len(g.bar)
	n := int(part*float64(w*steps) + 0.5)
	n = max(min(n, w*steps), 0)
	s := strings.Repeat(g.bar[steps-1], n/steps)
	if rest := n % steps; rest > 0 {
		s += g.bar[rest-1]
	}
	return s
}
