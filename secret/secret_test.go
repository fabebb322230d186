package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"moon/internal/assault"
	"moon/secret"
)

func setOf(texts ...string) *secret.Set {
	s := secret.NewSet()
	for i, text := range texts {
		s.Add(fmt.Sprintf("secrets.yml#%d", i), text)
	}
	return s
}

// inPieces writes a text in pieces of the size, the first cut off at offset.
func inPieces(t *testing.T, s *secret.Set, text string, offset, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := s.Writer(&out)
	write := func(p string) {
		if n, err := io.WriteString(w, p); err != nil || n != len(p) {
			t.Fatalf("write %q: %d, %v", p, n, err)
		}
	}
	write(text[:offset])
	for rest := text[offset:]; rest != ""; rest = rest[min(size, len(rest)):] {
		write(rest[:min(size, len(rest))])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const awkward = `p"ä<s/s w'o$r&d\`

// forms are what the programs that print secrets make of one.
func forms(text string) map[string]string {
	js, _ := json.Marshal(text)
	return map[string]string{
		"itself":         text,
		"twice":          text + text,
		"base64":         base64.StdEncoding.EncodeToString([]byte(text)),
		"base64, one on": base64.StdEncoding.EncodeToString([]byte("u" + text + "tail")),
		"base64, two on": base64.StdEncoding.EncodeToString([]byte("u:" + text + "tail")),
		"base64 for URL": base64.RawURLEncoding.EncodeToString([]byte("us:" + text + "tail")),
		"query":          url.QueryEscape(text),
		"path":           url.PathEscape(text),
		"json":           string(js),
		"shell":          "'" + strings.ReplaceAll(text, "'", `'\''`) + "'",
		"colours":        "\x1b[1;31m" + text + "\x1b[0m",
		"title":          "\x1b]0;" + text + "\a",
		"coloured":       text[:2] + "\x1b[1;31m" + text[2:] + "\x1b[0m",
		"coloured twice": text[:1] + "\x1b[m\x1b[K" + text[1:3] + "\x1b(B" + text[3:],
	}
}

// TestEveryCut cuts a text with secrets at every offset and into pieces of every size up to 64: the end is always the same, and
// holds none.
func TestEveryCut(t *testing.T) {
	secrets := []string{"hunter2", "hunter2hunter3", "er2-longer", awkward, "0123456789abcdef0123456789abcdef"}
	s := setOf(secrets...)
	for _, one := range secrets {
		for name, written := range forms(one) {
			text := "before " + written + " hunt " + written + "er2-longer\nafter"
			whole := inPieces(t, s, text, 0, len(text))
			if strings.Contains(whole, one) || strings.Contains(whole, written) || !strings.HasPrefix(whole, "before ") || !strings.HasSuffix(whole, "\nafter") {
				t.Fatalf("%s of %q: %q became %q", name, one, text, whole)
			}
			if got := s.Redact(text); got != whole {
				t.Fatalf("%s: Redact gives %q, the writer %q", name, got, whole)
			}
			assault.Tried(t, "secrets cut into pieces", 64*len(text))
			for offset := range len(text) {
				for size := 1; size <= 64; size++ {
					if !assault.Sampled(offset+size, 8) {
						continue
					}
					if got := inPieces(t, s, text, offset, size); got != whole {
						t.Fatalf("%s of %q, cut at %d into %d: %q, want %q", name, one, offset, size, got, whole)
					}
				}
			}
		}
	}
}

// encodings are what programs do to a text that they print.
var encodings = []struct {
	name   string
	encode func(string) string
}{
	{"json", func(text string) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(text) // a text is JSON
		return strings.TrimSpace(b.String())
	}},
	{"json for HTML", func(text string) string { js, _ := json.Marshal(text); return string(js) }},
	{"shell", func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }},
	{"html", html.EscapeString},
	{"percent", url.QueryEscape},
	{"path", url.PathEscape},
	{"base64", func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }},
	{"base64, inside", func(text string) string {
		return base64.StdEncoding.EncodeToString([]byte("{\"k\":" + text + ", and more}"))
	}},
}

// TestEveryTwice encodes secrets in every way, and that in every way again, and cuts it at every place: nothing can be put together
// again. Three times is not promised.
func TestEveryTwice(t *testing.T) {
	secrets := []string{"hunter2", awkward, `say "\"`, "it's <b>&co", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "schlüssel für 'alles'"}
	s := setOf(secrets...)
	for _, one := range secrets {
		for _, first := range encodings {
			for _, then := range encodings {
				name := fmt.Sprintf("%s in %s of %q", first.name, then.name, one)
				inner := first.encode(one)
				text := "before " + then.encode(inner) + " after\n"
				whole := inPieces(t, s, text, 0, len(text))
				if !strings.Contains(whole, secret.Mask) {
					t.Fatalf("%s: %q became %q", name, text, whole)
				}
				// What is left beside the mask is the frame alone, and at most a character of base64 that the frame decides, too.
				for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(whole, "before "), " after\n"), secret.Mask) {
					bare := then.encode("")
					if strings.HasPrefix(then.name, "base64") || strings.HasPrefix(first.name, "base64") {
						continue // checked below
					}
					if len(part) > len(bare)+8 {
						t.Errorf("%s: %q became %q", name, text, whole)
					}
				}
				if size := len(strings.ReplaceAll(whole, secret.Mask, "")); size > len(text)-len(one)+2 {
					t.Errorf("%s: %q became %q", name, text, whole)
				}
				assault.Tried(t, "secrets cut into pieces", len(text))
				for offset := range len(text) {
					if !assault.Sampled(offset, 4) {
						continue
					}
					if got := inPieces(t, s, text, offset, offset%7+1); got != whole {
						t.Fatalf("%s, cut at %d: %q, want %q", name, offset, got, whole)
					}
				}
			}
		}
	}
}

