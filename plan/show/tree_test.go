package show_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"moon/plan"
	"moon/plan/planner"
	"moon/plan/show"
)

// TestWidth checks that the text forms keep to a terminal, wide characters included, and lose nothing without one.
func TestWidth(t *testing.T) {
	long := strings.Repeat("ein sehr langes Wort 長い言葉 ", 8) + "end"
	dir := t.TempDir()
	text := fmt.Sprintf("vars: { v: %[1]q }\nsteps:\n- name: first\n  shell: \"true\"\n  register: r\n- block:\n    - name: %[1]q\n      shell: \"echo {{ v }} {{ r.stdout }} %[1]s\"\n      when: r.rc == 0 and v == %[1]q\n", long)
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, ds := planner.New(plan.Options{Path: "p.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		t.Fatalf("%+v", ds)
	}
	links := []plan.Link{{Step: 0, On: "success", Data: true}}
	old, err := show.ComparableOf(p)
	if err != nil {
		t.Fatal(err)
	}
	now, err := show.ComparableOf(p)
	if err != nil {
		t.Fatal(err)
	}
	now.Steps[1].Fields["args.cmd"] += " more"
	forms := map[string]func(io.Writer, int) error{
		"tree":    func(w io.Writer, width int) error { return show.WriteTree(w, p, width) },
		"flat":    func(w io.Writer, width int) error { return show.WriteFlat(w, p, width) },
		"explain": func(w io.Writer, width int) error { return show.WriteExplanation(w, p, 1, links, nil, width) },
		"diff":    show.Diff(old, now).Write,
	}
	for name, write := range forms {
		for _, width := range []int{30, 80, 200} {
			var b strings.Builder
			if err := write(&b, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := ansi.StringWidth(line); n > width {
					t.Errorf("%s at %d: %d cells: %s", name, width, n, line)
				}
			}
		}
		var b strings.Builder
		if err := write(&b, 0); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "…") || !strings.Contains(b.String(), long) {
			t.Errorf("%s without a terminal is cut:\n%s", name, b.String())
		}
	}
}

// TestWidthKeepsOrigins checks that a terminal cuts what a step does before it cuts where the step is.
func TestWidthKeepsOrigins(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte("- shell: echo "+strings.Repeat("long ", 30)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, ds := planner.New(plan.Options{Path: "p.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		t.Fatalf("%+v", ds)
	}
	var b strings.Builder
	if err := show.WriteTree(&b, p, 60); err != nil {
		t.Fatal(err)
	}
	if want := "  step-0001  shell: echo long long long long long …  p.yml:1\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant at the end\n%s", b.String(), want)
	}
}
