package tui

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"moon/themes"
)

// previewWidth is how wide a preview is: at most this, and as much where it goes to no terminal.
const previewWidth = 80

// Preview is a theme to look at without a run: every role by name, a tree with all states, a diff, output, and how well each role
// can be read. Its colours are those of the terminal that o and env describe. What is wrong with the theme comes with it.
func Preview(o Options, env func(string) string, dark bool, width int) (string, []themes.Warning) {
	if width <= 0 || width > previewWidth {
		width = previewWidth
	}
	p := &preview{w: width, profile: chooseProfile(o, env), dark: dark}
	var mistakes []themes.Warning
	p.theme, mistakes = themes.Load(o.Theme, o.ThemeDir, dark)
	p.shown, _ = chooseTheme(o, p.profile, env, dark)
	p.glyphs = chooseGlyphs(o.Glyphs, env)
	mistakes = append(mistakes, p.glyphs.adopt(p.theme)...)
	p.b = &brush{pen: newPen(p.shown)}
	p.draw()

	var out strings.Builder
	w := &colorprofile.Writer{Forward: &out, Profile: p.profile}
	_, _ = w.Write(p.b.buf) // into memory
	text := out.String()
	if p.profile == colorprofile.NoTTY { // nothing is painted, so nothing has to be filled
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		text = strings.Join(lines, "\n")
	}
	return text, mistakes
}

type preview struct {
	w       int
	profile colorprofile.Profile
	dark    bool
	theme   *themes.Theme // as written
	shown   *themes.Theme // as this terminal can
	glyphs  *glyphs
	b       *brush
}

func (p *preview) line(spans ...text) {
	p.b.begin(p.w, onRow)
	for _, s := range spans {
		p.b.put(s.ink, s.s)
	}
	p.b.end()
	p.b.newline()
}

func (p *preview) heading(words string) {
	p.line()
	p.line(inked(inkTitle, " "+words))
}

func (p *preview) draw() {
	head := []text{inked(inkTitle, " "+plain(p.theme.Name)), inked(themes.Dim, "   for "+p.theme.For()+" backgrounds")}
	if p.theme.Adaptive {
		half := map[bool]string{true: "this is the dark half (--light)", false: "this is the light half (--dark)"}[p.dark]
		head[1].s = "   " + p.theme.For() + "; " + half
	}
	p.line(head...)
	for _, words := range []string{p.theme.About, p.theme.Path, p.colours()} {
		if words != "" {
			for _, part := range wrapText(plain(words), p.w-2) {
				p.line(inked(themes.Text, " "+part))
			}
		}
	}
	p.roles()
	p.tree()
	p.diff()
	p.output()
}

// colours says what this terminal makes of the theme.
func (p *preview) colours() string {
	fixed := p.theme.Fixed()
	switch {
	case p.profile == colorprofile.TrueColor:
		return ""
	case p.profile == colorprofile.ANSI256 && fixed:
		return "This terminal has 256 colours: the nearest ones are shown."
	case p.profile == colorprofile.ANSI256:
		return ""
	case p.profile == colorprofile.ANSI && fixed:
		return "This terminal has 16 colours, too few for this theme: the screen looks as with " + themes.Default + "."
	case p.profile == colorprofile.ANSI:
		return ""
	case p.profile == colorprofile.ASCII:
		return "Without colours (NO_COLOR, --no-color, or a terminal that has none) bold, faint, underline and reverse are left."
	}
	return "This goes to no terminal, so nothing of it is coloured."
}

// samples are what each role stands for, in words of the screen.
func (p *preview) sample(r themes.Role) string {
	sign := func(s sign) string { return p.glyphs.signs[s] + " " + signLooks[s].word }
	samples := map[themes.Role]string{
		themes.Text: "what a step is called", themes.Dim: "where it comes from", themes.Faint: "what hardly matters", themes.Accent: "REVIEW",
		themes.Border: strings.Repeat(p.glyphs.across, 12), themes.Selection: p.glyphs.mark + " marked", themes.Cursor: "the cursor's row",
		themes.Match: "what was found", themes.Pending: sign(signWaiting), themes.Running: sign(signRunning), themes.OK: sign(signOK),
		themes.Changed: sign(signChanged), themes.Failed: sign(signFailed), themes.Warn: sign(signConfirm), themes.Skipped: sign(signSkipped),
		themes.Gate: sign(signUndecided), themes.DiffAdd: "+a line that comes", themes.DiffDel: "-a line that goes", themes.DiffHunk: "@@ -12,4 +12,4 @@",
		themes.LogStderr: "what went to stderr", themes.LogTime: "12:01:07", themes.BarFill: p.glyphs.gauge(0.6, 12), themes.BarRest: "the rest of a bar",
		themes.Danger: " PRODUCTION ",
	}
	return samples[r]
}

