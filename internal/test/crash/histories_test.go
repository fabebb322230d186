package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/engine/statefile"
	"moon/events"
	"moon/internal/assault"
	"moon/internal/test/fakes"
	"moon/plan/prior"
)

// historySeed names the history to replay, and no other.
const historySeed = "HISTORY_SEED"

// written is a step of a random playbook.
type written struct {
	name, kind, path, text string
	items                  []string
	when, block, moved     string
}

// render writes it, indented.
func (w *written) render(m, in string) string {
	s := in + "- name: " + w.name + "\n"
	path := m + "/" + w.path
	if w.items != nil {
		path += "-{{ item }}"
	}
	switch w.kind {
	case "directory":
		s += fmt.Sprintf("%s  file: {path: %q, state: directory}\n", in, path)
	case "link":
		s += fmt.Sprintf("%s  file: {path: %q, state: link, src: %q}\n", in, path, m+"/keep/mine")
	case "copy":
		s += fmt.Sprintf("%s  copy: {dest: %q, content: %q}\n", in, path, w.text+"\n")
	case "line":
		s += fmt.Sprintf("%s  lineinfile: {path: %q, line: %q, create: true}\n", in, path, "moon line "+w.text)
	case "block":
		s += fmt.Sprintf("%s  blockinfile: {path: %q, block: %q, marker: %q, create: true}\n", in, path, "moon "+w.text, "# {mark} moon "+w.text)
	case "shell":
		s += fmt.Sprintf("%s  shell: %q\n%s  undo: {shell: %q}\n", in, "touch "+path, in, "rm -f "+path)
	}
	if w.items != nil {
		s += in + "  loop: [" + strings.Join(w.items, ", ") + "]\n"
	}
	if w.when != "" {
		s += in + "  when: " + w.when + "\n"
	}
	if w.moved != "" {
		s += in + "  moved: " + w.moved + "\n"
	}
	return s
}

// history is a random one: a playbook that is edited, a machine that a person works on too, and what is known to be whose.
type history struct {
	t        *testing.T
	rng      *rand.Rand
	p        fakes.Patient
	m        string // the directory that is the machine
	steps    []*written
	log      []string
	ours     map[string]string // what a person has, with its content; of a file that moon adds lines to only the name counts
	times    map[string]string // when the files were changed that nothing of the playbook touches
	edited   map[string]string // files of moon's that a person has edited since
	deleted  map[string]bool   // and deleted
	loose    map[string]bool   // left by what was interrupted, and recorded by nobody
	left     bool              // lines may have been left behind, as they were forgotten
	people   []string          // lines that a person has written into a file
	interred int
}

func pick[T any](h *history, of ...T) T { return of[h.rng.IntN(len(of))] }

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) step() *written {
	w := &written{name: "n" + strconv.Itoa(h.rng.IntN(9)), kind: pick(h, "directory", "copy", "copy", "link", "line", "block", "shell"), text: pick(h, "x", "y", "z")}
	switch w.kind {
	case "directory":
		w.path = pick(h, "d", "e", "d/sub", "keep/new")
	case "copy":
		w.path = pick(h, "a", "b", "d/a", "d/b", "e/a", "keep/c", "d/sub/a")
	case "link":
		w.path = pick(h, "l", "keep/l", "d/l")
	case "line", "block":
		w.path = pick(h, "pre", "cfg")
	case "shell":
		// Called by what it does: under a path that was another command's it would replace the undo of that.
		w.path = pick(h, "s1", "s2", "keep/s3")
		w.name = "makes " + w.path
	}
	if h.rng.IntN(5) == 0 && w.kind != "line" && w.kind != "block" {
		w.items = slices.Clone([]string{"p", "q", "r"}[:1+h.rng.IntN(3)])
	}
	if h.rng.IntN(12) == 0 {
		w.when = "false"
	}
	if h.rng.IntN(4) == 0 {
		w.block = pick(h, "one", "two")
	}
	return w
}

