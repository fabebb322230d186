package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// shotOf is the screen after a text.
func shotOf(t *testing.T, text string) shot {
	t.Helper()
	p := player{w: 20, h: 3, vt: vt.NewEmulator(20, 3)}
	if _, err := p.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p.shot()
}

func TestPage(t *testing.T) {
	a := shotOf(t, "a <b> & \"c\"\r\n\x1b[1;31mred\x1b[m \x1b[7mback\x1b[m\r\n├─◆ 日本 ▌█")
	b := shotOf(t, "another\r\n\x1b[1;31mred\x1b[m \x1b[7mback\x1b[m")
	text := newDrawing().page([]frame{{a, time.Second}, {b, 3 * time.Second}}, "a & b")
	var words []string
	uses := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err, text)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case ok && start.Name.Local == "text":
			var word string
			if err := d.DecodeElement(&word, &start); err != nil {
				t.Fatal(err)
			}
			words = append(words, word)
		case ok && start.Name.Local == "use":
			uses++
		}
	}
	got := strings.Join(words, "|")
	for _, want := range []string{`a <b> & "c"`, "red", "back", "◆", "日|本", "another"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.ContainsAny(got, "├─█▌") || strings.Count(got, "red") != 1 || uses != 5 {
		t.Errorf("drawn %q, %d rows", got, uses)
	}
	for _, want := range []string{"25.000%{transform:translateY(-82px)}", "film 4.0s"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if still := newDrawing().page([]frame{{a, 0}}, "a"); strings.Contains(still, "@keyframes") {
		t.Error("a still moves")
	}
}

// A recording shows the same screens again.
func TestCast(t *testing.T) {
	frames := []frame{{shotOf(t, "one\r\n\x1b[32mgreen 日本\x1b[m"), time.Second}, {shotOf(t, "two\r\n\x1b[32mgreen 日本\x1b[m"), time.Second}}
	lines := strings.Split(strings.TrimSpace(cast(frames)), "\n")
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal([]byte(lines[0]), &header); err != nil || header.Version != 2 || header.Width != 20 || header.Height != 3 {
		t.Errorf("%+v %v", header, err)
	}
	all := ""
	for i, line := range lines[1:] {
		var at float64
		var kind, out string
		if err := json.Unmarshal([]byte(line), &[]any{&at, &kind, &out}); err != nil || kind != "o" || at != float64(i) {
			t.Errorf("line %d: %q %v %v", i, kind, at, err)
		}
		if all += out; i < len(frames) && !equal(shotOf(t, all), frames[i].shot) {
			t.Errorf("frame %d differs: %q", i, all)
		}
	}
	name := filepath.Join(t.TempDir(), "x.cast")
	if err := os.WriteFile(name, []byte(`{"version":2}`+"\n"+`[0, "o", "hello"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	if err := show(&shown, name); err != nil || !strings.Contains(shown.String(), "hello") || !strings.HasSuffix(shown.String(), "\x1b[?1049l") {
		t.Errorf("%q %v", shown.String(), err)
	}
}

func TestBreaks(t *testing.T) {
	p := &player{w: 80, h: 24}
	for _, line := range []string{"wait REVIEW", "press j", "still x", "dance now", "size wide", "run"} {
		word, rest, _ := strings.Cut(line, " ")
		if p.do(word, rest) == nil {
			t.Errorf("%q was taken", line)
		}
	}
	for name, want := range map[string]string{"a": "a", "enter": "\r", "ctrl+c": "\x03", "]": "]"} {
		if got, err := keyOf(name); got != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if _, err := keyOf("hyper"); err == nil {
		t.Error("hyper is a key")
	}
}
