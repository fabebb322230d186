package main

import (
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// A cell of the pictures, in pixels. A monospaced letter is 0.6 of its size wide, in nearly every font.
const (
	cellW, cellH = 8.4, 18.0
	baseline     = 13.5
	air          = 14.0 // around the screen
	overlap      = 0.4  // of what stands side by side, or a line shows between them
)

// The colours of what has none of its own: those of the theme moonlight.
var (
	chalk = color.RGBA{0xd7, 0xdc, 0xe8, 0xff}
	night = color.RGBA{0x17, 0x1c, 0x28, 0xff}
)

// ansiColours are the sixteen that a terminal names, in hues that go with moonlight.
var ansiColours = [16]string{
	"#2a3142", "#ff8a8f", "#84d6a2", "#e9c46a", "#7cc4f8", "#c3a6ff", "#79d0d4", "#d7dce8",
	"#8a95ad", "#ffa5a9", "#9fe3b8", "#f2d58a", "#9ed4fb", "#d4c0ff", "#98dee1", "#f2f4f9",
}

// drawing makes pictures (SVG) of shots. Rows and looks that occur more than once are written once.
type drawing struct {
	rows  map[string]int // the text of a row → its number
	defs  strings.Builder
	looks map[string]string // a look → the name of its class
	style strings.Builder
}

func newDrawing() *drawing { return &drawing{rows: map[string]int{}, looks: map[string]string{}} }

// row is the number of a row that is drawn among the definitions.
func (d *drawing) row(cells []uv.Cell) int {
	text := d.draw(cells)
	n, ok := d.rows[text]
	if !ok {
		n = len(d.rows)
		d.rows[text] = n
		fmt.Fprintf(&d.defs, "<g id=\"r%d\">%s</g>\n", n, text)
	}
	return n
}

// draw draws a row: what is behind it, then lines and blocks as shapes, because fonts leave gaps between them, then text.
func (d *drawing) draw(cells []uv.Cell) string {
	var behind, shapes, letters strings.Builder
	for x := 0; x < len(cells); {
		end := x + 1
		for end < len(cells) && cells[end].Style.Equal(&cells[x].Style) {
			end++
		}
		fg, bg := coloursOf(&cells[x].Style)
		if bg != hex(night) {
			fmt.Fprintf(&behind, `<path fill="%s" d="M%s 0h%.4gv%gH%sz"/>`, bg, px(x), float64(end-x)*cellW+overlap, cellH, px(x))
		}
		d.stretch(&shapes, &letters, cells[x:end], x, fg)
		x = end
	}
	return behind.String() + shapes.String() + letters.String()
}

// stretch draws cells of one look. Words keep to the grid whatever the font; signs stand in the middle of their cells.
func (d *drawing) stretch(shapes, letters *strings.Builder, cells []uv.Cell, at int, fg string) {
	class := d.class(&cells[0].Style, fg)
	for x := 0; x < len(cells); {
		c := &cells[x]
		wide := max(c.Width, 1)
		if shape := shapeOf(c.Content, px(at+x)); shape != "" {
			faint := ""
			if c.Style.Attrs&uv.AttrFaint != 0 {
				faint = ` opacity=".6"`
			}
			fmt.Fprintf(shapes, shape, fg, faint)
			x++
			continue
		}
		if c.Content == "" || c.Content == " " && c.Style.Underline == 0 {
			x += wide
			continue
		}
		if !ascii(c.Content) {
			fmt.Fprintf(letters, `<text class="%s m" x="%s" y="%g">%s</text>`, class, half(at+x, wide), baseline,
				html.EscapeString(c.Content))
			x += wide
			continue
		}
		end := x
		var text strings.Builder
		for end < len(cells) && ascii(cells[end].Content) &&
			(cells[end].Content != " " || end+1 < len(cells) && cells[end+1].Content != " ") {
			text.WriteString(cells[end].Content)
			end++
		}
		if end == x { // a blank before a blank, underlined
			text.WriteString(" ")
			end++
		}
		fmt.Fprintf(letters, `<text class="%s" x="%s" y="%g" textLength="%s">%s</text>`, class, px(at+x), baseline, px(end-x),
			html.EscapeString(text.String()))
		x = end
	}
}

func ascii(s string) bool { return len(s) == 1 && s[0] >= ' ' && s[0] <= '~' }

func px(n int) string { return fmt.Sprintf("%.4g", float64(n)*cellW) }

func half(n, wide int) string { return fmt.Sprintf("%.4g", (float64(n)+float64(wide)/2)*cellW) }

// class is the name of a look.
func (d *drawing) class(s *uv.Style, fg string) string {
	look := "fill:" + fg
	if s.Attrs&uv.AttrBold != 0 {
		look += ";font-weight:700"
	}
	if s.Attrs&uv.AttrFaint != 0 {
		look += ";opacity:.6"
	}
	if s.Attrs&uv.AttrItalic != 0 {
		look += ";font-style:italic"
	}
	if s.Underline != 0 {
		look += ";text-decoration:underline"
	}
	name, ok := d.looks[look]
	if !ok {
		name = fmt.Sprintf("c%d", len(d.looks))
		d.looks[look] = name
		fmt.Fprintf(&d.style, ".%s{%s}", name, look)
	}
	return name
}

func coloursOf(s *uv.Style) (fg, bg string) {
	fg, bg = hex(chalk), hex(night)
	if s.Fg != nil {
		fg = hex(s.Fg)
	}
	if s.Bg != nil {
		bg = hex(s.Bg)
	}
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	return fg, bg
}

func hex(c color.Color) string {
	if named, ok := c.(ansi.BasicColor); ok {
		return ansiColours[named&15]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// arms are the lines of a box character: up, right, down, left.
var arms = map[string]string{
	"─": "rl", "│": "ud", "├": "urd", "┤": "uld", "┬": "rdl", "┴": "url", "┼": "urdl", "┌": "rd", "┐": "dl", "└": "ur", "┘": "ul",
}

// blocks are the left parts of a cell, in eighths.
var blocks = map[string]float64{"▏": 1, "▎": 2, "▍": 3, "▌": 4, "▋": 5, "▊": 6, "▉": 7, "█": 8}

// shapeOf is a character that is drawn and not written, as a format for its colour and what makes it faint.
func shapeOf(content, x string) string {
	if eighths, ok := blocks[content]; ok {
		w := eighths * cellW / 8
		if eighths == 8 {
			w += overlap
		}
		return fmt.Sprintf(`<path fill="%%s"%%s d="M%s 0h%.4gv%gH%s"/>`, x, w, cellH, x)
	}
	lines, ok := arms[content]
	if !ok {
		return ""
	}
	var path strings.Builder
	for _, way := range lines {
		fmt.Fprintf(&path, "M%.4g %g", cellW/2, cellH/2)
		switch way {
		case 'u':
			path.WriteString("V0")
		case 'd':
			fmt.Fprintf(&path, "V%g", cellH)
		case 'l':
			path.WriteString("H0")
		case 'r':
			fmt.Fprintf(&path, "H%g", cellW)
		}
	}
	return fmt.Sprintf(`<path stroke="%%s"%%s transform="translate(%s)" d="%s"/>`, x, path.String())
}

// fonts are those that systems have, the best first.
const fonts = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// page is a whole picture of some shots. More than one move.
func (d *drawing) page(frames []frame, title string) string {
	var screens strings.Builder
	h := float64(len(frames[0].shot))*cellH + 2*air
	w := float64(len(frames[0].shot[0]))*cellW + 2*air
	var total, passed time.Duration
	for _, f := range frames {
		total += f.lasts
	}
	var moves strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&screens, `<g transform="translate(0 %g)">`, float64(i)*h)
		for y, cells := range f.shot {
			if n := d.row(cells); d.visible(n) {
				fmt.Fprintf(&screens, `<use href="#r%d" y="%g"/>`, n, float64(y)*cellH)
			}
		}
		screens.WriteString("</g>\n")
		if total > 0 {
			fmt.Fprintf(&moves, "%.3f%%{transform:translateY(-%gpx)}", 100*passed.Seconds()/total.Seconds(), float64(i)*h)
		}
		passed += f.lasts
	}
	film := ""
	if len(frames) > 1 {
		film = fmt.Sprintf("@keyframes film{%s}.film{animation:film %.1fs step-end infinite}@media (prefers-reduced-motion){.film{animation:none}}", moves.String(), total.Seconds())
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-label="%[3]s">
<title>%[3]s</title>
<style>text{font:14px %[4]s;white-space:pre}.m{text-anchor:middle}%[5]s%[6]s</style>
<rect width="100%%" height="100%%" rx="8" fill="%[7]s"/>
<defs>
%[8]s</defs>
<svg x="%[9]g" y="%[9]g" width="%[10]g" height="%[11]g"><g class="film">
%[12]s</g></svg>
</svg>
`, w, h, html.EscapeString(title), fonts, d.style.String(), film, hex(night), d.defs.String(), air, w-2*air, h-2*air, screens.String())
}

// visible reports whether there is anything in a row.
func (d *drawing) visible(n int) bool {
	blank, ok := d.rows[""]
	return !ok || blank != n
}

// write writes all pictures and the recording into a directory.
func (p *player) write(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{
		name + ".svg":  newDrawing().page(p.reel, "moon: a run from review to report"),
		name + ".cast": cast(p.reel),
	}
	for _, s := range p.stills {
		files[s.name+".svg"] = newDrawing().page([]frame{{s.shot, 0}}, "moon: "+s.name)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %d KB\n", filepath.Join(dir, name), (len(text)+1023)/1024)
	}
	return nil
}