// edit changes the playbook at random.
func (h *history) edit() {
	for range 1 + h.rng.IntN(3) {
		if len(h.steps) == 0 {
			h.steps = append(h.steps, h.step())
			continue
		}
		at := h.rng.IntN(len(h.steps))
		w := *h.steps[at]
		w.moved = ""
		switch h.rng.IntN(9) {
		case 0, 1:
			h.steps = slices.Insert(h.steps, at, h.step())
			continue
		case 2, 3:
			h.steps = slices.Delete(h.steps, at, at+1)
			continue
		case 4:
			h.rng.Shuffle(len(h.steps), func(i, j int) { h.steps[i], h.steps[j] = h.steps[j], h.steps[i] })
			continue
		case 5:
			if w.kind == "shell" {
				continue
			}
			old := w.name
			w.name = "n" + strconv.Itoa(h.rng.IntN(9))
			names := 0
			for _, s := range h.steps {
				if s.name == old || s.name == w.name {
					names++
				}
			}
			if h.rng.IntN(2) == 0 && names == 1 && w.block == "" {
				w.moved = old
			}
		case 6:
			if other := h.step(); other.kind == w.kind {
				w.path, w.text = other.path, other.text
				if w.kind == "shell" {
					w.name = other.name
				}
			}
		case 7:
			w.items = pick(h, nil, []string{"p"}, []string{"q", "r"}, []string{"r", "p", "s"})
			if w.kind == "line" || w.kind == "block" {
				w.items = nil
			}
		case 8:
			w.when = pick(h, "", "true", "false")
		}
		h.steps[at] = &w
	}
}

// write writes the playbook: directories first, mostly, and some of it in blocks and an included file.
func (h *history) write(fail bool) {
	var top, included string
	blocks := map[string]string{}
	boom := -1
	if fail {
		boom = h.rng.IntN(len(h.steps) + 1)
	}
	for i, w := range h.steps {
		if i == boom {
			top += "- name: boom\n  shell: exit 1\n"
		}
		switch w.block {
		case "":
			top += w.render(h.m, "")
		case "one":
			blocks["one"] += w.render(h.m, "    ")
		default:
			included += w.render(h.m, "")
		}
	}
	if boom == len(h.steps) {
		top += "- name: boom\n  shell: exit 1\n"
	}
	if text := blocks["one"]; text != "" {
		top += "- name: one\n  block:\n" + text
	}
	if included != "" {
		top += "- include: more.yml\n"
	}
	top = "- name: start\n  debug: {msg: start}\n" + top
	for name, text := range map[string]string{"playbook.yml": top, "more.yml": included} {
		if err := os.WriteFile(filepath.Join(h.p.Dir, name), []byte(text), 0o644); err != nil {
			h.t.Fatal(err)
		}
	}
	h.note("playbook:\n%sincluded:\n%s", top, included)
}

// moon runs it, and gives the exit code.
func (h *history) moon(env string, args ...string) int {
	h.t.Helper()
	cmd := h.p.Command("run", env)
	cmd.Args = append(cmd.Args[:1:1], args...)
	if args[0] != "resume" {
		cmd.Args = append(cmd.Args, "--approve", "all", h.p.Playbook)
	}
	out, err := cmd.CombinedOutput()
	h.note("moon %s (%s): %v\n%s", strings.Join(args, " "), env, err, out)
	if exit, is := err.(*exec.ExitError); is { //nolint:errorlint // as Command gives it
		return exit.ExitCode()
	} else if err != nil {
		h.t.Fatal(err)
	}
	return 0
}

// machine lists what there is: the content of files, with their modes, and where links point to.
func (h *history) machine() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(h.m, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == h.m || strings.HasPrefix(d.Name(), ".moon-") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += " " + string(text)
		} else if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " " + to
		}
		rel, _ := filepath.Rel(h.m, path)
		all[rel] = what
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// state is what is recorded.
func (h *history) state() *prior.State {
	root, err := filepath.EvalSymlinks(h.p.Dir)
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := statefile.Of(filepath.Join(h.p.Dir, "state/moon/state"), root, "playbook.yml").Read()
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// recorded are the files that moon has created, by its own account, and whether it knows of a step's undo that removes one.
func (h *history) recorded() (created map[string]bool, undone string) {
	created = map[string]bool{}
	for _, t := range h.state().Things {
		if rel, ok := strings.CutPrefix(t.Name, h.m+"/"); ok && t.Type == events.FileResource && t.Created {
			created[rel] = true
		}
		if t.Type == prior.StepUndo && t.Undo != nil {
			undone += fmt.Sprint(t.Undo.Args) + "\n"
		}
	}
	return created, undone
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), strings.Join(h.log, "\n"))
}

