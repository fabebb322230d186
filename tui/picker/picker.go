package picker

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/looks"
)

// Item is one line: texts of any origin, and the ink of its last words.
type Item struct {
	Section string // what is said above the first of them
	Name    string
	About   string
	Words   string
	Ink     draw.Ink
	Verb    string // what taking it does: review, resume
}

// Run shows the items and gives the number of the one that was taken; -1 if none was.
func Run(ctx context.Context, o looks.Options, env func(string) string, title string, items []Item, more ...tea.ProgramOption) (int, error) {
	l, _ := looks.New(o, env) // what is wrong with the theme is said by the TUI that follows
	p := &program{Picker: New(title, items), pen: l.Pen, glyphs: l.Glyphs, profile: l.Profile}
	run := tea.NewProgram(p, append([]tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithColorProfile(p.profile)}, more...)...)
	// Not by the context of the program: cancelled that way it would not wait for its reader of the keyboard.
	undo := context.AfterFunc(ctx, run.Quit)
	_, err := run.Run()
	undo()
	if ctx.Err() != nil {
		return -1, ctx.Err()
	}
	return p.Taken, err
}

type program struct {
	*Picker
	pen           *draw.Pen
	glyphs        *draw.Glyphs
	profile       colorprofile.Profile
	width, height int
}

// Init asks for nothing.
func (p *program) Init() tea.Cmd { return nil }

// Update takes a key or a size.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case tea.PasteMsg:
		p.Type(msg.Content)
	case tea.KeyPressMsg:
		if p.Press(msg.String(), msg.Text, p.rows(p.height)) {
			return p, tea.Quit
		}
	}
	return p, nil
}

// View draws the list.
func (p *program) View() tea.View {
	return tea.View{Content: p.Draw(p.pen, p.glyphs, p.width, p.height), AltScreen: true}
}

// Picker is the list, what was typed, and where the cursor is.
type Picker struct {
	Taken int // -1 until one is

	title  string
	items  []Item
	query  string
	shown  []int // items that match, in their order
	cursor int   // in shown
	top    int
}

// New is a list from which nothing was taken.
func New(title string, items []Item) *Picker {
	p := &Picker{Taken: -1, title: title, items: items}
	for i := range p.items { // what comes from files may be anything
		it := &p.items[i]
		it.Name, it.About, it.Words = draw.Plain(it.Name), draw.Plain(it.About), draw.Plain(it.Words)
	}
	p.narrow()
	return p
}

// narrow finds the items that have each word that was typed.
func (p *Picker) narrow() {
	p.shown, p.cursor, p.top = nil, 0, 0
	words := strings.Fields(strings.ToLower(p.query))
items:
	for i, it := range p.items {
		text := strings.ToLower(it.Name + " " + it.About + " " + it.Words + " " + it.Section)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue items
			}
		}
		p.shown = append(p.shown, i)
	}
}

// Type adds to what was typed.
func (p *Picker) Type(text string) {
	p.query += draw.OneLine(draw.Plain(text))
	p.narrow()
}

// rows are the lines that a frame of a height has for the list.
func (p *Picker) rows(height int) int { return max(height-4, 1) }

// Press takes a key, by its name and the text that it types. end says that the list is done with.
func (p *Picker) Press(key, text string, page int) (end bool) {
	last := max(len(p.shown)-1, 0)
	// Letters are typed, so that no key but these can have another meaning.
	switch key {
	case "enter":
		if len(p.shown) == 0 {
			return false
		}
		p.Taken = p.shown[p.cursor]
		return true
	case "ctrl+c", "ctrl+d":
		return true
	case "esc":
		if p.query == "" {
			return true
		}
		p.query = ""
		p.narrow()
	case "up", "ctrl+p", "ctrl+k":
		p.cursor = max(p.cursor-1, 0)
	case "down", "ctrl+n", "ctrl+j", "tab":
		p.cursor = min(p.cursor+1, last)
	case "pgup":
		p.cursor = max(p.cursor-page, 0)
	case "pgdown":
		p.cursor = min(p.cursor+page, last)
	case "home":
		p.cursor = 0
	case "end":
		p.cursor = last
	case "backspace":
		if r := []rune(p.query); len(r) > 0 {
			p.query = string(r[:len(r)-1])
			p.narrow()
		}
	case "ctrl+u":
		p.query = ""
		p.narrow()
	default:
		if text != "" {
			p.Type(text)
		}
	}
	return false
}

