package html

import (
	"html"
	"strconv"
	"strings"
)

// colours writes a line with the colours that a program gave it, as far as a page has them: eight, and bold. The rest of what a
// terminal can do is left to terminals.
func colours(line string) markup {
	if !strings.Contains(line, "\x1b[") {
		return markup(html.EscapeString(line))
	}
	var b strings.Builder
	colour, bold := -1, false
	for len(line) > 0 {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			writeColoured(&b, text, colour, bold)
		}
		if !found {
			break
		}
		codes, after, ended := strings.Cut(rest, "m")
		if !ended { // cleaned text has only whole sequences
			break
		}
		colour, bold = selectGraphic(codes, colour, bold)
		line = after
	}
	return markup(b.String())
}

// writeColoured writes a piece of a line.
func writeColoured(b *strings.Builder, text string, colour int, bold bool) {
	var classes []string
	if colour >= 0 {
		classes = append(classes, "c"+strconv.Itoa(colour))
	}
	if bold {
		classes = append(classes, "b")
	}
	if len(classes) == 0 {
		b.WriteString(html.EscapeString(text))
		return
	}
	b.WriteString(`<span class="` + strings.Join(classes, " ") + `">` + html.EscapeString(text) + `</span>`)
}

// selectGraphic is what colour and weight are after a sequence. Colours out of 256, or out of all, have numbers behind them that are not
// codes; they are shown without a colour.
func selectGraphic(codes string, colour int, bold bool) (int, bool) {
	list := strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		return -1, false
	}
	for i := 0; i < len(list); i++ {
		n, err := strconv.Atoi(list[i])
		if err != nil {
			continue
		}
		switch {
		case n == 0:
			colour, bold = -1, false
		case n == 1:
			bold = true
		case n == 22:
			bold = false
		case n == 38, n == 48:
			if i+1 < len(list) && list[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
			if n == 38 {
				colour = -1
			}
		case n == 39:
			colour = -1
		case n >= 30 && n <= 37:
			colour = n - 30
		case n >= 90 && n <= 97:
			colour = n - 90
		}
	}
	return colour, bold
}
