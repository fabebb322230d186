package tui

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/events/steplog"
	"moon/plan"
	"moon/tui/feed"
	"moon/tui/known"
	"moon/tui/looks"
	"moon/tui/pane"
	"moon/tui/tuitest"
	"moon/tui/view"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // the Events tab shows local times
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// screen is a model with an engine behind it, without a terminal: messages go in, frames come out.
type screen struct {
	t    testing.TB
	m    *model
	f    *tuitest.Engine
	dir  string
	cmds []tea.Msg // what commands gave that the model does not take
}

type setup struct {
	p       *plan.Plan
	w, h    int
	ascii   bool
	options func(*Options)
	fake    func(*tuitest.Engine)
}

func newScreen(tb testing.TB, s setup) *screen {
	tb.Helper()
	if s.p == nil {
		s.p = devbox()
	}
	profile := colorprofile.TrueColor
	sc := &screen{t: tb, f: tuitest.NewEngine(s.p), dir: tb.TempDir()}
	o := Options{
		Plan: s.p, Send: sc.f.Take, Glyphs: "unicode", Profile: &profile, Now: func() time.Time { return sc.f.Clock },
		OutDir: func() string { return sc.dir }, Editor: func(string, int) tea.ExecCommand { return nil },
		Shell: func(*plan.Plan, int) (tea.ExecCommand, error) { return &editor{}, nil },
	}
	if s.ascii {
		o.Glyphs = "ascii"
	}
	if s.options != nil {
		s.options(&o)
	}
	sc.m = newModel(o, func(string) string { return "" })
	sc.m.Excerpt = excerptOf
	sc.m.later = func() tea.Cmd { return nil } // tests move the clock themselves
	sc.f.Emit = func(batch []events.Record) {
		for i := range batch {
			sc.m.Store.Apply(&batch[i])
		}
	}
	sc.f.Dir = sc.dir
	sc.f.Print = func(f *tuitest.Engine, i, attempt int) string { return printSome(tb, sc.dir, f, i, attempt) }
	if s.fake != nil {
		s.fake(sc.f)
	}
	sc.f.Begin()
	sc.Send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
	sc.frame()
	return sc
}

// printSome writes the output of an attempt.
func printSome(tb testing.TB, dir string, f *tuitest.Engine, i, attempt int) string {
	tb.Helper()
	p := &f.P.Steps[i]
	if p.Action != "shell" && p.Action != "package" {
		return ""
	}
	prefix := p.ID() + "." + string(rune('0'+attempt))
	w := steplog.NewWriter(dir, prefix, nil)
	defer w.Close()
	var err error
	switch p.Name {
	case "unpack go":
		if _, err = w.Stdout().Write([]byte("go/\ngo/VERSION\n\x1b[32mgo/bin/go\x1b[0m\n")); err != nil {
			break
		}
		_, err = w.Stderr().Write([]byte("tar: /usr/local: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n"))
	default:
		_, err = w.Stdout().Write([]byte("doing " + p.Name + "\n" +
			strings.Repeat("a line of output that is quite long, so it may have to be cut somewhere near its end\n", 3) + "done\n"))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return prefix
}

// send gives the model a message, and runs what commands it returns until there are none.
func (s *screen) Send(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.m.Update(msg)
	_ = s.m.View() // as Bubble Tea does
	s.run(cmd)
}

func (s *screen) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	case feed.Fetched, known.Answer, pane.Found, view.Copied, clipped, edited, reloaded, sheetNews, shellFound, shellLeft, view.Came,
		*looks.Found, filesChanged, filesExamined:
		s.Send(msg)
	case nil:
	default:
		s.cmds = append(s.cmds, msg)
	}
}

// frame lets the model see what the engine did.
func (s *screen) frame() { s.Send(frameMsg{}) }

// keys presses keys, named as in the key table and separated by blanks; the engine settles after each.
func (s *screen) keys(keys string) {
	s.t.Helper()
	for key := range strings.FieldsSeq(keys) {
		s.press(key)
		s.f.Settle()
		s.frame()
	}
}

var keyCodes = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: ' ', Text: " "},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"backspace": {Code: tea.KeyBackspace}, "f1": {Code: tea.KeyF1}, "f5": {Code: tea.KeyF5}, "f9": {Code: tea.KeyF9},
	"f10": {Code: tea.KeyF10},
	"f11": {Code: tea.KeyF11}, "shift+f11": {Code: tea.KeyF11, Mod: tea.ModShift},
}

// press presses a key after the screen has seen the answer to the last one. See typeKey for keys that come faster.
func (s *screen) press(key string) {
	s.t.Helper()
	if s.m.Shot.Awaits {
		s.frame()
	}
	s.typeKey(key)
}

// typeKey presses a key at once.
func (s *screen) typeKey(key string) {
	s.t.Helper()
	k, ok := keyCodes[key]
	switch name, ctrl := strings.CutPrefix(key, "ctrl+"); {
	case ok:
	case ctrl:
		k = tea.Key{Code: rune(name[0]), Mod: tea.ModCtrl}
	default:
		r := []rune(key)
		k = tea.Key{Code: r[0], Text: key}
	}
	if got := k.String(); got != key {
		s.t.Fatalf("key %q is called %q", key, got)
	}
	s.Send(tea.KeyPressMsg(k))
}

// text types a text.
func (s *screen) text(text string) {
	for _, r := range text {
		s.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// shows is the screen as text. The cursor's row begins with ▎, and the tab that is shown stands in ‹›.
func (s *screen) shows() string { return plainFrame(s.m.View().Content) }

func plainFrame(frame string) string {
	var out strings.Builder
	for row := range strings.SplitSeq(frame, "\n") {
		text := ansi.Strip(markTab(row))
		if i := strings.Index(row, "\x1b["); i == 0 && strings.Contains(row[:strings.IndexByte(row, 'm')], "7") &&
			strings.HasPrefix(text, " ") {
			text = "▎" + text[1:]
		}
		out.WriteString(strings.TrimRight(text, " "))
		out.WriteByte('\n')
	}
	return out.String()
}

var underlined = regexp.MustCompile(` (\x1b\[[0-9;]*;4[;m][0-9;m]*)([^\x1b]*)(\x1b\[[0-9;]*m) `)

// markTab puts what is underlined between two blanks into ‹›.
func markTab(row string) string { return underlined.ReplaceAllString(row, "‹$1$2$3›") }

// has fails the test unless all the texts are on the screen.
func (s *screen) has(texts ...string) {
	s.t.Helper()
	screen := s.shows()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Errorf("not on the screen: %q\n%s", text, screen)
		}
	}
}

func (s *screen) hasNot(texts ...string) {
	s.t.Helper()
	screen := s.shows()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Errorf("on the screen: %q\n%s", text, screen)
		}
	}
}

// on puts the cursor on a node by its title.
func (s *screen) on(title string) {
	s.t.Helper()
	for n := range s.m.Tree.Len() {
		if s.m.Tree.Title(n) == title {
			s.m.Rows.Reveal(n)
			s.m.Cur.Node = n
			s.m.Following = false
			s.Send(frameMsg{})
			return
		}
	}
	s.t.Fatalf("no node %q", title)
}

// golden compares with a file in testdata; UPDATE=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (UPDATE=1 writes it):\n--- got\n%s--- want\n%s", file, got, want)
	}
}
