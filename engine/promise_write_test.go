package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// part is a task or a block of a random playbook. Its name is in no other, and stays the same when the playbook is edited.
type part struct {
	name    string
	version int    // of its definition: an edit makes another
	action  string // shell, set_fact, copy, pause, include; "" for a block
	extra   []string
	using   string   // the values that it uses, as templates
	items   []string // of its loop
	over    string   // of an open loop: what it is over
	tasks   []*part  // of an include, or the body
	rescue  []*part
	always  []*part
}

// author writes random playbooks, in steps or in plays, and edits them.
type author struct {
	*rand.Rand
	dir      string
	plays    bool
	parts    []*part
	handlers []*part
	rate     int
	last     int
	known    []string // registered results that what follows may use
	looped   map[string]bool
	inline   int // inside includes, which handlers and pauses are kept out of
}

func newAuthor(r *rand.Rand, dir string) *author {
	a := &author{Rand: r, dir: dir, plays: r.IntN(2) == 0, rate: 1, looped: map[string]bool{}}
	if a.plays {
		for range a.IntN(3) {
			a.handlers = append(a.handlers, &part{name: a.name(), action: "shell"})
		}
	}
	a.parts = a.list(2)
	return a
}

func (a *author) one(n int) bool { return a.IntN(n) == 0 }

func (a *author) name() string {
	a.last++
	return fmt.Sprintf("k%d", a.last)
}

func (a *author) list(depth int) []*part {
	var l []*part
	for range 1 + a.IntN(3) {
		switch {
		case depth > 0 && a.one(4):
			l = append(l, a.block(depth))
		case depth > 0 && a.one(8):
			l = append(l, a.include(depth))
		default:
			l = append(l, a.task())
		}
	}
	return l
}

func (a *author) block(depth int) *part {
	b := &part{name: a.name()}
	if a.one(4) {
		b.extra = append(b.extra, "parallel: true")
	}
	if len(a.known) > 0 && a.one(6) {
		b.extra = append(b.extra, a.whenResult())
	}
	b.tasks = a.list(depth - 1)
	if !a.one(3) {
		b.rescue = a.list(depth - 1)
	}
	if a.one(2) {
		b.always = a.list(depth - 1)
	}
	return b
}

func (a *author) include(depth int) *part {
	p := &part{name: a.name(), action: "include"}
	if len(a.known) > 0 && a.one(2) {
		p.extra = append(p.extra, a.whenResult())
	}
	a.inline++
	p.tasks = a.list(depth - 1)
	a.inline--
	return p
}

// when is a condition on a result, or on what the plan knows.
func (a *author) when() string {
	if len(a.known) == 0 || a.one(8) {
		return "when: " + []string{"rate > 0", "rate > 9"}[a.IntN(2)]
	}
	return a.whenResult()
}

// whenResult is a condition that only the run knows: what the plan knows to be left out gives nothing that others could use.
func (a *author) whenResult() string {
	v := a.known[a.IntN(len(a.known))]
	tests := []string{v + " is defined", v + " is undefined", v + " is defined or rate > 9"}
	if !a.looped[v] {
		tests = append(tests, v+".rc == 0", v+".rc == 0", v+".changed", v+".rc == 0 or rate == 2", v+".rc == rate - 1")
	}
	return "when: " + tests[a.IntN(len(tests))]
}

func (a *author) task() *part {
	p := &part{name: a.name(), action: "shell"}
	switch a.IntN(14) {
	case 0:
		p.action = "copy"
	case 1:
		p.action = "set_fact"
	case 2:
		if !a.plays && a.inline == 0 {
			p.action = "pause"
			return p
		}
	case 3:
		if !a.plays {
			p.extra = append(p.extra, "confirm: really")
		}
	}
	if p.action == "shell" && a.one(3) {
		p.using += " r={{ rate }}"
	}
	if len(a.known) > 0 && a.one(2) {
		v := a.known[a.IntN(len(a.known))]
		switch {
		case a.looped[v]:
			p.using += " {{ " + v + " is defined }}"
		case a.one(2):
			p.using += " {{ " + v + ".stdout | default('none') }}"
		default:
			p.using += " {{ " + v + ".stdout }}"
		}
	}
	if a.one(4) {
		p.extra = append(p.extra, a.when())
	}
	if a.one(6) {
		p.extra = append(p.extra, "ignore_errors: true")
	}
	if p.action == "shell" {
		a.register(p)
	}
	if len(a.handlers) > 0 && a.one(3) {
		p.extra = append(p.extra, "notify: "+a.handlers[a.IntN(len(a.handlers))].name)
	}
	return p
}

