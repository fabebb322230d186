package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// cast is a recording in the format of an asciinema cast, version 2: a header and a line for each change of the screen.
func cast(frames []frame) string {
	var out strings.Builder
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // strings and numbers
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	line(map[string]any{
		"version": 2, "width": len(frames[0].shot[0]), "height": len(frames[0].shot), "title": "moon",
		"env": map[string]string{"TERM": "xterm-256color"},
	})
	var at time.Duration
	var before shot
	for _, f := range frames {
		line([]any{at.Seconds(), "o", changes(before, f.shot)})
		before = f.shot
		at += f.lasts
	}
	line([]any{at.Seconds(), "o", ""}) // the last is seen for its time too
	return out.String()
}

// changes writes the rows that differ.
func changes(before, now shot) string {
	var out strings.Builder
	for y, cells := range now {
		if before != nil && equalRow(before[y], cells) {
			continue
		}
		fmt.Fprintf(&out, "\x1b[%d;1H", y+1)
		last := uv.Style{} // of what was written, which the second half of a wide character is not
		for x := 0; x < len(cells); x += max(cells[x].Width, 1) {
			if !cells[x].Style.Equal(&last) {
				last = cells[x].Style
				out.WriteString("\x1b[m" + last.String())
			}
			if cells[x].Content == "" {
				out.WriteByte(' ')
				continue
			}
			out.WriteString(cells[x].Content)
		}
		out.WriteString("\x1b[m")
	}
	return out.String()
}

// show plays a recording on a terminal, which has to be large enough.
func show(w io.Writer, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := io.WriteString(w, "\x1b[?1049h\x1b[?25l\x1b[2J"); err != nil {
		return err
	}
	defer func() { _, _ = io.WriteString(w, "\x1b[?25h\x1b[?1049l") }()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		var at float64
		var kind, out string
		if err := json.Unmarshal([]byte(line), &[]any{&at, &kind, &out}); err != nil {
			return fmt.Errorf("%s:%d: %w", name, i+2, err)
		}
		time.Sleep(time.Until(began.Add(time.Duration(at * float64(time.Second)))))
		if _, err := io.WriteString(w, out); err != nil {
			return err
		}
	}
	return nil
}