// TestTwiceIsBounded adds the lines of a long output: moon neither looks for millions of forms nor loses the secrets themselves.
func TestTwiceIsBounded(t *testing.T) {
	s := secret.NewSet()
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf(`line %d: "it's" <%d> & more \`, i, i*7919))
	}
	s.Add("", strings.Join(lines, "\n"))
	s.Add("secrets.yml#0", awkward)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, line := range []string{lines[0], lines[4999], awkward} {
		if got := s.Redact("x " + line + " y"); got != "x "+secret.Mask+" y" {
			t.Errorf("%q", got)
		}
	}
	runtime.ReadMemStats(&after)
	t.Logf("%d MiB", (after.HeapAlloc-before.HeapAlloc)>>20)
	if used := (after.HeapAlloc - before.HeapAlloc) >> 20; after.HeapAlloc > before.HeapAlloc && used > 250 {
		t.Errorf("%d MiB", used)
	}
	twice, _ := json.Marshal(awkward)
	twice, _ = json.Marshal(string(twice))
	if got := s.Redact(string(twice)); strings.Contains(got, `o$r&d`) || !strings.Contains(got, secret.Mask) {
		t.Errorf("a secret that is given is not found twice encoded after a long output: %q", got)
	}
}

func TestRedact(t *testing.T) {
	tests := []struct {
		name          string
		secrets       []string
		in, want      string
		stillReadable bool
	}{
		{"nothing to look for", nil, "hunter2", "hunter2", true},
		{"one", []string{"hunter2"}, "pw=hunter2;", "pw=••••••••;", false},
		{"the end alone is no secret", []string{"hunter2"}, "hunter", "hunter", true},
		{"begun twice", []string{"hunter2"}, "hunhunter2", "hun••••••••", false},
		{"the longer one", []string{"hunt", "hunter2"}, "hunter2!", "••••••••!", false},
		{"they overlap", []string{"abcdef", "defghi"}, "-abcdefghi-", "-••••••••-", false},
		{"they follow each other", []string{"abcd", "efgh"}, "abcdefgh", "••••••••", false},
		{"one inside of another's beginning", []string{"aaaab", "aaaa"}, "aaaac", "••••••••c", false},
		{"short ones are everywhere", []string{"abc"}, "abc", "abc", true},
		{"so are some words", []string{"true", "None"}, "true None", "true None", true},
		{"white space around it", []string{"hunter2\n"}, "x hunter2 y hunter2\n", "x •••••••• y ••••••••", false},
		{
			"the lines of a key",
			[]string{"-----BEGIN KEY-----\nQUJDREVG\nR0hJSktM\n-----END KEY-----\n"},
			"-----BEGIN KEY-----\n  R0hJSktM\n-----END KEY-----", "-----BEGIN KEY-----\n  ••••••••\n-----END KEY-----", false,
		},
		{"characters of several bytes", []string{"schlüssel"}, "schlüssel ü", "•••••••• ü", false},
		{"bytes that are no text", []string{"a\xff\xfeb"}, "\xffa\xff\xfeb\xfe", "\xff••••••••\xfe", false},
		{"an escape that is not finished", []string{"hunter2"}, "hun\x1b[31", "hun\x1b[31", true},
		{"cut off", []string{"correct horse"}, "this is \"correct h…\", and cor…", "this is \"••••••••…\", and cor…", true},
		{"a line between is not inside", []string{"hunter2"}, "hun\nter2", "hun\nter2", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := setOf(test.secrets...)
			if got := s.Redact(test.in); got != test.want {
				t.Errorf("Redact(%q) = %q, want %q", test.in, got, test.want)
			}
			if got := s.Has(test.in); got == test.stillReadable {
				t.Errorf("Has(%q) = %v", test.in, got)
			}
		})
	}
}

// TestAgainstSearching compares with looking for every text at every place.
func TestAgainstSearching(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		b := make([]byte, 4+random.IntN(most))
		for i := range b {
			b[i] = "abc"[random.IntN(3)]
		}
		return string(b)
	}
	for round := range 3000 {
		var secrets []string
		for range 1 + random.IntN(4) {
			secrets = append(secrets, word(4))
		}
		s, text := setOf(secrets...), word(60)
		if got, want := inPieces(t, s, text, 0, 1+random.IntN(9)), naive(secrets, text); got != want {
			t.Fatalf("round %d: %q in %q: got %q, want %q", round, secrets, text, got, want)
		}
	}
}

// naive marks every place of every secret. The secrets of the test are so few letters that no other form of them is in the text.
func naive(secrets []string, text string) string {
	hide := make([]bool, len(text))
	for _, one := range secrets {
		for i := 0; i+len(one) <= len(text); i++ {
			if text[i:i+len(one)] == one {
				for j := range one {
					hide[i+j] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range text {
		switch {
		case !hide[i]:
			b.WriteByte(text[i])
		case i == 0 || !hide[i-1]:
			b.WriteString(secret.Mask)
		}
	}
	return b.String()
}

// TestLearning adds secrets while a stream goes on, many of them one by one.
func TestLearning(t *testing.T) {
	s := secret.NewSet()
	var out bytes.Buffer
	w := s.Writer(&out)
	write := func(text string) { _, _ = io.WriteString(w, text) }
	write("one hunter2 ")
	s.Add("", "hunter2")
	write("two hunter2 hunt")
	for i := range 2000 {
		s.Add("", fmt.Sprintf("%032d", i*7919))
	}
	write("er2 ")
	for i := range 2000 {
		write(fmt.Sprintf("%032d\n", i*7919))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "one hunter2 two •••••••• •••••••• " + strings.Repeat("••••••••\n", 2000)
	if out.String() != want {
		t.Errorf("got %.200q", out.String())
	}
}

func TestWriterPassesErrorsOn(t *testing.T) {
	w := setOf("hunter2").Writer(iotest.TruncateWriter(nil, 0))
	if _, err := setOf("hunter2").Writer(failing{}).Write([]byte("hunter2 and more")); err == nil {
		t.Error("the error of the writer is lost")
	}
	_, _ = io.WriteString(w, "hun")
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestClean(t *testing.T) {
	type inner struct {
		Text string
		N    *int
	}
	type fact struct {
		Name   string
		Values map[string]any
		Inner  *inner
		List   []string
		At     time.Time
		Bytes  int64
		any    string
	}
	s := setOf("hunter2", "48151623")
	n := 7
	in := fact{
		Name: "log in with hunter2", Values: map[string]any{"a": []any{"hunter2", 1, true, nil, 48151623}, "hunter2": "b"}, Inner: &inner{"hunter2", &n},
		List: []string{"x", "xhunter2"}, At: time.Unix(0, 0), Bytes: 48151623, any: "y",
	}
	want := fact{
		Name: "log in with ••••••••", Values: map[string]any{"a": []any{secret.Mask, 1, true, nil, secret.Mask}, secret.Mask: "b"}, Inner: &inner{secret.Mask, &n},
		List: []string{"x", "x••••••••"}, At: time.Unix(0, 0), Bytes: 48151623, any: "y",
	}
	got := secret.Clean(s, in)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if in.Inner.Text != "hunter2" || in.List[1] != "xhunter2" || in.Values["hunter2"] != "b" {
		t.Errorf("the value itself was changed: %+v", in)
	}
	var none any
	if secret.Clean(s, none) != nil {
		t.Error("nothing is something")
	}
}

func TestSeal(t *testing.T) {
	s := setOf("hunter2", awkward)
	b64 := base64.StdEncoding.EncodeToString([]byte(awkward))
	for _, v := range []any{
		"nothing", 7, true, nil, "pw=hunter2 and again hunter2", awkward + "hunter2", b64,
		[]any{"a", "hunter2"},
		map[string]any{"stdout": "hunter2\n", "rc": 0, "stdout_lines": []any{"hunter2"}},
		map[string]any{"$secret": []any{map[string]any{"from": "secrets.yml#0", "form": "text"}}},
		map[string]any{"$plain": map[string]any{"x": "hunter2"}},
	} {
		sealed, ok := s.Seal(v)
		if !ok {
			t.Errorf("%v is not sealed", v)
			continue
		}
		text, err := json.Marshal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		if s.Has(string(text)) {
			t.Errorf("%v is sealed as %s", v, text)
		}
		again := setOf("hunter2", awkward)
		opened, ok := again.Open(sealed)
		if !ok || !reflect.DeepEqual(opened, v) {
			t.Errorf("%v was sealed as %s and opened as %v", v, text, opened)
		}
	}
}

func TestSealRotated(t *testing.T) {
	sealed, ok := setOf("hunter2").Seal("user=ada pw=hunter2")
	if !ok {
		t.Fatal("not sealed")
	}
	if got, ok := setOf("correct-horse").Open(sealed); !ok || got != "user=ada pw=correct-horse" {
		t.Errorf("with another secret at the same place: %v", got)
	}
	if got, ok := secret.NewSet().Open(sealed); ok {
		t.Errorf("without the secret: %v", got)
	}
}

func TestSealRefuses(t *testing.T) {
	s := setOf("hunter2")
	s.Add("", "5ebe2294ecd0e0f08eab7690d2a6ee69")
	for _, v := range []any{
		"hash 5ebe2294ecd0e0f08eab7690d2a6ee69", "both hunter2 5ebe2294ecd0e0f08eab7690d2a6ee69", "hun\x1b[1mter2",
		map[string]any{"hunter2": 1},
		map[string]any{"a": []any{"5ebe2294ecd0e0f08eab7690d2a6ee69"}},
	} {
		if sealed, ok := s.Seal(v); ok {
			t.Errorf("%v was sealed as %v", v, sealed)
		}
	}
}

func TestEnv(t *testing.T) {
	s := secret.NewSet()
	s.AddEnv("TOKEN", "hunter2")
	if !s.Env("TOKEN") || s.Env("HOME") || !s.Has("hunter2") {
		t.Error("the variable is not kept apart")
	}
	var none *secret.Set
	none.Add("x", "hunter2")
	none.AddEnv("TOKEN", "hunter2")
	if none.Env("TOKEN") || none.Has("hunter2") || !none.Empty() || none.Redact("hunter2") != "hunter2" {
		t.Error("no set knows something")
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("hunter2", "unter2hu", "xhunhunter2hu\x1b[31mnter2", uint8(3))
	f.Add("aaaa", "aaab", "aaaaaabaaa", uint8(1))
	f.Add("k1\nline two\n", "a b", "line+two line two", uint8(2))
	f.Fuzz(func(t *testing.T, one, two, text string, size uint8) {
		if len(text) > 4096 || len(one) > 256 || len(two) > 256 {
			return
		}
		s := setOf(one, two)
		whole := s.Redact(text)
		if got := inPieces(t, s, text, 0, int(size)+1); got != whole {
			t.Fatalf("in pieces of %d: %q, at once %q", int(size)+1, got, whole)
		}
		if s.Has(text) != (whole != text) && !strings.Contains(text, secret.Mask) {
			t.Fatalf("Has says %v of %q, which becomes %q", s.Has(text), text, whole)
		}
		for _, one := range []string{one, two} {
			if s.Has(one) && !strings.Contains(secret.Mask, one) && strings.Contains(strings.ReplaceAll(whole, secret.Mask, "\x00"), one) && !strings.Contains(one, "\x00") {
				t.Fatalf("%q is in %q", one, whole)
			}
		}
		if sealed, ok := s.Seal(text); ok {
			if opened, ok := s.Open(sealed); !ok || opened != text {
				t.Fatalf("%q was sealed as %v and opened as %v", text, sealed, opened)
			}
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	line := "2026-11-21T20:11:07Z INFO  server: GET /assets/app-4f3c2b1a.js 200 1832 bytes in 3.2 ms (10.0.0.17)\n"
	text := []byte(strings.Repeat(line, 64<<10/len(line)))
	hit := bytes.Clone(text)
	copy(hit[32<<10:], "password=hunter2")
	for _, bench := range []struct {
		name string
		set  *secret.Set
		text []byte
	}{
		{"none", secret.NewSet(), text},
		{"five", setOf("hunter2", "correct horse battery staple", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "s3cr3t-t0ken"), text},
		{"five, one in each 64 KiB", setOf("hunter2", "correct horse battery staple", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "s3cr3t-t0ken"), hit},
		{"a key", setOf("-----BEGIN KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABFwAAAAdzc2gtcn\n", 24)), text},
		{"hostile: 2026-11-2 and server", setOf("2026-11-2?", "server: GOT", "INFO  client"), text},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			w := bench.set.Writer(io.Discard)
			for b.Loop() {
				if _, err := w.Write(bench.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
