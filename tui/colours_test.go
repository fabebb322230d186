package tui

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/internal/assault"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

var profiles = []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII}

// asShown is a frame as a terminal with these colours gets it.
func asShown(t *testing.T, frame string, p colorprofile.Profile) string {
	t.Helper()
	var out strings.Builder
	if _, err := (&colorprofile.Writer{Forward: &out, Profile: p}).WriteString(frame); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// dressed are options with a theme in a terminal.
func dressed(theme string, p colorprofile.Profile) func(*Options) {
	return func(o *Options) { o.Theme, o.Profile = theme, &p }
}

// Every scene in every theme, on both backgrounds, with as many colours as there are: it fits, it has no colours where there are
// none, and none of its own where there are sixteen; and without any the screen says the same, word for word.
func TestScenesInEveryTheme(t *testing.T) {
	assault.Long(t)
	names := themes.Names("")
	if raced {
		names = names[:2]
	}
	for _, scene := range scenes {
		plainest := ""
		for _, theme := range names {
			// How the model draws depends on whether the theme can be had; the rest is done on the way to the terminal.
			for _, alike := range [][]colorprofile.Profile{profiles[:2], profiles[2:]} {
				s := newScreen(t, setup{w: 100, h: 30, fake: scene.fake, options: dressed(theme, alike[0])})
				scene.play(s)
				backgrounds := []color.Color{color.Black, color.White}
				if !s.m.looks.Adapts() {
					backgrounds = backgrounds[:1]
				}
				for _, background := range backgrounds {
					s.Send(tea.BackgroundColorMsg{Color: background})
					for _, p := range alike {
						checkColours(t, fmt.Sprintf("%s in %s, %s", scene.name, theme, p), asShown(t, s.m.View().Content, p), p)
					}
					if text := ansi.Strip(s.m.View().Content); plainest == "" {
						plainest = text
					} else if text != plainest {
						t.Fatalf("%s in %s says something else:\n%s\ninstead of\n%s", scene.name, theme, text, plainest)
					}
				}
			}
		}
	}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

func checkColours(t *testing.T, name, frame string, p colorprofile.Profile) {
	t.Helper()
	checkFrame(t, frame, 100, 30)
	for _, code := range sequences.FindAllString(frame, -1) {
		switch set := colours(code); {
		case p == colorprofile.ASCII && set != "":
			t.Fatalf("%s: %q", name, code)
		case p == colorprofile.ANSI && strings.Contains(set, "8"):
			t.Fatalf("%s: a colour of its own: %q", name, code)
		}
	}
}

// colours are the colours that a sequence sets, without attributes.
func colours(code string) string {
	var set []string
	for n := range strings.SplitSeq(strings.Trim(code, "\x1b[m"), ";") {
		if len(n) > 1 && n != "22" && n != "24" && n != "27" {
			set = append(set, n)
		}
	}
	return strings.Join(set, " ")
}

// every outcome and decision there is, by its sign
var everyState = []struct {
	sign  draw.Sign
	event events.Event
}{
	{draw.SignOK, events.StepCompleted{}},
	{draw.SignChanged, events.StepCompleted{Changed: true}},
	{draw.SignFailed, events.StepFailed{Error: "no"}},
	{draw.SignIgnored, events.StepFailed{Error: "no", Ignored: true}},
	{draw.SignRescued, events.StepFailed{Error: "no", Rescued: true}},
	{draw.SignSkipped, events.StepSkipped{Reason: events.SkipWhen}},
	{draw.SignKept, events.StepCompleted{Kept: true}},
	{draw.SignCancelled, events.StepCancelled{}},
	{draw.SignRunning, events.StepStarted{}},
	{draw.SignExcluded, events.StepSkipped{Reason: events.SkipTags}},
}

// Whatever the theme and the colours: each state has a glyph or a word of its own, and where there are colours, the three that
// matter most differ also in how they are drawn. In the cursor's row, too.
func TestStatesAreDistinct(t *testing.T) {
	for _, theme := range themes.Names("") {
		for _, p := range profiles {
			for _, ascii := range []bool{false, true} {
				s := newScreen(t, setup{w: 120, h: 40, ascii: ascii, options: dressed(theme, p)})
				for i, state := range everyState {
					s.f.Say(i, state.event)
				}
				s.frame()
				for _, light := range []bool{false, true} {
					s.Send(tea.BackgroundColorMsg{Color: map[bool]color.Color{true: color.White, false: color.Black}[light]})
					name := fmt.Sprintf("%s, %s, ascii %t, light %t", theme, p, ascii, light)
					checkStates(t, name, s, p)
				}
			}
		}
	}
}

func checkStates(t *testing.T, name string, s *screen, p colorprofile.Profile) {
	t.Helper()
	for _, cursor := range []bool{false, true} {
		says, drawn := map[string]draw.Sign{}, map[draw.Sign]string{}
		for i, state := range everyState {
			n := int(s.m.Tree.StepNode[i])
			s.m.Cur.Node = 0
			if cursor {
				s.m.Cur.Node = n
			}
			s.m.stale = true
			frame := asShown(t, s.m.View().Content, p)
			row := strings.Split(frame, "\n")[2+s.m.Rows.Row(n)-s.m.Cur.Top]
			text := []rune(ansi.Strip(row))
			glyph := string(text[3])
			_, words, _ := strings.Cut(string(text[:s.m.CurrentLayout().TreeW]), tree.StepTitle(&s.m.Plan.Steps[i]))
			look := glyph + " " + strings.TrimSpace(words)
			if other, taken := says[look]; taken {
				t.Errorf("%s: %s and %s both say %q", name, draw.SignLooks[other].Word, draw.SignLooks[state.sign].Word, look)
			}
			says[look] = state.sign
			at := strings.Index(row, glyph)
			drawn[state.sign] = row[strings.LastIndex(row[:at], "\x1b["):at]
		}
		if p == colorprofile.ASCII || s.m.looks.Theme() == "mono" {
			continue
		}
		for _, pair := range [][2]draw.Sign{{draw.SignOK, draw.SignChanged}, {draw.SignChanged, draw.SignFailed}, {draw.SignOK, draw.SignFailed}} {
			if drawn[pair[0]] == drawn[pair[1]] {
				t.Errorf("%s, cursor %t: %s and %s are drawn alike: %q", name, cursor, draw.SignLooks[pair[0]].Word, draw.SignLooks[pair[1]].Word, drawn[pair[0]])
			}
		}
	}
}

// Without colours, and with sixteen, structure is told by attributes.
func TestAttributesTellStructure(t *testing.T) {
	for _, theme := range themes.Names("") {
		for _, p := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ASCII} {
			s := newScreen(t, setup{w: 100, h: 30, options: dressed(theme, p), fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
			s.keys("A c")
			frame := asShown(t, s.m.View().Content, p)
			rows := strings.Split(frame, "\n")
			cursor := rows[2+s.m.Rows.Row(s.m.CursorNode())-s.m.Cur.Top]
			has := func(what, row, text, attribute string) {
				t.Helper()
				at := strings.Index(row, text)
				if at < 0 {
					t.Fatalf("%s, %s: no %q in %q", theme, p, text, row)
				}
				style := row[strings.LastIndex(row[:at], "\x1b["):at]
				if !strings.Contains(style+";", ";"+attribute+";") && !strings.Contains(style, ";"+attribute+"m") {
					t.Errorf("%s, %s: %s is drawn as %q", theme, p, what, style)
				}
			}
			has("the program's name", rows[0], "moon", "1")
			has("the tab", rows[1], "1 Step", "4")
			has("the cursor's row", cursor, "unpack go", "7")
			has("a failure", rows[0], "PAUSED", "1")
		}
	}
}

// TestColourScenes are screens with their colours. What is between ⟨⟩ is the style of what follows.
func TestColourScenes(t *testing.T) {
	styles := regexp.MustCompile(`(?:\x1b\[[0-9;:]*m)+`)
	for _, c := range []struct {
		theme string
		p     colorprofile.Profile
	}{{themes.Default, colorprofile.ANSI}, {"moonlight", colorprofile.TrueColor}} {
		for _, scene := range scenes {
			if scene.name != "review" && scene.name != "failure" && scene.name != "diff" && scene.name != "done" {
				continue
			}
			name := fmt.Sprintf("colours/%s-%s", scene.name, c.theme)
			t.Run(name, func(t *testing.T) {
				s := newScreen(t, setup{w: 80, h: 24, fake: scene.fake, options: dressed(c.theme, c.p)})
				scene.play(s)
				frame := asShown(t, s.m.View().Content, c.p)
				golden(t, name, styles.ReplaceAllStringFunc(frame, func(code string) string {
					last := code[strings.LastIndex(code, "\x1b[")+2 : len(code)-1]
					return "⟨" + strings.TrimPrefix(strings.TrimPrefix(last, "0"), ";") + "⟩"
				})+"\n")
			})
		}
	}
}

// Light and dark follow the terminal, as often as it says something else. Until it says anything the screen is dark.
func TestBackgroundIsFollowed(t *testing.T) {
	pair := func(o *Options) { o.Theme, o.LightTheme = "moonlight", "daylight" }
	for _, options := range []func(*Options){func(o *Options) { o.Theme = "blue-orange" }, pair} {
		s := newScreen(t, setup{w: 80, h: 24, options: options})
		dark := s.m.View().Content
		s.Send(tea.BackgroundColorMsg{Color: color.White})
		light := s.m.View().Content
		if light == dark || ansi.Strip(light) != ansi.Strip(dark) {
			t.Fatal("a light terminal changes nothing, or more than colours")
		}
		s.Send(tea.BackgroundColorMsg{Color: color.Black})
		if s.m.View().Content != dark {
			t.Error("it stays light in a dark terminal")
		}
	}
}

// backgroundAsks counts how often the terminal is asked for its background.
func backgroundAsks(s *screen) (n int) {
	want := fmt.Sprintf("%T", tea.RequestBackgroundColor())
	for _, msg := range s.cmds {
		if fmt.Sprintf("%T", msg) == want {
			n++
		}
	}
	return n
}

func TestBackgroundIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		theme string
		p     colorprofile.Profile
		asks  bool
	}{
		{"blue-orange", colorprofile.TrueColor, true},
		{"contrast", colorprofile.ANSI256, true},
		{"contrast", colorprofile.ANSI, false}, // it is the default there
		{"terminal", colorprofile.TrueColor, false},
		{"moonlight", colorprofile.TrueColor, false},
	} {
		var out strings.Builder
		s := newScreen(t, setup{w: 80, h: 24, options: func(o *Options) {
			dressed(c.theme, c.p)(o)
			o.Output = &out
		}})
		s.run(s.m.Init())
		for _, msg := range []tea.Msg{tea.FocusMsg{}, uv.DarkColorSchemeEvent{}, uv.LightColorSchemeEvent{}} {
			s.Send(msg)
		}
		if n := backgroundAsks(s); n != map[bool]int{true: 4}[c.asks] {
			t.Errorf("%s with %s asks %d times", c.theme, c.p, n)
		}
		s.m.looks.StopWatching()
		if got := out.String(); (got == ansi.ResetModeLightDark) != c.asks {
			t.Errorf("%s leaves the terminal with %q", c.theme, got)
		}
	}
}

func TestGlyphsOfThemes(t *testing.T) {
	with := func(pairs ...string) *themes.Theme {
		theme := &themes.Theme{Glyphs: map[string]themes.Glyph{}}
		for i := 0; i < len(pairs); i += 2 {
			theme.Glyphs[pairs[i]] = themes.Glyph{Text: pairs[i+1], Place: themes.Warning{File: "t.yaml", Line: i + 1}}
		}
		return theme
	}
	for _, c := range []struct {
		theme   *themes.Theme
		ascii   bool
		refused string // of the first
		changed string
		ok      string
	}{
		{with("changed", "Δ"), false, "", "Δ", "✓"},
		{with("changed", "Δ"), true, "", "~", "v"},
		{with("changed", "*"), true, `t.yaml:1: the glyph "*" of changed means running already`, "~", "v"},
		{with("ok", "✅"), false, `t.yaml:1: the glyph "✅" of ok is not one cell wide`, "~", "✓"},
		{with("ok", "ab"), false, `t.yaml:1: the glyph "ab" of ok`, "~", "✓"},
		{with("failed", "\x1b"), false, `t.yaml:1: the glyph "\x1b" of failed`, "~", "✓"},
		{with("okay", "o"), false, `t.yaml:1: no glyph is called "okay"; known are approved, cancelled`, "~", "✓"},
		{with("ok", "~", "changed", "✓"), false, "", "✓", "~"}, // exchanged
		{with("changed", "✓"), false, `t.yaml:1: the glyph "✓" of changed means ok already`, "~", "✓"},
		{with("failed", "x", "ignored", "x"), false, "", "~", "✓"},
	} {
		g := draw.UnicodeGlyphs
		if c.ascii {
			g = draw.AsciiGlyphs
		}
		refused := g.Adopt(c.theme)
		first := ""
		if len(refused) > 0 {
			first = refused[0].String()
		}
		if (c.refused == "") != (first == "") || !strings.HasPrefix(first, c.refused) {
			t.Errorf("%v: refused %q, want %q", c.theme.Glyphs, first, c.refused)
		}
		if g.Signs[draw.SignChanged] != c.changed || g.Signs[draw.SignOK] != c.ok {
			t.Errorf("%v: changed %q, ok %q", c.theme.Glyphs, g.Signs[draw.SignChanged], g.Signs[draw.SignOK])
		}
	}
}

// What is wrong with a theme is said once, with its place, and the screen is there all the same.
func TestMistakesAreSaidOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) *screen {
		if err := os.WriteFile(filepath.Join(dir, "sea.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Theme, o.ThemeDir = "sea", dir }})
	}
	s := write("light: { okay: red }\ndark: { accent: blue }\n")
	if strings.Count(s.m.Message, "okay") != 1 || !strings.Contains(s.m.Message, "sea.yaml:1: unknown role") || strings.Contains(s.m.Message, "more") {
		t.Errorf("one mistake: %q", s.m.Message)
	}
	s = write("roles: { okay: red, ok: nothing }\nglyphs: { ok: ✅ }\n")
	if !strings.Contains(s.m.Message, "(and 2 more; moon themes NAME lists them)") {
		t.Errorf("three mistakes: %q", s.m.Message)
	}
	s = newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Warnings = []string{"config.yaml:1: there is no setting"} }})
	s.has("config.yaml:1: there is no setting")
}
