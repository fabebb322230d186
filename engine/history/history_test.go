package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/history"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
)

// recorded makes a run in a directory of runs, as far as the history looks.
func recorded(t *testing.T, runs, id string, at time.Time) {
	t.Helper()
	dir := filepath.Join(runs, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Disk{}.Create(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, f := range []fact.Fact{fact.RunCreated{Format: fact.Format, Playbook: id, Total: 1}, fact.RunFinished{Outcome: events.RunDone}} {
		if err := j.Append(&fact.Record{Run: id, At: at, Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
}

// unreadable makes a run whose journal gives an error to whoever reads it.
func unreadable(t *testing.T, runs, id string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(runs, id, "journal.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestHistoryReadsWhatItShows has runs that cannot be read among those that are not asked for.
func TestHistoryReadsWhatItShows(t *testing.T) {
	runs := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	unreadable(t, runs, "20260102-030401-aaaa")
	unreadable(t, runs, "20260102-030402-aaaa")
	recorded(t, runs, "20260102-030404-cccc", at.Add(-time.Second))
	// In one second the journals say which was first, and not the names.
	recorded(t, runs, "20260102-030405-0002", at.Add(100*time.Millisecond))
	recorded(t, runs, "20260102-030405-0001", at.Add(300*time.Millisecond))
	recorded(t, runs, "20260102-030405-0003", at.Add(200*time.Millisecond))
	for _, empty := range []string{"20260102-030406-none", "20260102-030404-none", "notes"} {
		if err := os.Mkdir(filepath.Join(runs, empty), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		limit, more int
		want        string
	}{
		{1, 6, "0001"},
		{2, 5, "0001 0003"},
		{3, 4, "0001 0003 0002"},
		{4, 2, "0001 0003 0002 cccc"},
	} {
		list, more, err := history.List(runs, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastFour(list); got != tt.want || more != tt.more {
			t.Errorf("the latest %d: %s and %d more, want %s and %d", tt.limit, got, more, tt.want, tt.more)
		}
	}
	if _, _, err := history.List(runs, 0); err == nil {
		t.Error("all runs were listed, although two cannot be read")
	}
	for id, want := range map[string]string{
		"": "0001", "20260102-030404": "cccc", "20260102-030405-0002": "0002",
		"2026":             "runs begin with 2026",
		"20260102-030401":  "is a directory",
		"20260102-030406-": "20260102-030406-none had not begun when moon ended",
		"20260102-030407":  "there is no run 20260102-030407; moon runs lists them",
		"notes":            "there is no run notes",
	} {
		p, err := history.Find(runs, id)
		if got := p.ID; err == nil && !strings.HasSuffix(got, want) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want %s", id, got, err, want)
		}
	}
	if _, err := history.Find(t.TempDir(), ""); err == nil || err.Error() != "there are no runs yet" {
		t.Errorf("nothing there: %v", err)
	}
}

// lastFour are the last four letters of the ids.
func lastFour(list []history.Past) string {
	var ends []string
	for _, p := range list {
		ends = append(ends, p.ID[len(p.ID)-4:])
	}
	return strings.Join(ends, " ")
}
