package looks

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"moon/themes"
	"moon/tui/draw"
)

// PreviewWidth is how wide a preview is: at most this, and as much where it goes to no terminal.
const PreviewWidth = 80

// Preview is a theme to look at without a run: every role by name, a tree with all states, a diff, output, and how well each role
// can be read. Its colours are those of the terminal that o and env describe. What is wrong with the theme comes with it.
func Preview(o Options, env func(string) string, dark bool, width int) (string, []themes.Warning) {
	if width <= 0 || width > PreviewWidth {
		width = PreviewWidth
	}
	p := &preview{w: width, profile: chooseProfile(o, env), dark: dark}
	var mistakes []themes.Warning
	// Two themes: mistakes are those of the theme as written, even if this terminal shows the default in its place.
	p.theme, mistakes = themes.Load(o.Theme, o.ThemeDir, dark)
	p.shown, _ = chooseTheme(o, p.profile, env, dark)
	p.glyphs = draw.ChooseGlyphs(o.Glyphs, env)
	mistakes = append(mistakes, p.glyphs.Adopt(p.theme)...)
	p.b = &draw.Brush{Pen: draw.NewPen(p.shown)}
	p.drawAll()

	var out strings.Builder
	w := &colorprofile.Writer{Forward: &out, Profile: p.profile}
	_, _ = w.Write(p.b.Buf) // into memory
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
	glyphs  *draw.Glyphs
	b       *draw.Brush
}

func (p *preview) addLine(spans ...draw.Text) {
	p.b.Begin(p.w, draw.OnRow)
	for _, s := range spans {
		p.b.Put(s.Ink, s.S)
	}
	p.b.End()
	p.b.Newline()
}

func (p *preview) addHeading(words string) {
	p.addLine()
	p.addLine(draw.Inked(draw.InkTitle, " "+words))
}

func (p *preview) drawAll() {
	head := []draw.Text{
		draw.Inked(draw.InkTitle, " "+draw.Plain(p.theme.Name)),
		draw.Inked(themes.Dim, "   for "+p.theme.For()+" backgrounds"),
	}
	if p.theme.Adaptive {
		half := map[bool]string{true: "this is the dark half (--light)", false: "this is the light half (--dark)"}[p.dark]
		head[1].S = "   " + p.theme.For() + "; " + half
	}
	p.addLine(head...)
	for _, words := range []string{p.theme.About, p.theme.Path, p.colourText()} {
		if words != "" {
			for _, part := range draw.WrapText(draw.Plain(words), p.w-2) {
				p.addLine(draw.Inked(themes.Text, " "+part))
			}
		}
	}
	p.drawRoles()
	p.drawTree()
	p.drawDiff()
	p.drawOutput()
}

// colourText says what this terminal makes of the theme.
func (p *preview) colourText() string {
	fixed := p.theme.Fixed()
	switch {
	case p.profile == colorprofile.TrueColor:
		return ""
	case p.profile == colorprofile.ANSI256 && fixed:
		return "This terminal has 256 colours: the nearest ones are shown."
	case p.profile == colorprofile.ANSI256:
		return ""
	case p.profile == colorprofile.ANSI && fixed:
		return "This terminal has 16 colours, too few for this theme: the TUI looks as with " + themes.Default + "."
	case p.profile == colorprofile.ANSI:
		return ""
	case p.profile == colorprofile.ASCII:
		return "Without colours (NO_COLOR, --no-color, or a terminal that has none) bold, faint, underline and reverse are left."
	}
	return "This goes to no terminal, so nothing of it is coloured."
}

// samples are what each role stands for, in words of the TUI.
func (p *preview) sampleText(r themes.Role) string {
	sign := func(s draw.Sign) string { return p.glyphs.Signs[s] + " " + draw.SignLooks[s].Word }
	samples := map[themes.Role]string{
		themes.Text: "what a step is called", themes.Dim: "where it comes from", themes.Faint: "what hardly matters",
		themes.Accent: "REVIEW",
		themes.Border: strings.Repeat(p.glyphs.Across, 12), themes.Selection: p.glyphs.Mark + " marked", themes.Cursor: "the cursor's row",
		themes.Match: "what was found", themes.Pending: sign(draw.SignWaiting), themes.Running: sign(draw.SignRunning),
		themes.OK:      sign(draw.SignOK),
		themes.Changed: sign(draw.SignChanged), themes.Failed: sign(draw.SignFailed), themes.Warn: sign(draw.SignConfirm),
		themes.Skipped: sign(draw.SignSkipped),
		themes.Gate:    sign(draw.SignUnapproved), themes.DiffAdd: "+a line that comes", themes.DiffDel: "-a line that goes",
		themes.DiffHunk:  "@@ -12,4 +12,4 @@",
		themes.LogStderr: "what went to stderr", themes.LogTime: "12:01:07", themes.BarFill: p.glyphs.Gauge(0.6, 12),
		themes.BarRest: "the rest of a bar",
		themes.Danger:  " PRODUCTION ",
	}
	return samples[r]
}

