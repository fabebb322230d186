package themes

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// fixed are the built-in themes with colours of their own, each for the backgrounds it is made for.
func fixed(t *testing.T) (all []*Theme) {
	t.Helper()
	for _, name := range Names("") {
		for _, dark := range []bool{true, false} {
			theme, warnings := Load(name, "", dark)
			if len(warnings) > 0 {
				t.Fatalf("%s: %v", name, warnings)
			}
			if !theme.Fixed() || !theme.Adaptive && !dark {
				continue
			}
			if theme.Adaptive {
				theme.Name = fmt.Sprintf("%s (dark %t)", name, dark)
			}
			all = append(all, theme)
		}
	}
	if len(all) != 8 {
		t.Fatalf("%d themes", len(all))
	}
	return all
}

func TestContrast(t *testing.T) {
	for _, theme := range fixed(t) {
		for role := range Roles {
			s := theme.Style(role)
			if s.Fg == nil || theme.Background == nil {
				t.Errorf("%s: %s has no colour", theme.Name, role)
				continue
			}
			need := Need(role, s)
			if need > 0 && theme.Name[:4] == "cont" {
				need = 7
			}
			back := theme.Background
			if s.Bg != nil {
				back = s.Bg
			}
			if got := Contrast(s.Fg, back); got < need {
				t.Errorf("%s: %s has contrast %.2f, needs %.1f", theme.Name, role, got, need)
			}
			// With 256 colours the nearest ones are shown. Nothing may become hard to see by that.
			p := colorprofile.ANSI256
			if got := Contrast(p.Convert(s.Fg), p.Convert(back)); got < need-0.6 {
				t.Errorf("%s: %s has contrast %.2f with 256 colours, needs %.1f", theme.Name, role, got, need)
			}
		}
	}
}

// A theme for a dark background is dark, and text in it light.
func TestBackgrounds(t *testing.T) {
	for name, dark := range map[string]bool{"moonlight": true, "daylight": false, "catppuccin-mocha": true, "catppuccin-latte": false} {
		theme, _ := Load(name, "", true)
		if (lightness(theme.Background) < 50) != dark || (lightness(theme.Style(Text).Fg) < 50) == dark {
			t.Errorf("%s: background %v, text %v", name, theme.Background, theme.Style(Text).Fg)
		}
	}
	for _, name := range []string{"blue-orange", "contrast"} {
		for _, dark := range []bool{true, false} {
			theme, _ := Load(name, "", dark)
			if (lightness(theme.Background) < 50) != dark || !theme.Adaptive {
				t.Errorf("%s: background %v, asked for dark %t", name, theme.Background, dark)
			}
		}
	}
}

// What red-green weakness makes of colours, in linear light, after Machado, Oliveira and Fernandes (2009) at full strength.
var weaknesses = map[string][3][3]float64{
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
}

func TestBlueOrange(t *testing.T) {
	states := []Role{OK, Changed, Failed}
	for _, dark := range []bool{true, false} {
		theme, _ := Load("blue-orange", "", dark)
		for i, a := range states {
			for _, b := range states[i+1:] {
				x, y := theme.Style(a).Fg, theme.Style(b).Fg
				if d := math.Abs(lightness(x) - lightness(y)); d < 15 {
					t.Errorf("dark %t: %s and %s differ by %.1f in lightness", dark, a, b, d)
				}
				for name, weak := range weaknesses {
					if d := distance(seen(weak, x), seen(weak, y)); d < 25 {
						t.Errorf("dark %t: %s and %s differ by %.1f with %s", dark, a, b, d, name)
					}
				}
			}
		}
		// What is well and what is not differ in hue also then: blue on one side, yellow on the other.
		for name, weak := range weaknesses {
			good, bad := seen(weak, theme.Style(OK).Fg), seen(weak, theme.Style(Failed).Fg)
			if good[2] > -10 || bad[2] < 10 {
				t.Errorf("dark %t, %s: ok is %.0f, failed %.0f between blue and yellow", dark, name, good[2], bad[2])
			}
		}
	}
	// The measure finds what it is for: the green and the red of this theme are nearly one.
	theme, _ := Load("moonlight", "", true)
	weak := weaknesses["deuteranopia"]
	apart := distance(lab(linear(theme.Style(OK).Fg)), lab(linear(theme.Style(Failed).Fg)))
	if d := distance(seen(weak, theme.Style(OK).Fg), seen(weak, theme.Style(Failed).Fg)); d > apart/2 {
		t.Errorf("moonlight's ok and failed differ by %.1f, with deuteranopia by %.1f", apart, d)
	}
}

// seen is a colour in Lab as somebody with a weakness sees it.
func seen(weak [3][3]float64, c color.Color) [3]float64 {
	r, g, b := linear(c)
	var out [3]float64
	for i, row := range weak {
		out[i] = min(max(row[0]*r+row[1]*g+row[2]*b, 0), 1)
	}
	return lab(out[0], out[1], out[2])
}

// lab is CIE Lab with the white of sRGB, D65.
func lab(r, g, b float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func lightness(c color.Color) float64 { return lab(linear(c))[0] }

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// Known pairs, so that the formulas themselves are tested.
func TestFormulas(t *testing.T) {
	white, black, grey := color.White, color.Black, color.RGBA{0x76, 0x76, 0x76, 0xff}
	if got := Contrast(white, black); math.Abs(got-21) > 0.001 {
		t.Errorf("black on white: %f", got)
	}
	if got := Contrast(grey, white); math.Abs(got-4.54) > 0.01 {
		t.Errorf("#767676 on white: %f", got)
	}
	if got := lightness(color.RGBA{0xff, 0, 0, 0xff}); math.Abs(got-53.24) > 0.01 {
		t.Errorf("lightness of red: %f", got)
	}
}

// mono has no colour at all, and tells the states a person must act on from the others without one.
func TestMono(t *testing.T) {
	theme, warnings := Load("mono", "", true)
	if len(warnings) > 0 || theme.Fixed() || theme.Adaptive {
		t.Fatalf("%+v, %v", theme, warnings)
	}
	for role := range Roles {
		if s := theme.Style(role); s.Fg != nil || s.Bg != nil {
			t.Errorf("%s has a colour", role)
		}
	}
	for _, pair := range [][2]Role{{OK, Failed}, {OK, Changed}, {Changed, Failed}, {Text, Dim}, {Text, Cursor}, {Text, Match}, {DiffAdd, DiffDel}, {Text, Danger}} {
		if theme.Style(pair[0]) == theme.Style(pair[1]) {
			t.Errorf("%s and %s look alike", pair[0], pair[1])
		}
	}
}
