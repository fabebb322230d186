package statefile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"moon/plan/prior"
)

// Log keeps the records of hosts where other machines find them, too: in one order for each playbook.
type Log interface {
	// Fetch gives what is there of a playbook after a place, the oldest first and each with its place and the name of the log, and which
	// place is the last. If the log has another name than is given, it gives nothing, and no place.
	Fetch(playbook, log string, after uint64) (records []prior.Record, last uint64, err error)
	// Append adds batches, and says where they are. One whose host has something after the place that it names is refused.
	Append(playbook string, batches []Batch) error
}

// Batch is some records of one host; "" stands for the playbook as a whole.
type Batch struct {
	Host    string
	After   uint64 // the last place of the host that its writer knows of
	Alone   bool   // what was there before is dropped: the records are the whole state of the host
	Records []prior.Record
	Seq     uint64 // the place that it has been given
}

// SharedError says that the log could not be read, or has not taken records.
type SharedError struct{ Err error }

func (e *SharedError) Error() string { return e.Err.Error() }
func (e *SharedError) Unwrap() error { return e.Err }

// Apart is why a run must not make anything more after an error: other machines would not know of it. nil: it may continue.
func Apart(err error) error {
	if _, is := errors.AsType[*SharedError](err); is {
		return errors.New("other machines decide by what is recorded what they remove")
	}
	return nil
}

// sharing is the log of this process, and how much of it the process has read.
type sharing struct {
	log Log
	mu  sync.Mutex
	// By file and host: what others have written after it, this process decides nothing about.
	seen map[string]map[string]uint64
}

// shared is the log, if there is one; and alias the directories that stand for those of playbooks.
var (
	shared *sharing
	alias  = map[string]string{}
)

// Share has all states of this process be shared. It is called before any is read.
func Share(log Log) { shared = &sharing{log: log, seen: map[string]map[string]uint64{}} }

// StandFor has the state of a playbook in a temporary directory be that of the playbook in the directory where it was written.
func StandFor(dir, original string) { alias[dir] = original }

