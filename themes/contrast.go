package themes

import (
	"image/color"
	"math"
)

// Least contrasts between a text and what is behind it, after WCAG 2: bold text is read at less.
const (
	NeedText = 4.5
	NeedBold = 3.0
)

// Luminance is the relative luminance of WCAG 2, from 0 to 1.
func Luminance(c color.Color) float64 {
	r, g, b := linear(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// linear is a colour in linear light.
func linear(c color.Color) (r, g, b float64) {
	// Go multiplies by alpha; colours of a terminal are opaque, so these are the plain values.
	x, y, z, _ := c.RGBA()
	undo := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return undo(x), undo(y), undo(z)
}

// Contrast is the ratio of WCAG 2 between two colours: 1 is none, 21 black on white.
func Contrast(a, b color.Color) float64 {
	x, y := Luminance(a), Luminance(b)
	// The addition of WCAG 2 stands for light that falls on the screen.
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Need is the least contrast of a style in a role; 0 where nothing has to be read, as of borders.
func Need(r Role, s Style) float64 {
	switch {
	case r == Border || r == BarRest:
		return 0
	case s.Bold:
		return NeedBold
	}
	return NeedText
}
