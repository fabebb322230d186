package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/events"
	"moon/exec/spec"
	"moon/internal/assault"
)

// TestActions runs every action's example on a scratch machine, as the documentation shows it: first a dry run, which
// must change nothing and predict what the run then does, then the run, and then both again, which must find
// nothing left to do. At the end what the run has created is taken away by what the actions have recorded for it, and the machine must be
// as before, but for what was only changed. testdata/actions/NAME.txtar has what the example needs:
//
//	the comment       a shell script that prepares the machine; it runs in /work, as everything does
//	playbook.yml      more steps, treated like the example
//	undo.yml          steps that only create; they are run and taken away
//	vars.yml          variables for both
//	verify.sh         what must hold after a run; what it writes down is in /tmp, which does not count
//	online            the machine has this one's network
//	restless          why a second run changes something again; only where it must
//	unforeseen        why a dry run cannot tell; only where it must
//	play              why the steps are the tasks of a play; only where they must
//	stays             what taking away what the example has created leaves, one in a line: a path, or TYPE:NAME of a
//	                  resource, with * for anything, and why
//	stays.undo        the same of undo.yml
//	recorded          what clients of a server have answered, for machines without it
//	unrun             why the example is only planned, and what test runs the action instead
//	any other         a file in /work
func TestActions(t *testing.T) {
	for _, a := range spec.All() {
		t.Run(a.Name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata/actions", a.Name+".txtar"))
			if err != nil {
				t.Fatalf("every action has a test of its example: %s", err)
			}
			t.Parallel()
			tryAction(t, a, archive)
		})
	}
}

// slowPrograms are actions that call programs which take many seconds.
var slowPrograms = map[string]bool{"apt_key": true, "git": true, "pip": true}

func tryAction(t *testing.T, a *spec.Action, archive *txtar.Archive) {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	take := func(name string) (string, bool) {
		data, ok := files[name]
		delete(files, name)
		return strings.TrimSpace(string(data)), ok
	}
	_, online := take("online")
	if slowPrograms[a.Name] {
		assault.Long(t)
	}
	_, inPlay := take("play")
	_, unrun := take("unrun")
	restless, again := take("restless")
	unforeseen, blind := take("unforeseen")
	for what, reason := range map[string]string{"restless": restless, "unforeseen": unforeseen} {
		if (again && what == "restless" || blind && what == "unforeseen") && reason == "" {
			t.Errorf("%s without a reason", what)
		}
	}
	verify, _ := take("verify.sh")
	stays := map[string]string{}
	stays["undo.yml"], _ = take("stays.undo")
	stays["example.yml"], _ = take("stays")
	stays["playbook.yml"] = stays["example.yml"]
	playbooks := map[string]string{"example.yml": a.Example}
	for _, name := range []string{"playbook.yml", "undo.yml"} {
		if more, ok := take(name); ok {
			playbooks[name] = more + "\n"
		}
	}
	for name, steps := range playbooks {
		if inPlay {
			tasks := "    " + strings.ReplaceAll(strings.TrimSpace(steps), "\n", "\n    ")
			playbooks[name] = "- hosts: localhost\n  tasks:\n" + tasks + "\n"
		}
	}
	taken := 0
	for _, name := range slices.Sorted(maps.Keys(playbooks)) {
		s := newScratch(t, online)
		for file, data := range files {
			s.write(t, file, data, 0o644)
		}
		s.write(t, name, []byte(playbooks[name]), 0o644)
		s.setTake(t, name)
		if script := strings.TrimSpace(string(archive.Comment)); script != "" {
			s.must(t, "set -e\n"+script)
		}
		if unrun {
			s.must(t, "moon plan "+name)
			continue
		}
		defer s.keepRecorded(t, filepath.Join("testdata/actions", a.Name+".txtar"), name)
		before := s.changes(t)
		var predicted []done
		if name != "undo.yml" {
			predicted = s.steps(t, name, "--check --diff")
			if after := s.changes(t); !maps.Equal(before, after) {
				t.Errorf("%s: a dry run changed %s", name, differing(before, after))
			}
		}
		did := s.steps(t, name, "--diff")
		if name != "undo.yml" {
			if !blind {
				compareSteps(t, name+": a dry run before", predicted, did)
			}
			if verify != "" {
				s.must(t, "set -e\n"+verify)
			}
			if !again {
				s.mustRest(t, name)
			}
		}
		if a.Check { // the others create nothing that moon knows of
			taken += s.takeAway(t, name, did, before, readStays(t, stays[name]))
		}
	}
	if a.Check && !unrun && !t.Failed() && !t.Skipped() {
		why, changes := onlyChanges[a.Name]
		switch {
		case taken == 0 && !changes:
			t.Errorf("no playbook of %s creates anything: add an undo.yml that does, or say in onlyChanges why it cannot", a.Name)
		case taken > 0 && changes:
			t.Errorf("%s creates something, although %s", a.Name, why)
		}
	}
}

// mustRest runs a playbook once more, of which nothing may be left to do.
func (s *scratch) mustRest(t *testing.T, playbook string) {
	t.Helper()
	before := s.changes(t)
	for _, flags := range []string{"--check --diff", "--diff"} {
		for _, done := range s.steps(t, playbook, flags) {
			if done.Changed {
				t.Errorf("%s %s, the second time: %s changed again: %+v", playbook, flags, done.Name, done.Diff)
			}
		}
	}
	if after := s.changes(t); !maps.Equal(before, after) {
		t.Errorf("%s: the second run changed %s", playbook, differing(before, after))
	}
}

// done is the end of a step, as the events tell it.
type done struct {
	Step      string
	Name      string
	Outcome   string
	Detail    string
	Changed   bool
	Diff      *events.Diff
	Resources []events.Resource
}

// steps runs a playbook, which must end well, and returns the ends of its steps.
func (s *scratch) steps(t *testing.T, playbook, flags string) (all []done) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(s.dir, "up/work/vars.yml")); err == nil {
		flags += " -e @vars.yml"
	}
	s.must(t, "moon run --approve all -o text -o json:events "+flags+" "+playbook)
	data, err := os.ReadFile(filepath.Join(s.dir, "up/work/events"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, `{"type":"step.completed"`) {
			continue
		}
		var d done
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// compareSteps holds what was predicted against what was done.
func compareSteps(t *testing.T, when string, predicted, did []done) {
	t.Helper()
	if len(predicted) != len(did) {
		t.Errorf("%s has %d steps, the run %d", when, len(predicted), len(did))
		return
	}
	for i, f := range predicted {
		d := did[i]
		if f.Diff != nil {
			f.Diff.Digest = "" // which only a prediction has
		}
		switch {
		case f.Diff == nil && d.Diff == nil:
		case f.Diff == nil || d.Diff == nil:
			if f.Diff == nil || f.Diff.Kind != events.ChangeUnknown { // a command
				t.Errorf("%s says %v of %s, the run %v", when, f.Diff, d.Name, d.Diff)
			}
		case *f.Diff != *d.Diff:
			t.Errorf("%s says of %s\n%+v\nand the run\n%+v", when, d.Name, *f.Diff, *d.Diff)
		}
	}
}

// differing says how two states of a machine differ.
func differing(before, after map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] {
			words = append(words, fmt.Sprintf("%s\n  %.200s\n  %.200s", name, before[name], after[name]))
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			words = append(words, name+" (undone)")
		}
	}
	return strings.Join(words, "\n")
}