func (p *preview) roles() {
	p.heading("Roles")
	fixed := p.theme.Fixed()
	if fixed {
		p.b.begin(p.w, onRow)
		p.b.at(38)
		p.b.put(themes.Dim, "contrast")
		p.b.at(57)
		p.b.put(themes.Dim, "in the cursor's row")
		p.b.end()
		p.b.newline()
	} else {
		p.line(inked(themes.Dim, " The colours are the terminal's own: their contrast is unknown."))
	}
	for r := range themes.Roles {
		p.b.begin(p.w, onRow)
		p.b.put(themes.Text, " "+r.String())
		p.b.at(14)
		p.b.put(r, p.sample(r))
		if fixed {
			p.b.at(38)
			p.figure(r, onRow)
			p.b.at(57)
			p.figure(r, onCursor)
		}
		p.b.end()
		p.b.newline()
	}
}

// figure is how well a role can be read, with what it should be where that is less.
func (p *preview) figure(r themes.Role, mode int) {
	need := themes.Need(r, p.theme.Style(r))
	fg, bg := colorsOf(p.theme, r, mode)
	switch {
	case need == 0:
		p.b.put(themes.Dim, "not text")
	case fg == nil || bg == nil:
		p.b.put(themes.Dim, "the terminal's")
	default:
		got := themes.Contrast(fg, bg)
		p.b.put(themes.Text, fmt.Sprintf("%4.1f", got))
		if got < need {
			p.b.put(themes.Failed, fmt.Sprintf(" %s needs %.1f", p.glyphs.signs[signFailed], need))
		}
	}
}

// colorsOf are the two colours that have to be told apart; nil is one of the terminal's own, of which nobody knows how it looks.
func colorsOf(theme *themes.Theme, i ink, mode int) (fg, bg color.Color) {
	s := styleOf(theme, i, mode)
	known := func(c color.Color) color.Color {
		if themes.IsRGB(c) {
			return c
		}
		return nil
	}
	return known(s.Fg), known(s.Bg)
}

// tree shows every state, with its word where the screen has a note.
func (p *preview) tree() {
	p.heading("States")
	g := p.glyphs
	row := func(mode int, gutter, guide string, s sign, name ink, pointer string) {
		look := signLooks[s]
		p.b.begin(p.w, mode)
		if gutter == "" {
			p.b.put(themes.Text, " ")
		}
		p.b.put(themes.Failed, gutter)
		if pointer == "" {
			p.b.put(themes.Text, " ")
		}
		p.b.put(themes.Accent, pointer)
		p.b.put(themes.Text, " ")
		p.b.put(look.role, g.signs[s])
		p.b.put(themes.Text, " ")
		p.b.put(themes.Border, guide)
		p.b.put(name, "a step")
		p.b.at(38)
		p.b.put(themes.Dim, look.word)
		p.b.end()
		p.b.newline()
	}
	p.line(
		inked(themes.Text, "   "), inked(themes.Failed, g.signs[signFailed]), inked(themes.Dim, " "+g.open+" "),
		inked(inkTitle, "site.yml"), inked(themes.Text, "   "), inked(inkBanner, " PRODUCTION "), inked(themes.Text, "   "),
		inked(inkTab, "1 Step"), inked(themes.Text, "  "), inked(themes.Dim, "2 Output"),
	)
	for s := signUndecided; s < signs; s++ {
		guide, name, gutter, pointer := g.branch, themes.Text, "", ""
		switch s {
		case signExcluded, signSkipped:
			name = themes.Dim
		case signFailed, signRunning:
			name = inkTitle
		case signPaused:
			guide, gutter, pointer = g.corner, g.brk, g.pointer
		default:
		}
		row(onRow, gutter, guide, s, name, pointer)
		if s == signFailed || s == signChanged {
			row(onCursor, "", guide, s, name, g.pointer)
		}
	}
}

func (p *preview) diff() {
	p.heading("Diff")
	for _, l := range []text{
		inked(themes.Dim, "--- /etc/postgresql/postgresql.conf"),
		inked(themes.DiffHunk, "@@ -12,3 +12,3 @@"),
		inked(themes.Text, " listen_addresses = *"),
		inked(themes.DiffDel, "-max_connections = 100"),
		inked(themes.DiffAdd, "+max_connections = 400"),
	} {
		p.line(inked(themes.Text, "  "), l)
	}
}

func (p *preview) output() {
	p.heading("Output")
	p.line(inked(themes.Text, "  "), inked(themes.LogTime, "12:01:07 "), inked(themes.Text, "Running upgrade 91aa to a03d, "), inked(themes.Match, "backfill"), inked(themes.Text, " tenant_id"))
	p.line(inked(themes.Text, "  "), inked(themes.LogTime, "12:01:09 "), inked(themes.LogStderr, "canceling statement due to lock timeout"))
	p.line(inked(themes.Text, "  "), inked(inkKey, "a"), inked(themes.Text, " approve   "), inked(inkKey, "x"), inked(themes.Text, " exclude   "), inked(inkKey, "?"), inked(themes.Text, " help"))
}
