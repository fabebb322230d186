package script

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// runner writes one random playbook twice: what is looped over, included and added is known only in the run, or is written in variables.
// What the tasks do is the same.
type runner struct {
	*rand.Rand
	dir         string
	plays       bool
	open, known strings.Builder
	last        int
	lists       map[string]string // what registered results give, as JSON
	names       []string          // of them, in order
	registered  []string          // by loops
	included    int
}

var runItems = []string{`"a"`, `"b c"`, `"1.0"`, `7`, `1.5`, `true`, `"x"`, `{"k": "x", "a": 2}`, `["x", 2]`}

func (r *runner) one(n int) bool { return r.IntN(n) == 0 }

func (r *runner) both(in, format string, args ...any) {
	for _, b := range []*strings.Builder{&r.open, &r.known} {
		fmt.Fprintf(b, in+format+"\n", args...)
	}
}

// each writes a line that differs.
func (r *runner) each(in, open, known string) {
	fmt.Fprintln(&r.open, in+open)
	fmt.Fprintln(&r.known, in+known)
}

// list is a task that gives a list in the run.
func (r *runner) list(in string) {
	r.last++
	name := fmt.Sprintf("v%d", r.last)
	items := []string{}
	for range r.IntN(4) {
		items = append(items, runItems[r.IntN(len(runItems))])
	}
	text := "[" + strings.Join(items, ", ") + "]"
	r.lists[name], r.names = text, append(r.names, name)
	r.both(in, "- name: list %s", name)
	r.both(in, "  shell: \"echo '%s'\"", strings.ReplaceAll(text, `"`, `\"`))
	r.both(in, "  register: %s", name)
}

func (r *runner) loop(in string) {
	from := r.names[r.IntN(len(r.names))]
	r.each(in, fmt.Sprintf(`  loop: "{{ %s.stdout | from_json }}"`, from), "  loop: "+r.lists[from])
}

func (r *runner) task(in string) {
	r.last++
	name, item := fmt.Sprintf("t%d", r.last), ""
	loops := r.one(2)
	if loops {
		item = " {{ item | to_json | quote }}"
	}
	if len(r.registered) > 0 && r.one(2) {
		of := r.registered[r.IntN(len(r.registered))]
		item += fmt.Sprintf(" {{ %[1]s.results | default([]) | map(attribute='item') | list | to_json | quote }}"+
			" {{ %[1]s.results | default([]) | map(attribute='changed', default='none') | list | length }}", of)
	}
	r.both(in, "- name: %s", name)
	fails := "true"
	if r.one(3) {
		fails = fmt.Sprintf("test %d != 0", r.IntN(3))
		if loops {
			fails = "test {{ item | to_json | quote }} != '\\\"x\\\"'"
		}
	}
	host := ""
	if r.plays {
		host = " {{ inventory_hostname }}"
	}
	r.both(in, `  shell: "echo %s%s%s >> log; %s"`, name, host, item, fails)
	if loops {
		r.loop(in)
		switch r.IntN(4) {
		case 0:
			r.both(in, "  when: item != 'a'")
		case 1:
			r.both(in, "  register: e_%s", name)
			r.registered = append(r.registered, "e_"+name)
		}
	}
	if r.one(4) {
		r.both(in, "  ignore_errors: true")
	}
	if r.one(5) {
		r.both(in, "  changed_when: false")
	}
	if r.plays && r.one(3) {
		r.both(in, "  notify: said")
	}
}

// include names a file that the run finds.
func (r *runner) include(in string) {
	r.included++
	file := fmt.Sprintf("inc%d", r.included)
	host := ""
	if r.plays {
		host = " {{ inventory_hostname }}"
	}
	text := fmt.Sprintf("- name: in %[1]s\n  shell: echo %[1]s%[2]s >> log\n  register: r_%[1]s\n- name: also in %[1]s\n"+
		"  shell: echo also%[2]s {{ r_%[1]s.rc }} >> log\n", file, host)
	if err := os.WriteFile(filepath.Join(r.dir, file+".yml"), []byte(text), 0o600); err != nil {
		panic(err) // of a temporary directory
	}
	key := map[bool]string{true: "include_tasks", false: "include"}[r.plays]
	r.both(in, "- name: list %s", file)
	r.both(in, "  shell: echo %s", file)
	r.both(in, "  register: n_%s", file)
	r.each(in, fmt.Sprintf(`- %s: "{{ n_%s.stdout | trim }}.yml"`, key, file), fmt.Sprintf("- %s: %s.yml", key, file))
	r.both(in, "- name: after %s", file)
	r.both(in, "  shell: echo after%s {{ r_%s.changed }} >> log", host, file)
}

