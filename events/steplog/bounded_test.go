package steplog

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// excerpts writes an attempt's output and reads it bounded.
func excerpts(t *testing.T, writes ...string) []Excerpt {
	t.Helper()
	dir := t.TempDir()
	w := NewWriter(dir, "s", nil)
	for _, text := range writes {
		to := w.Stdout()
		if rest, ok := strings.CutPrefix(text, "err:"); ok {
			to, text = w.Stderr(), rest
		}
		if _, err := to.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := readBounded(t, dir, (*Bounded).Next)
	blocks := readBounded(t, dir, (*Bounded).NextBlock)
	for i := range max(len(all), len(blocks)) {
		if i == len(all) || i == len(blocks) || !reflect.DeepEqual(blocks[i], all[i]) {
			t.Errorf("%d lines, and in blocks %d: they differ from line %d on", len(all), len(blocks), i)
			break
		}
	}
	return all
}

// readBounded reads all that is passed on, as single lines.
func readBounded(t *testing.T, dir string, next func(*Bounded) (Excerpt, bool, error)) (all []Excerpt) {
	t.Helper()
	b := FollowBounded(dir, "s")
	b.Finish()
	defer b.Close()
	for {
		e, ok, err := next(b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all
		}
		if e.Nothing {
			continue
		}
		lines := bytes.Split(bytes.Clone(e.Text), []byte("\n"))
		if len(lines) != 1+e.More {
			t.Errorf("%d lines, and %d more than the first", len(lines), e.More)
		}
		e.More = 0
		for _, line := range lines {
			e.Text = line
			all = append(all, e)
		}
	}
}

// What comes in blocks is what comes line by line, however lines, streams and bytes that are not text follow each other.
func TestBlocks(t *testing.T) {
	words := []string{
		"\n", "\n\n", "a line\n", "no end", "\r\n", "\r 10 %\r 20 %", "\x1b[31mred\x1b[0m\n", "gr\u00fc\u00df\n", "\xff\xfe\n", "\x00\x01\x02\x03\x04\x05\x06\x0e",
		strings.Repeat("z", maxLine-3), strings.Repeat("0123456\n", 5000), strings.Repeat("\x00", 2*maxLine) + "\n",
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var writes []string
		for range 40 {
			to := ""
			if random.IntN(4) == 0 {
				to = "err:"
			}
			writes = append(writes, to+words[random.IntN(len(words))])
		}
		if len(excerpts(t, writes...)) == 0 {
			t.Error("nothing was read")
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestBounded(t *testing.T) {
	long := strings.Repeat("x", 5*maxLine)
	for name, test := range map[string]struct {
		writes []string
		want   []string // Marked, long texts by their length
	}{
		"lines":             {[]string{"one\ntwo\n\nlast"}, []string{"one", "two", "", "last"}},
		"a long line":       {[]string{long + "\nnext\n"}, []string{"<65536> … (262144 more bytes)", "next"}},
		"just long enough":  {[]string{long[:maxLine] + "\n"}, []string{"<65536>"}},
		"one byte too long": {[]string{long[:maxLine+1]}, []string{"<65536> … (1 more bytes)"}},
		"zeros":             {[]string{strings.Repeat("\x00", 3*maxLine)}, []string{"(196608 bytes that are not text)"}},
		"binary lines":      {[]string{"a\n\x00\x01\x02\x03\x04\x05\x06\x0e\n\n\x7f\xff\nb\n"}, []string{"a", "(13 bytes that are not text)", "b"}},
		"more binary lines than are read at once": {[]string{strings.Repeat("\n\x00\x01\x02\x03\x04\x05\x06\x0e\n", 300_000)}, []string{"", "(2999999 bytes that are not text)"}},
		"binary at the end":                       {[]string{"a\n\x00\x01\x02\x03\x04\x05\x06\x0e"}, []string{"a", "(8 bytes that are not text)"}},
		"a few controls":                          {[]string{"\x01\x02\n"}, []string{"\x01\x02"}},
		"Latin-1":                                 {[]string{"caf\xe9 cr\xe8me \xe0 la carte, d\xe9j\xe0 vu, gar\xe7on, l'\xe9t\xe9 dernier au ch\xe2teau de la for\xeat\n"}, nil},
		"names with NUL":                          {[]string{strings.Repeat("src/some/file.go\x00", 100) + "\n"}, nil},
		"colours":                                 {[]string{strings.Repeat("\x1b[31mx\x1b[0m\a\b\t\v\f", 100) + "\n"}, nil},
		"a progress bar":                          {[]string{strings.Repeat("\r 10 % of the download", 4*maxLine/22) + "\rdone\n"}, []string{"done … (262131 more bytes)"}},
		"two streams":                             {[]string{"a", "err:\x00\x01\x02\x03\x04\x05\x06\x0e\n", "b\n"}, []string{"ab", "! (9 bytes that are not text)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.want == nil {
				test.want = []string{strings.TrimSuffix(test.writes[0], "\n")}
			}
			var got []string
			for _, e := range excerpts(t, test.writes...) {
				text := Marked(string(e.Text), e.Dropped, e.Binary)
				if strings.HasPrefix(text, long[:maxLine]) {
					text = "<65536>" + text[maxLine:]
				}
				if e.Stderr {
					text = "! " + text
				}
				got = append(got, text)
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got  %.300q\nwant %.300q", got, test.want)
			}
		})
	}
}

// Every byte is in an excerpt or counted, but for the newline that each line has, and of what is not text little remains.
func TestBoundedCountsAllBytes(t *testing.T) {
	random := make([]byte, 4<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random)
	shown, counted := 0, 0
	for _, e := range excerpts(t, string(random)) {
		shown += len(e.Text)
		counted += len(e.Text) + int(e.Dropped)
		if !e.Binary {
			counted++
		}
	}
	if extra := counted - len(random); extra != 0 && extra != 1 { // the last line may end without a newline
		t.Errorf("%d of %d bytes are accounted for", counted, len(random))
	}
	if shown > len(random)/100 {
		t.Errorf("%d of %d random bytes are shown", shown, len(random))
	}
}
