package steplog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// printed writes the output of an attempt as a Writer would have at those times.
func printed(t *testing.T, dir, prefix string, lines map[time.Duration]string) {
	t.Helper()
	var text, index []byte
	ats := []time.Duration{}
	for at := range lines {
		ats = append(ats, at)
	}
	slices.Sort(ats)
	for _, at := range ats {
		index = run{stdout, at, [2]int64{int64(len(text)), 0}}.append(index)
		text = append(text, lines[at]...)
	}
	for suffix, b := range map[string][]byte{".out": text, ".idx": index} {
		if err := os.WriteFile(filepath.Join(dir, prefix+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func wovenLines(w *Woven) (all []string) {
	w.Each(0, w.Len(), func(i int, l Line) {
		all = append(all, fmt.Sprintf("%d %d %s %s", i, w.parts[w.pieces[w.find(i)].part].Step, l.At, l.Text))
	})
	return all
}

// The lines of several attempts stand in the order in which they came, also where one prints between the lines of another, and what came
// later stands behind what was there.
func TestWoven(t *testing.T) {
	dir := t.TempDir()
	s := time.Second
	printed(t, dir, "a", map[time.Duration]string{0: "a1\na2\n", 2 * s: "a3\n"})
	printed(t, dir, "b", map[time.Duration]string{s / 2: "b1\n", 3 * s: "b2\n"})
	parts := []Part{{"b", 1, s, false}, {"a", 0, 0, true}, {"none", 2, 0, true}}
	w := Weave(dir)
	defer w.Close() //nolint:errcheck // only read
	if err := w.Refresh(parts); err != nil || w.More() {
		t.Fatal(err, w.More())
	}
	want := []string{"0 0 0s a1", "1 0 0s a2", "2 1 1.5s b1", "3 0 2s a3", "4 1 4s b2"}
	if got := wovenLines(w); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	printed(t, dir, "c", map[time.Duration]string{0: "c1\n"})
	printed(t, dir, "b", map[time.Duration]string{s / 2: "b1\n", 3 * s: "b2\n", 5 * s: "b3\n"})
	if err := w.Refresh(append(parts, Part{"c", 3, s, true})); err != nil {
		t.Fatal(err)
	}
	want = append(want, "5 3 1s c1", "6 1 6s b3")
	if got := wovenLines(w); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	for i, line := range want {
		if got := fmt.Sprintf("%d %d %s %s", i, w.StepOf(i), w.Line(i).At, w.Line(i).Text); got != line {
			t.Errorf("%q, want %q", got, line)
		}
	}
	if len(w.live) != 1 || w.live[0].Prefix != "b" {
		t.Errorf("%d are looked at further", len(w.live))
	}
}

// Far more attempts than files can be open, read a part at a time, give all their lines in order, and few files are open afterwards.
func TestWovenOfMany(t *testing.T) {
	dir, n := t.TempDir(), 1500
	var parts []Part
	var want []string
	for i := range n {
		prefix := fmt.Sprintf("p%04d", i)
		if err := os.WriteFile(filepath.Join(dir, prefix+".out"), []byte("first\nsecond\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Duration(i) * time.Second
		parts = append(parts, Part{prefix, i, at, true})
		want = append(want, fmt.Sprintf("%d %d %s first", 2*i, i, at), fmt.Sprintf("%d %d %s second", 2*i+1, i, at))
	}
	rand.Shuffle(n, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	w := Weave(dir)
	rounds, before := 0, 0
	for more := true; more; more = w.More() {
		if err := w.Refresh(parts); err != nil {
			t.Fatal(err)
		}
		if rounds++; rounds > 10 || w.Len() <= before {
			t.Fatalf("round %d: %d lines", rounds, w.Len())
		}
		before = w.Len()
	}
	if got := wovenLines(w); !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	open := 0
	for _, p := range w.parts {
		if p.log.follow.files[stdout] != nil {
			open++
		}
	}
	if rounds < 2 || open > mostOpened || len(w.live) > 0 {
		t.Errorf("%d rounds, %d open, %d live", rounds, open, len(w.live))
	}
}

// A large output that is read in several rounds does not lose its place to a short one that came later.
func TestWovenWaitsForLargeOutput(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("a line of the large one\n", 400_000) // 9.6 MB, so three rounds
	printed(t, dir, "large", map[time.Duration]string{0: long[:len(long)/2], time.Second: long[len(long)/2:]})
	printed(t, dir, "short", map[time.Duration]string{0: "short\n"})
	w := Weave(dir)
	for more := true; more; more = w.More() {
		if err := w.Refresh([]Part{{"large", 0, 0, true}, {"short", 1, 1500 * time.Millisecond, true}}); err != nil {
			t.Fatal(err)
		}
	}
	last := w.Len() - 1
	if w.Len() != 400_001 || string(w.Line(last).Text) != "short" || w.StepOf(last) != 1 || w.StepOf(last-1) != 0 || len(w.pieces) != 2 {
		t.Errorf("%d lines in %d pieces, the last is %q", w.Len(), len(w.pieces), w.Line(last).Text)
	}
}