// isHere reports whether a host is the machine that moon runs on: what was made there, other machines have nothing to do with.
func isHere(host string) bool {
	return host == "" || host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// settled are the records of the file, which the log is asked about once.
func (f File) settled() ([]prior.Record, error) {
	if f.with == nil || f.with.hasRead(f.path) {
		return f.here()
	}
	return f.Records()
}

func (s *sharing) hasRead(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[path] != nil
}

// logOf is the name of the log that records are from.
func logOf(records []prior.Record) (name string) {
	for i := range records {
		name = cmp.Or(records[i].Log, name)
	}
	return name
}

// places are where the records of a file are in the log: the last of all, and of each host. Those that were written before there was a log
// are nowhere: their hosts are given apart.
func places(records []prior.Record) (last uint64, of map[string]uint64, nowhere map[string]bool) {
	of, nowhere = map[string]uint64{}, map[string]bool{}
	for i := range records {
		r := &records[i]
		last = max(last, r.Seq)
		switch {
		case r.Whole != nil && r.Part == "":
			of, nowhere = map[string]uint64{}, map[string]bool{}
			maps.Copy(of, r.Seen)
			for j := range r.Whole {
				if host := r.Whole[j].Host; !isHere(host) && of[host] == 0 {
					nowhere[host] = true
				}
			}
		case r.Whole != nil:
			if of[r.Part] = max(of[r.Part], r.Seq); r.Seq > 0 {
				delete(nowhere, r.Part)
			}
		case len(r.Moved) > 0:
			of[""] = max(of[""], r.Seq)
		default:
			for _, host := range r.Hosts() {
				if of[host] = max(of[host], r.Seq); r.Seq == 0 && !isHere(host) {
					nowhere[host] = true
				}
			}
		}
	}
	return last, of, nowhere
}

// pull takes into the file what the log has in addition, and gives all records. The caller holds the lock of the file.
func (f File) pull() ([]prior.Record, error) {
	const tries = 3 // others may be putting there what they know at the same moment
	known := false
	for try := 1; ; try++ {
		have, err := f.here()
		if err != nil {
			return nil, err
		}
		at, _, mine := places(have)
		more, last, err := f.with.log.Fetch(f.Name(), logOf(have), at)
		if err == nil && last < at {
			// The log is another one, and what this machine knows of hosts is nowhere any more. It is put there again.
			if err := f.shorten(prior.Record{}, prior.Fold(have)); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, &SharedError{err}
		}
		all := slices.Concat(have, more)
		if len(mine) == 0 || known {
			if len(more) > 0 {
				if err := f.write(serialOf(have), more); err != nil {
					return nil, err
				}
			}
			_, of, _ := places(all)
			f.with.mu.Lock()
			f.with.seen[f.path] = of
			f.with.mu.Unlock()
			return all, nil
		}
		// Published before what was fetched is written: a crash in between leaves it to the next time.
		err = f.with.log.Append(f.Name(), firstOf(have, all, mine))
		if known = err == nil; !known && try == tries {
			return nil, &SharedError{err}
		}
	}
}

// firstOf are the states of hosts that only this machine has, with what the log has of the same hosts.
func firstOf(have, all []prior.Record, mine map[string]bool) (batches []Batch) {
	own, both := prior.Fold(have), prior.Fold(all)
	_, of, _ := places(all)
	for _, host := range slices.Sorted(maps.Keys(mine)) {
		r, before := both.PartOf(host), own.PartOf(host)
		for i := range before.Whole {
			if both.Find(before.Whole[i].Key()) == nil {
				r.Whole = append(r.Whole, before.Whole[i])
			}
		}
		for step, digest := range before.Defined {
			if _, has := r.Defined[step]; !has {
				r.Defined[step] = digest
			}
		}
		batches = append(batches, Batch{Host: host, After: of[host], Records: []prior.Record{r}})
	}
	return batches
}

// publish has the log take the records that are about hosts, and gives those that are about this machine. The caller holds the lock of the
// file, and has pulled.
func (f File) publish(records []prior.Record) (rest []prior.Record, err error) {
	var batches []Batch
	put := func(host string, r prior.Record) {
		if i := slices.IndexFunc(batches, func(b Batch) bool { return b.Host == host }); i >= 0 {
			batches[i].Records = append(batches[i].Records, r)
			return
		}
		batches = append(batches, Batch{Host: host, Records: []prior.Record{r}})
	}
	for i := range records {
		hosts := records[i].Hosts()
		if len(hosts) == 0 && records[i].Part != "" {
			hosts = []string{records[i].Part}
		}
		if len(hosts) == 0 {
			put("", records[i]) // steps that have other paths now have them everywhere
			continue
		}
		for _, host := range hosts {
			if one := records[i].Only(host); isHere(host) {
				rest = append(rest, one)
			} else {
				put(host, one)
			}
		}
	}
	if len(batches) == 0 {
		return rest, nil
	}
	f.with.mu.Lock()
	defer f.with.mu.Unlock()
	seen := f.with.seen[f.path]
	for i := range batches {
		batches[i].After = seen[batches[i].Host]
	}
	if err := f.with.log.Append(f.Name(), batches); err != nil {
		return nil, &SharedError{err}
	}
	for _, b := range batches {
		seen[b.Host] = b.Seq
	}
	return rest, nil
}

// appendShared adds records of a run. Those of hosts are in the log first, and come into the file when it is read the next time: so it has
// them in the order of the log, and a crash in between loses none.
func (f File) appendShared(records []prior.Record) error {
	if !f.with.hasRead(f.path) {
		if _, err := f.pull(); err != nil {
			return err
		}
	}
	rest, err := f.publish(records)
	if err != nil {
		return err
	}
	// What follows new paths of steps must come after them in the file.
	if slices.ContainsFunc(records, func(r prior.Record) bool { return len(r.Moved) > 0 }) {
		if _, err := f.pull(); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	last, err := f.lastSerial()
	if err != nil {
		return err
	}
	return f.write(last, rest)
}

// changeShared adds what a person has asked for, who has seen the state that was pulled.
func (f File) changeShared(have []prior.Record, r prior.Record) error {
	records := []prior.Record{r}
	if r.Whole != nil {
		records = partsOf(prior.Fold(have), r)
	}
	if err := f.appendShared(records); err != nil {
		return err
	}
	_, err := f.pull()
	return err
}

// partsOf is a whole state as those of its hosts, also of hosts that have nothing any more.
func partsOf(now *prior.State, whole prior.Record) (records []prior.Record) {
	next := prior.State{Things: whole.Whole, Definitions: whole.Defined}
	hosts := []string{"localhost"}
	for _, t := range slices.Concat(now.Things, next.Things) {
		hosts = append(hosts, t.Host)
	}
	slices.Sort(hosts)
	for _, host := range slices.Compact(hosts) {
		if host == "" { // in a record it would stand for all
			continue
		}
		r := next.PartOf(host)
		r.Maker = whole.Maker
		records = append(records, r)
	}
	return records
}

// compact has the log keep the state of each host of which there are so many records, and most no longer count. If another process writes
// at the same time, it is left to the next run.
func (f File) compact(have []prior.Record, least int) {
	now, n := prior.Fold(have), map[string]int{}
	for i := range have {
		if r := &have[i]; r.Whole != nil {
			delete(n, r.Part)
		} else if r.Seq > 0 && !isHere(r.Host) {
			n[r.Host]++
		}
	}
	var batches []Batch
	_, of, _ := places(have)
	for _, host := range slices.Sorted(maps.Keys(n)) {
		if r := now.PartOf(host); n[host] >= least && (n[host] >= 4*len(r.Whole) || least < longest) {
			batches = append(batches, Batch{Host: host, After: of[host], Alone: true, Records: []prior.Record{r}})
		}
	}
	if len(batches) > 0 {
		_ = f.with.log.Append(f.Name(), batches) // it is only longer without
	}
}

// longest is how many records of one host the log may have without being made short.
const longest = 200