func (p *preview) drawRoles() {
	p.addHeading("Roles")
	fixed := p.theme.Fixed()
	if fixed {
		p.b.Begin(p.w, draw.OnRow)
		p.b.At(38)
		p.b.Put(themes.Dim, "contrast")
		p.b.At(57)
		p.b.Put(themes.Dim, "in the cursor's row")
		p.b.End()
		p.b.Newline()
	} else {
		p.addLine(draw.Inked(themes.Dim, " The colours are the terminal's own: their contrast is unknown."))
	}
	for r := range themes.Roles {
		p.b.Begin(p.w, draw.OnRow)
		p.b.Put(themes.Text, " "+r.String())
		p.b.At(14)
		p.b.Put(r, p.sampleText(r))
		if fixed {
			p.b.At(38)
			p.contrastText(r, draw.OnRow)
			p.b.At(57)
			p.contrastText(r, draw.OnCursor)
		}
		p.b.End()
		p.b.Newline()
	}
}

// contrastText is how well a role can be read, with what it should be where that is less.
func (p *preview) contrastText(r themes.Role, mode int) {
	need := themes.Need(r, p.theme.Style(r))
	fg, bg := colorsOf(p.theme, r, mode)
	switch {
	case need == 0:
		p.b.Put(themes.Dim, "not text")
	case fg == nil || bg == nil:
		p.b.Put(themes.Dim, "the terminal's")
	default:
		got := themes.Contrast(fg, bg)
		p.b.Put(themes.Text, fmt.Sprintf("%4.1f", got))
		if got < need {
			p.b.Put(themes.Failed, fmt.Sprintf(" %s needs %.1f", p.glyphs.Signs[draw.SignFailed], need))
		}
	}
}

// colorsOf are the two colours that have to be distinguished; nil is one of the terminal's own, which moon cannot know.
func colorsOf(theme *themes.Theme, i draw.Ink, mode int) (fg, bg color.Color) {
	s := draw.StyleOf(theme, i, mode)
	known := func(c color.Color) color.Color {
		if themes.IsRGB(c) {
			return c
		}
		return nil
	}
	return known(s.Fg), known(s.Bg)
}

// drawTree shows every state, with its word in the place of a note.
func (p *preview) drawTree() {
	p.addHeading("States")
	g := p.glyphs
	row := func(mode int, gutter, guide string, s draw.Sign, name draw.Ink, pointer string) {
		look := draw.SignLooks[s]
		p.b.Begin(p.w, mode)
		if gutter == "" {
			p.b.Put(themes.Text, " ")
		}
		p.b.Put(themes.Failed, gutter)
		if pointer == "" {
			p.b.Put(themes.Text, " ")
		}
		p.b.Put(themes.Accent, pointer)
		p.b.Put(themes.Text, " ")
		p.b.Put(look.Role, g.Signs[s])
		p.b.Put(themes.Text, " ")
		p.b.Put(themes.Border, guide)
		p.b.Put(name, "a step")
		p.b.At(38)
		p.b.Put(themes.Dim, look.Word)
		p.b.End()
		p.b.Newline()
	}
	p.addLine(
		draw.Inked(themes.Text, "   "), draw.Inked(themes.Failed, g.Signs[draw.SignFailed]), draw.Inked(themes.Dim, " "+g.Open+" "),
		draw.Inked(draw.InkTitle, "site.yml"), draw.Inked(themes.Text, "   "), draw.Inked(draw.InkBanner, " PRODUCTION "),
		draw.Inked(themes.Text, "   "),
		draw.Inked(draw.InkTab, "1 Step"), draw.Inked(themes.Text, "  "), draw.Inked(themes.Dim, "2 Output"),
	)
	for s := draw.SignUnapproved; s < draw.Signs; s++ {
		guide, name, gutter, pointer := g.Branch, themes.Text, "", ""
		switch s {
		case draw.SignExcluded, draw.SignSkipped:
			name = themes.Dim
		case draw.SignFailed, draw.SignRunning:
			name = draw.InkTitle
		case draw.SignPaused:
			guide, gutter, pointer = g.Corner, g.Brk, g.Pointer
		default:
		}
		row(draw.OnRow, gutter, guide, s, name, pointer)
		// The cursor has a background of its own, on which these colours are used, too.
		if s == draw.SignFailed || s == draw.SignChanged {
			row(draw.OnCursor, "", guide, s, name, g.Pointer)
		}
	}
}

func (p *preview) drawDiff() {
	p.addHeading("Diff")
	for _, l := range []draw.Text{
		draw.Inked(themes.Dim, "--- /etc/postgresql/postgresql.conf"),
		draw.Inked(themes.DiffHunk, "@@ -12,3 +12,3 @@"),
		draw.Inked(themes.Text, " listen_addresses = *"),
		draw.Inked(themes.DiffDel, "-max_connections = 100"),
		draw.Inked(themes.DiffAdd, "+max_connections = 400"),
	} {
		p.addLine(draw.Inked(themes.Text, "  "), l)
	}
}

func (p *preview) drawOutput() {
	p.addHeading("Output")
	p.addLine(draw.Inked(themes.Text, "  "), draw.Inked(themes.LogTime, "12:01:07 "),
		draw.Inked(themes.Text, "Running upgrade 91aa to a03d, "), draw.Inked(themes.Match, "backfill"),
		draw.Inked(themes.Text, " tenant_id"))
	p.addLine(draw.Inked(themes.Text, "  "), draw.Inked(themes.LogTime, "12:01:09 "),
		draw.Inked(themes.LogStderr, "canceling statement due to lock timeout"))
	p.addLine(draw.Inked(themes.Text, "  "), draw.Inked(draw.InkKey, "a"), draw.Inked(themes.Text, " approve   "),
		draw.Inked(draw.InkKey, "x"), draw.Inked(themes.Text, " exclude   "), draw.Inked(draw.InkKey, "?"),
		draw.Inked(themes.Text, " help"))
}