// line is a row of the list: an item, or what is said above some.
type line struct {
	section string
	item    int // -1: it is a section
}

// lines are those of all items that match, and in which of them the cursor is.
func (p *Picker) lines() (all []line, at int) {
	section := ""
	for n, i := range p.shown {
		if s := p.items[i].Section; s != section {
			if section = s; len(all) > 0 {
				all = append(all, line{"", -1})
			}
			all = append(all, line{s, -1})
		}
		if n == p.cursor {
			at = len(all)
		}
		all = append(all, line{"", i})
	}
	return all, at
}

// Draw draws a frame of so many cells and rows.
func (p *Picker) Draw(pen *draw.Pen, g *draw.Glyphs, width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	b := &draw.Brush{Pen: pen}
	row := func(mode int, f func()) {
		b.Begin(width, mode)
		f()
		b.End()
		b.Newline()
	}
	rows := 0
	put := func(mode int, f func()) {
		if rows++; rows <= height {
			row(mode, f)
		}
	}
	put(draw.OnRow, func() {
		b.Put(draw.InkTitle, " "+draw.CutRight(p.title, max(width-2, 0), g.Dots))
	})
	put(draw.OnRow, func() {
		b.Put(draw.InkKey, " > ")
		if p.query == "" {
			b.Put(themes.Dim, "type to search")
		} else {
			b.Put(themes.Text, draw.CutLeft(p.query, max(width-5, 1), g.Dots))
			b.Put(themes.Cursor, " ")
		}
	})
	put(draw.OnRow, func() { b.Rule(g, width) })
	all, at := p.lines()
	high := p.rows(height)
	p.top = draw.WindowStart(p.top, at, high, len(all))
	if at == 1 && p.top == 1 {
		p.top = 0 // what is said above the first item
	}
	for n := range high {
		switch i := p.top + n; {
		case i >= len(all) && n == 0:
			put(draw.OnRow, func() { b.Put(themes.Dim, "  nothing matches; esc clears the search") })
		case i >= len(all):
			put(draw.OnRow, func() {})
		case all[i].item < 0:
			put(draw.OnRow, func() { b.Put(themes.Accent, " "+all[i].section) })
		default:
			mode := draw.OnRow
			if i == at {
				mode = draw.OnCursor
			}
			put(mode, func() { p.drawItem(b, g, width, &p.items[all[i].item]) })
		}
	}
	put(draw.OnRow, func() { p.drawKeys(b, g) })
	return strings.TrimSuffix(string(b.Buf), "\n")
}

// drawItem draws the name, what it says of itself as far as there is room, and its words at the right.
func (p *Picker) drawItem(b *draw.Brush, g *draw.Glyphs, width int, it *Item) {
	widest := 0
	for _, i := range p.shown {
		widest = max(widest, draw.Cells(p.items[i].Name))
	}
	names := min(widest, max(width/3, 16))
	words := it.Words
	if draw.Cells(words)+names+6 > width {
		words = "" // in a narrow terminal the name is what matters
	}
	b.Put(themes.Text, "   "+draw.CutMiddle(it.Name, max(min(names, width-4), 1), g.Dots))
	b.At(names + 5)
	b.Keep(draw.Cells(words)+2, func() {
		b.Put(themes.Dim, draw.CutRight(it.About, b.Left, g.Dots))
	})
	if words != "" {
		b.At(width - draw.Cells(words) - 1)
		b.Put(it.Ink, words)
	}
}

func (p *Picker) drawKeys(b *draw.Brush, g *draw.Glyphs) {
	verb := "choose"
	if len(p.shown) > 0 {
		verb = p.items[p.shown[p.cursor]].Verb
	}
	esc := "leave"
	if p.query != "" {
		esc = "clear"
	}
	arrows := "↑↓"
	if draw.IsASCII(g.Dots) {
		arrows = "up/down"
	}
	for i, k := range [][2]string{{"enter", verb}, {arrows, "move"}, {"esc", esc}, {"", fmt.Sprintf("%d of %d", len(p.shown), len(p.items))}} {
		if i > 0 {
			b.Put(themes.Text, "   ")
		}
		b.Put(draw.InkKey, " "+k[0])
		b.Put(themes.Text, strings.TrimRight(" "+k[1], " "))
	}
}