// given reports whether a step of the playbook writes a path.
func (h *history) given(path string) bool {
	return slices.ContainsFunc(h.steps, func(w *written) bool {
		return w.path == path || w.items != nil && strings.HasPrefix(path, w.path+"-")
	})
}

// compare holds the machine against what is recorded and what a person has.
func (h *history) compare(dead bool) {
	h.t.Helper()
	now := h.machine()
	created, undone := h.recorded()
	for path := range h.deleted {
		if _, there := now[path]; there {
			delete(h.deleted, path)
		}
	}
	for path := range created {
		if _, there := now[path]; !there && !h.deleted[path] && !h.deleted[filepath.Dir(path)] {
			h.fail("%s is recorded as created, and is not there", path)
		}
	}
	for path := range now {
		_, person := h.ours[path]
		switch {
		case person, created[path], h.loose[path]:
		case strings.Contains(undone, "rm -f "+h.m+"/"+path+"]"):
		case dead: // what a crash interrupts is recorded by nobody: a file that is there already is not one that the next attempt creates
			h.loose[path] = true
			h.interred++
		default:
			h.fail("%s was made by moon, and is not recorded", path)
		}
	}
	for path, was := range h.ours {
		is, there := now[path]
		switch {
		case !there:
			h.fail("%s was not moon's, and is gone", path)
		case was != "" && was != is:
			h.fail("%s was not moon's: it was %q and is %q", path, was, is)
		}
	}
	for path, was := range h.edited {
		is, there := now[path]
		switch {
		case there && is == was, h.deleted[path]:
		case h.given(path):
			delete(h.edited, path)
		default:
			h.fail("%s was edited by a person: it had %q, now %q", path, was, is)
		}
	}
	if got := h.peoplesLines(now["pre"]); !slices.Equal(got, h.people) {
		h.fail("the lines of a person are %q, and were %q", got, h.people)
	}
	for path, was := range h.times {
		if info, err := os.Stat(filepath.Join(h.m, path)); err != nil || info.ModTime().String() != was {
			h.fail("%s was touched: %v", path, err)
		}
	}
}

