package statefile

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"moon/events"
	"moon/plan/prior"
)

// memory is a log in this process.
type memory struct {
	name string
	last uint64
	all  []prior.Record
}

var errOvertaken = errors.New("overtaken")

func (m *memory) Fetch(_, log string, after uint64) (records []prior.Record, last uint64, err error) {
	if log != "" && log != m.name {
		return nil, 0, nil
	}
	for _, r := range m.all {
		if r.Seq > after {
			records = append(records, r)
		}
	}
	return records, m.last, nil
}

func (m *memory) Append(_ string, batches []Batch) error {
	for i := range batches {
		b := &batches[i]
		_, of, _ := places(m.all)
		if of[b.Host] != b.After {
			return fmt.Errorf("%s: %w", b.Host, errOvertaken)
		}
		m.last++
		b.Seq = m.last
		if b.Alone {
			m.all = slices.DeleteFunc(m.all, func(r prior.Record) bool { return r.Part == b.Host || r.Part == "" && r.Host == b.Host })
		}
		for _, r := range b.Records {
			r.Log, r.Seq = m.name, b.Seq
			m.all = append(m.all, r)
		}
	}
	return nil
}

// machine is the file of a machine with that log.
func machine(t *testing.T, log Log) File {
	t.Helper()
	f := Of(t.TempDir(), "/srv", "site.yml")
	f.with = &sharing{log: log, seen: map[string]map[string]uint64{}}
	return f
}

func made(host, file string, change events.ChangeKind) prior.Record {
	return prior.Record{
		Host: host, Maker: prior.Maker{Step: "site.yml/" + file, Definition: "d"},
		Things: []events.Resource{{Type: events.FileResource, Name: file, Change: change}},
	}
}

// names are what a machine says there is.
func names(t *testing.T, f File) (list []string) {
	t.Helper()
	s, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Things {
		list = append(list, s.Things[i].Host+":"+s.Things[i].Name)
	}
	slices.Sort(list)
	return list
}

// TestLongLogsAreMadeShort has a host change again and again, and machines that have read different parts of it: all see the same at the end,
// and what one has made on itself stays with it.
func TestLongLogsAreMadeShort(t *testing.T) {
	for _, n := range []int{longest, 2 * shortest} { // the log is made short, and then the file as well
		log := &memory{name: "x"}
		a, b := machine(t, log), machine(t, log)
		if err := a.Append(made("localhost", "own", events.ChangeCreate), made("web1", "first", events.ChangeCreate), made("web2", "other", events.ChangeCreate)); err != nil {
			t.Fatal(err)
		}
		names(t, b)
		for i := range n {
			if err := a.Append(made("web1", "last", []events.ChangeKind{events.ChangeCreate, events.ChangeDelete}[i%2])); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Append(made("web1", "last", events.ChangeCreate)); err != nil {
			t.Fatal(err)
		}
		if err := a.Tidy(); err != nil {
			t.Fatal(err)
		}
		if len(log.all) > 10 {
			t.Errorf("%d: the log has %d records", n, len(log.all))
		}
		shared := []string{"web1:first", "web1:last", "web2:other"}
		for of, f := range map[string]File{"b": b, "c": machine(t, log)} {
			if got := names(t, f); !slices.Equal(got, shared) {
				t.Errorf("%d: %s has %v", n, of, got)
			}
		}
		if got := names(t, a); !slices.Equal(got, append([]string{"localhost:own"}, shared...)) {
			t.Errorf("%d: a has %v", n, got)
		}
		// Who has read it all may write, and who has not is refused, and may afterwards.
		if err := b.Append(made("web1", "more", events.ChangeCreate)); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		err := a.Append(made("web1", "late", events.ChangeCreate), made("localhost", "late", events.ChangeCreate))
		if !errors.Is(err, errOvertaken) || Apart(err) == nil {
			t.Errorf("%d: the second writer: %v", n, err)
		}
		if got := names(t, a); slices.Contains(got, "localhost:late") || !slices.Contains(got, "web1:more") {
			t.Errorf("%d: a has %v", n, got)
		}
		if err := a.Append(made("web1", "late", events.ChangeCreate)); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestNothingIsAState takes up a state of a host that has nothing any more: it takes the place of what there was.
func TestNothingIsAState(t *testing.T) {
	log := &memory{name: "x"}
	a, b := machine(t, log), machine(t, log)
	if err := a.Append(made("web1", "one", events.ChangeCreate), made("localhost", "own", events.ChangeCreate)); err != nil {
		t.Fatal(err)
	}
	err := a.Change(func(s *prior.State) (prior.Record, error) {
		if len(s.Things) != 2 {
			t.Errorf("there are %v", s.Things)
		}
		return prior.Record{Whole: []prior.Thing{}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for of, f := range map[string]File{"a": a, "b": b} {
		if got := names(t, f); len(got) > 0 {
			t.Errorf("%s has %v", of, got)
		}
	}
}

// TestStandsFor has a playbook in a directory of a job be the one that was submitted, and no other playbook.
func TestStandsFor(t *testing.T) {
	StandFor("/tmp/moon-job", "/srv")
	defer delete(alias, "/tmp/moon-job")
	if a, b := Of("/state", "/tmp/moon-job", "site.yml"), Of("/state", "/srv", "site.yml"); a.Path() != b.Path() {
		t.Errorf("%s is not %s", a.Path(), b.Path())
	}
	if a, b := Of("/state", "/tmp/moon-job-2", "site.yml"), Of("/state", "/srv", "site.yml"); a.Path() == b.Path() {
		t.Error("another directory stands for it, too")
	}
}