func (r *runner) tasks(in string, depth int) {
	for range 1 + r.IntN(3) {
		switch {
		case r.one(5):
			r.list(in)
		case r.one(5):
			r.include(in)
		case depth > 0 && r.one(3):
			r.both(in, "- block:")
			r.branch(in, depth)
			for _, part := range []string{"rescue", "always"} {
				if r.one(2) {
					r.both(in, "  %s:", part)
					r.branch(in, depth)
				}
			}
		default:
			r.task(in)
		}
	}
}

// branch writes tasks that may not be reached. What they register is used by no others.
func (r *runner) branch(in string, depth int) {
	names, registered := len(r.names), len(r.registered)
	r.tasks(in+"    ", depth-1)
	r.names, r.registered = r.names[:names], r.registered[:registered]
}

func (r *runner) write() {
	if !r.plays {
		r.list("")
		r.tasks("", 2)
		return
	}
	serial := ""
	if r.one(3) {
		serial = "\n  serial: 1"
	}
	r.both("", "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - name: new\n      shell: echo n1 n2\n      register: new")
	r.each("    ", `- add_host: {name: "{{ item }}", groups: web, ansible_connection: local}`+"\n      loop: \"{{ new.stdout.split() }}\"",
		"- add_host: {name: \"{{ item }}\", groups: web, ansible_connection: local}\n      loop: [n1, n2]")
	r.both("", "- hosts: web\n  gather_facts: false%s\n  tasks:", serial)
	r.list("    ")
	r.tasks("    ", 2)
	r.both("  ", "handlers:\n    - name: said\n      shell: \"echo said {{ inventory_hostname }} {{ item }} >> log\"")
	r.loop("    ")
	r.both("", "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - name: end\n      shell: echo end {{ groups.web | join(' ') }} >> log")
}

// run runs one of the two, and gives the lines of its log, what became of its steps, and how it ended. The order is that of one host.
func (r *runner) run(t *testing.T, text string) []string {
	t.Helper()
	for _, name := range []string{"log", "events"} {
		_ = os.Remove(filepath.Join(r.dir, name))
	}
	if err := os.WriteFile(filepath.Join(r.dir, "p.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "p.yml", "--forks", "1", "-o", "json:events"}
	if r.plays {
		args = append(args, "-i", "h1,h2,", "-e", "ansible_connection=local")
	}
	out, ok := fakes.MoonIn(t, r.dir)(args...)
	all := []string{fmt.Sprint("success: ", ok)}
	events, err := os.ReadFile(filepath.Join(r.dir, "events"))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	log, _ := os.ReadFile(filepath.Join(r.dir, "log")) // a run that fails at once has none
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if r.plays { // hosts do not wait for each other in a task
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(hostOf(a), hostOf(b)) })
	}
	all = append(all, lines...)
	var ends []string
	for line := range strings.Lines(string(events)) {
		if !strings.Contains(line, `"type":"step.`) {
			continue
		}
		var e struct {
			Type, Path, Host, Reason string
			Changed, Ignored         bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		name := e.Path[strings.LastIndex(e.Path, "/")+1:]
		switch place, _, _ := strings.Cut(name, "@"); {
		case strings.HasSuffix(place, "?"), strings.HasSuffix(name, "?"), strings.HasPrefix(name, "include"): // only one of the runs has it
		case e.Type == "step.completed", e.Type == "step.failed", e.Type == "step.skipped" && e.Reason == "when":
			ends = append(ends, fmt.Sprintf("%s: %s on %s, changed %t, ignored %t", e.Type, name, e.Host, e.Changed, e.Ignored))
		}
	}
	slices.Sort(ends) // a condition that is known may be decided before the step has its turn
	return append(all, ends...)
}

// hostOf is the host that a line of the log names.
func hostOf(line string) string {
	if words := strings.Fields(line); len(words) > 1 {
		return words[1]
	}
	return ""
}

// TestGrownRun holds a run whose loops, includes and hosts are found on the way to one in which they are known from the start: the lines of
// its log, what became of each step, what loops have registered, and how it ended. GROWN_SEED=n replays one.
func TestGrownRun(t *testing.T) {
	first, seeds := uint64(0), uint64(assault.Rounds(240, 240))
	if text := os.Getenv("GROWN_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	}
	assault.Tried(t, "runs that grow", int(seeds))
	steps := 0
	for seed := first; seed < first+seeds; seed++ {
		r := &runner{Rand: rand.New(rand.NewPCG(seed, 5)), dir: t.TempDir(), lists: map[string]string{}}
		r.plays = r.one(2)
		r.write()
		open, known := r.run(t, r.open.String()), r.run(t, r.known.String())
		steps += len(known)
		if !slices.Equal(open, known) {
			t.Fatalf("GROWN_SEED=%d\n%s\n--- open\n%s\n--- known\n%s", seed, r.open.String(), strings.Join(open, "\n"), strings.Join(known, "\n"))
		}
	}
	if seeds > 20 && steps < int(seeds)*10 {
		t.Errorf("only %d lines were compared", steps)
	}
}