// peoplesLines are those that moon has not written.
func (*history) peoplesLines(text string) (list []string) {
	_, text, _ = strings.Cut(text, " ") // the mode
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "moon ") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// person does something on the machine.
func (h *history) person() {
	must := func(err error) {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	now := h.machine()
	created, _ := h.recorded()
	var files []string
	for _, path := range slices.Sorted(maps.Keys(created)) {
		if what := now[path]; strings.HasPrefix(what, "-") && path != "cfg" {
			files = append(files, path)
		}
	}
	if len(files) > 0 && h.rng.IntN(2) == 0 {
		path := pick(h, files...)
		if h.rng.IntN(2) == 0 {
			h.note("a person deletes %s", path)
			must(os.Remove(filepath.Join(h.m, path)))
			h.deleted[path] = true
			return
		}
		h.note("a person edits %s", path)
		f, err := os.OpenFile(filepath.Join(h.m, path), os.O_APPEND|os.O_WRONLY, 0)
		must(err)
		_, err = f.WriteString("edited\n")
		must(err)
		must(f.Close())
		h.edited[path] = h.machine()[path]
		return
	}
	dir := pick(h, "d", "e", "keep", "d/sub")
	path := filepath.Join(dir, "own"+strconv.Itoa(h.rng.IntN(3)))
	if _, there := now[dir]; !there {
		return
	}
	h.note("a person puts %s there", path)
	must(os.WriteFile(filepath.Join(h.m, path), []byte("own\n"), 0o600))
	h.ours[path] = h.machine()[path]
}

// forget takes what is no longer recorded for what a person has.
func (h *history) forget(before map[string]bool, undone string) {
	created, _ := h.recorded()
	for path := range h.machine() {
		if _, person := h.ours[path]; !person && !created[path] && (before[path] || strings.Contains(undone, "/"+path+"]")) {
			h.loose[path] = true
		}
	}
	h.left = true
}

// act does one thing.
func (h *history) act() {
	h.t.Helper()
	dead := false
	n := h.rng.IntN(100)
	if n < 75 && h.rng.IntN(10) < 6 {
		h.edit()
	}
	h.write(n >= 55 && n < 65)
	switch {
	case n < 30, n >= 55 && n < 60:
		h.moon("", "run")
	case n < 50, n >= 60 && n < 65:
		h.moon("", "run", "--orphans", "remove")
	case n < 55:
		created, undone := h.recorded()
		if h.moon("", "run", "--orphans", "forget") == 0 {
			h.forget(created, undone)
		}
	case n < 72:
		at := fmt.Sprintf("%s=%d", fakes.DieAtVariable, 5+h.rng.IntN(60))
		before := h.recordedRuns()
		if h.moon(at, "run", "--orphans", pick(h, "remove", "keep")) < 0 && h.recordedRuns() > before {
			dead = true
			h.moon("", "resume", "--lost", "retry", "--retry-failed", "--no-tui", "--approve", "all")
		}
	case n < 80:
		before, serial := h.machine(), h.state().Serial
		h.moon("", "run", "--check", "--orphans", pick(h, "remove", "keep", "forget"))
		if !maps.Equal(before, h.machine()) || h.state().Serial != serial {
			h.fail("a dry run has changed something")
		}
	case n < 84:
		h.moon("", "destroy")
	case n < 89:
		if things := h.state().Things; len(things) > 0 {
			h.moon("", "destroy", "--only", things[h.rng.IntN(len(things))].Step)
		}
	default:
		h.person()
	}
	h.compare(dead)
}

func (h *history) recordedRuns() int {
	runs, _ := filepath.Glob(filepath.Join(h.p.Dir, "state/moon/runs/*"))
	return len(runs)
}

// end destroys all, and compares with what there was at the beginning.
func (h *history) end() {
	h.t.Helper()
	h.edited = map[string]string{}
	if code := h.moon("", "destroy", "--edited"); code != 0 {
		h.fail("the destroy ends with %d", code)
	}
	h.compare(false)
	now := h.machine()
	for path := range now {
		if _, person := h.ours[path]; person || h.loose[path] {
			continue
		}
		if h.left && path == "cfg" {
			continue // for lines that were forgotten
		}
		// A directory stays for what a person, or nobody, has in it.
		if !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(other string) bool { return strings.HasPrefix(other, path+"/") }) {
			h.fail("%s is left: %q", path, now[path])
		}
	}
	if !h.left && h.interred == 0 && now["pre"] != h.pre() {
		h.fail("the file is %q, and was %q", now["pre"], h.pre())
	}
}

func (h *history) pre() string { return "-rw-r----- " + strings.Join(h.people, "\n") + "\n" }

// TestHistories edits, runs, breaks and destroys random playbooks, with a person who works on the same machine. After each of these all that
// is recorded is there, all that moon has made is recorded, and what is not moon's is as it was. HISTORY_SEED=n replays one; HISTORIES=n
// tries so many.
func TestHistories(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 40
	}
	if assault.All() {
		n = 1000
	}
	if text := os.Getenv("HISTORIES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	first := rand.Uint64N(1 << 40)
	if text := os.Getenv(historySeed); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, n = seed, 1
	}
	assault.Tried(t, "random histories", n)
	for i := range n {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			playHistory(t, seed)
		})
	}
}

func playHistory(t *testing.T, seed uint64) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &history{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), m: filepath.Join(dir, "m"), people: []string{"one", "two"},
		p:    fakes.Patient{T: t, Dir: dir, Playbook: filepath.Join(dir, "playbook.yml")},
		ours: map[string]string{}, times: map[string]string{}, edited: map[string]string{}, deleted: map[string]bool{}, loose: map[string]bool{},
	}
	h.note("%s=%d", historySeed, seed)
	if err := os.MkdirAll(filepath.Join(h.m, "keep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pre": "one\ntwo\n", "keep/mine": "mine\n"} {
		if err := os.WriteFile(filepath.Join(h.m, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(h.m, "keep/mine"))
	if err != nil {
		t.Fatal(err)
	}
	h.ours, h.times["keep/mine"] = h.machine(), info.ModTime().String()
	h.ours["pre"] = "" // lines come and go
	for range 2 + h.rng.IntN(6) {
		h.steps = append(h.steps, h.step())
	}
	for range 6 {
		h.act()
	}
	h.end()
}
