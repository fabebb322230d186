package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/internal/assault"
)

// write makes a journal of some records and returns its bytes.
func write(t *testing.T, from, until int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	w, err := new(journal.Disk).Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < until; i++ {
		r := fact.Record{Run: "r", At: time.Unix(int64(i), 0), Fact: fact.AttemptFinished{
			Step: i, Attempt: 1, Outcome: events.Changed, Message: strings.Repeat(fmt.Sprintf("line %d of what was printed\n", i), 20),
		}}
		if i%3 == 0 {
			r.Fact = fact.Commanded{Order: events.Order{ID: fmt.Sprint(i), Command: events.Approve{Range: events.Range{From: i, To: i + 1}}}}
		}
		if err := w.Append(&r); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			if err := w.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// read returns how many whole records a journal has, and how it ends.
func read(t *testing.T, text []byte) (int, error) {
	t.Helper()
	r := journal.NewReader(bytes.NewReader(text))
	for n := 0; ; n++ {
		rec, err := r.Next()
		if err != nil {
			return n, err
		}
		if rec.Seq != uint64(n+1) {
			t.Fatalf("record %d has the number %d", n+1, rec.Seq)
		}
	}
}

// eachJournal is for journals of more than 20,000 bytes together: each byte is a state to cut, and to damage. They are short, because
// each of those states is read from the start.
func eachJournal(t *testing.T, attack string, do func(text []byte)) {
	t.Helper()
	t.Parallel()
	states := 0
	for from := 0; from < 40; from += 5 {
		if !assault.Sampled(from/5, 8) {
			continue
		}
		text := write(t, from, from+5)
		states += len(text)
		do(text)
	}
	assault.Tried(t, attack, states)
	if states < 20_000 && !testing.Short() {
		t.Errorf("only %d states", states)
	}
}

// TestTornTail cuts a journal at every byte: what was written whole before the cut is read, and nothing else.
func TestTornTail(t *testing.T) {
	eachJournal(t, "journals cut at every byte", func(text []byte) {
		for cut := range len(text) + 1 {
			n, err := read(t, text[:cut])
			if whole := bytes.Count(text[:cut], []byte("\n")); n != whole || !errors.Is(err, io.EOF) {
				t.Fatalf("cut at %d: %d records and %v, want %d", cut, n, err, whole)
			}
		}
	})
}

// TestBitRot flips one bit in every byte: the damage is noticed, and every record before it stands.
func TestBitRot(t *testing.T) {
	eachJournal(t, "journals with one bit flipped", func(text []byte) {
		for i := range text {
			bad := bytes.Clone(text)
			bad[i] ^= 1 << (i % 8)
			n, err := read(t, bad)
			var damage *journal.DamageError
			before := bytes.Count(text[:i], []byte("\n"))
			// A flip in the last newline leaves a line without an end: a torn tail, and no damage.
			if torn := i == len(text)-1; n != before || torn != errors.Is(err, io.EOF) || !torn && !errors.As(err, &damage) {
				t.Fatalf("bit flipped at %d: %d records and %v, want %d", i, n, err, before)
			}
		}
	})
}

// TestFollow reads while another writes.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w, err := new(journal.Disk).Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 100 {
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("before record %d: %v", i+1, err)
		}
		rec := fact.Record{Fact: fact.Warned{Step: i}}
		if err := w.Append(&rec); err != nil {
			t.Fatal(err)
		}
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		got, err := r.Next()
		if err != nil || got.Fact != rec.Fact {
			t.Fatalf("record %d: %v %v", i+1, got, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w, err := new(journal.Disk).Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(journal.Disk).Create(path); err == nil {
		t.Error("a journal was written over")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLargeRecords writes data that no line holds, and reads it while the journal grows, when it is opened again, and not when
// its file is another one.
func TestLargeRecords(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	w, err := journal.Disk{}.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []fact.Fact{
		fact.Warned{Step: 1, Message: strings.Repeat("\x01long", 100_000)},
		fact.Warned{Step: 2, Message: "short"},
		fact.RunResumed{Again: make([]int, 100_000)},
		fact.AttemptFinished{Step: 3, Registered: map[string]any{"$blob": "text", "v": strings.Repeat("x", journal.MaxRecord)}},
	}
	for _, f := range want {
		if err := w.Large(f); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(&fact.Record{Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if len(line) > journal.MaxRecord {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	r, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, f := range want {
		if got, err := r.Next(); err != nil || !reflect.DeepEqual(got.Fact, f) {
			t.Errorf("record %d: %v, %.200v", i+1, err, got.Fact)
		}
	}
	n := 0
	w, cut, err := journal.Disk{}.Reopen(path, func(fact.Record) error { n++; return nil })
	if err != nil || cut > 0 || n != len(want) {
		t.Fatalf("opened again: %d records, %d bytes cut, %v", n, cut, err)
	}
	w.Close()
	blobs, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(blobs) != 3 {
		t.Fatalf("%v, %v", blobs, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blobs", blobs[0].Name()), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *journal.DamageError
	if _, _, err := (journal.Disk{}).Reopen(path, func(fact.Record) error { return nil }); !errors.As(err, &damage) {
		t.Errorf("with another blob: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	w, err := new(journal.Disk).Create(filepath.Join(b.TempDir(), "journal"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := fact.Record{Run: "20261121-000000-abcd", At: time.Unix(1, 0), Fact: fact.AttemptStarted{Step: 1, Attempt: 1, Name: "a step", Command: "shell: true", Out: "step-0002.1"}}
		if err := w.Append(&r); err != nil {
			b.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