// register lets a task repeat itself, and what follows use its result.
func (a *author) register(p *part) {
	delay := map[bool]string{true: "delay: 0", false: "retry_delay: 0"}[a.plays]
	v := "v" + strings.TrimPrefix(p.name, "k")
	switch {
	case len(a.known) > 0 && a.one(5):
		from := a.known[a.IntN(len(a.known))]
		if p.over = "['x', 'y'][:" + from + ".rc | default(0) + 1]"; a.looped[from] {
			p.over = from + ".results | map(attribute='rc', default=7) | list"
		} else if a.one(2) {
			p.over = from + ".stdout_lines | default(['d', 'e'])"
		}
	case a.one(6):
		p.items = []string{"a", "b", "c"}[:1+a.IntN(3)]
	case a.one(4):
		p.extra = append(p.extra, "retries: 2", delay, "register: "+v, "until: "+v+".rc == 0")
		a.known = append(a.known, v)
		return
	}
	if a.one(2) {
		p.extra = append(p.extra, "register: "+v)
		a.known, a.looped[v] = append(a.known, v), p.items != nil || p.over != ""
	}
}

// each goes through parts and those inside them.
func each(l []*part, f func(*part)) {
	for _, p := range l {
		f(p)
		each(p.tasks, f)
		each(p.rescue, f)
		each(p.always, f)
	}
}

// edit changes the playbook as a person might: other definitions, and further steps.
func (a *author) edit() {
	for range 1 + a.IntN(2) {
		var tasks []*part
		each(a.parts, func(p *part) {
			if p.action == "shell" || p.action == "set_fact" {
				tasks = append(tasks, p)
			}
		})
		switch {
		case a.one(3):
			p := &part{name: a.name(), action: "shell"}
			a.parts = slices.Insert(a.parts, a.IntN(len(a.parts)+1), p)
		case a.one(6):
			a.rate++
		case len(tasks) > 0:
			tasks[a.IntN(len(tasks))].version++
		}
	}
}

// write writes the playbook and all that it includes.
func (a *author) write() string {
	var b strings.Builder
	if a.plays {
		fmt.Fprintf(&b, "- name: play\n  hosts: all\n  gather_facts: false\n  vars: {rate: %d}\n  tasks:\n", a.rate)
		a.print(&b, a.parts, "    ")
		if len(a.handlers) > 0 {
			b.WriteString("  handlers:\n")
			a.print(&b, a.handlers, "    ")
		}
	} else {
		fmt.Fprintf(&b, "vars: {rate: %d}\nsteps:\n", a.rate)
		a.print(&b, a.parts, "  ")
	}
	a.save("p.yml", b.String())
	return b.String()
}

func (a *author) save(name, text string) {
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func (a *author) print(b *strings.Builder, l []*part, in string) {
	for _, p := range l {
		word := p.name
		if p.items != nil || p.over != "" {
			word += ".{{ item }}"
		}
		if a.plays && p.action != "" && p.action != "include" {
			word += ".{{ inventory_hostname }}"
		}
		fmt.Fprintf(b, "%s- name: %s\n", in, p.name)
		in := in + "  "
		switch p.action {
		case "":
			fmt.Fprintf(b, "%sblock:\n", in)
			a.print(b, p.tasks, in+"  ")
			if p.rescue != nil {
				fmt.Fprintf(b, "%srescue:\n", in)
				a.print(b, p.rescue, in+"  ")
			}
			if p.always != nil {
				fmt.Fprintf(b, "%salways:\n", in)
				a.print(b, p.always, in+"  ")
			}
		case "include":
			verb := map[bool]string{true: "include_tasks", false: "include"}[a.plays]
			fmt.Fprintf(b, "%s%s: %s.yml\n", in, verb, p.name)
			var inner strings.Builder
			a.print(&inner, p.tasks, "")
			a.save(p.name+".yml", inner.String())
		case "pause":
			fmt.Fprintf(b, "%spause: look\n", in)
		case "copy":
			a.touch(p.name, false)
			fmt.Fprintf(b, "%scopy: {src: %s.txt, dest: %s/%s.out}\n", in, p.name, a.dir, p.name)
		case "set_fact":
			fmt.Fprintf(b, "%sset_fact: {f_%s: \"%s d=%d;%s\"}\n", in, p.name, p.name, p.version, p.using)
		default:
			fmt.Fprintf(b, "%sshell: \"%s d=%d;%s\"\n", in, word, p.version, p.using)
		}
		if p.items != nil {
			fmt.Fprintf(b, "%sloop: [%s]\n", in, strings.Join(p.items, ", "))
		}
		if p.over != "" {
			fmt.Fprintf(b, "%sloop: \"{{ %s }}\"\n", in, p.over)
		}
		for _, line := range p.extra {
			fmt.Fprintf(b, "%s%s\n", in, line)
		}
	}
}

// touch makes the file that a copy reads, or changes it.
func (a *author) touch(name string, change bool) {
	path := filepath.Join(a.dir, name+".txt")
	if old, err := os.ReadFile(path); err == nil && !change {
		return
	} else if err := os.WriteFile(path, append(old, 'x'), 0o600); err != nil {
		panic(err)
	}
}

// reading are the names of what reads files.
func (a *author) reading() (names []string) {
	each(a.parts, func(p *part) {
		if p.action == "copy" {
			names = append(names, p.name)
		}
	})
	return names
}
