package ansible

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/events"
	"moon/internal/app"
	"moon/internal/test/fakes"
)

// trial is a playbook that moon and ansible-playbook both run: testdata/ansible/NAME.txtar, or the directory of a project in
// testdata/ansible-projects.
//
//	the comment       what it is about, in a line for docs/ansible.md, then `about:` and the part of that page it belongs to,
//	                  then what else is to be known of it; see marks
//	inventory         the usual one of testdata/ansible, if there is none
//	site.yml          the playbook; what it does is told by the files it writes below {{ out }}
//	want/recap        the exit status, and a line for each host with what is not 0; want/recap-2 of a second run
//	want/out/…        the files written
//	want/says         what moon must say, a line each
//	ansible/…         what ansible-playbook 2.14 answers, where moon is wanted to answer something else
//	any other         a file beside the playbook
type trial struct {
	name    string
	title   string
	about   string
	mark    string // "" where moon is to be as ansible-playbook 2.14 is, or a key of marks
	reason  string
	flags   []string          // of both
	runs    []string          // the playbook of each run, and its own flags; the directory stays the same
	spared  map[string]string // what only a comparison with ansible-playbook itself may find different, and why; see realTrial
	needs   string            // "root", or "ansible-core"
	archive *txtar.Archive
	path    string
	files   map[string]string
	want    answer
	ansible answer // of 2.14
}

// marks are the ways in which moon is wanted to be unlike ansible-playbook 2.14. What it is to answer then is written by hand.
var marks = map[string]string{
	"newer":   "Δ: a later ansible-core, from the version named, answers what moon does",
	"differs": "moon answers something else on purpose",
	"yet":     "moon cannot do it yet, and says so before anything runs",
}

// answer is what came of a playbook: "recap" and "out/NAME" for each file written; for moon also "says".
type answer map[string]string

// usualInventory is that of trials without an inventory: h1 and h2 in web, h3 in db, all on this machine.
const usualInventory = "testdata/ansible/inventory"

func readTrial(t *testing.T, path string) *trial {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &trial{
		name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: archive,
		files: map[string]string{}, want: answer{}, ansible: answer{}, runs: []string{"site.yml"}, spared: map[string]string{},
	}
	c.readHead(t, string(archive.Comment))
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			c.want[name] = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, "ansible/"); ok {
			c.ansible[name] = string(f.Data)
		} else {
			c.files[f.Name] = string(f.Data)
		}
	}
	if c.mark == "" {
		c.ansible = maps.Clone(c.want)
		delete(c.ansible, "says")
	}
	if _, ok := c.files["inventory"]; !ok {
		usual, err := os.ReadFile(usualInventory)
		if err != nil {
			t.Fatal(err)
		}
		c.files["inventory"] = string(usual)
	}
	return c
}

// readHead reads what the comment says, up to the first empty line.
func (c *trial) readHead(t *testing.T, comment string) {
	t.Helper()
	head, _, _ := strings.Cut(comment, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	c.title = lines[0]
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case key == "about":
			c.about = value
		case key == "flags":
			c.flags = strings.Fields(value)
		case key == "playbook":
			c.runs[0] = value
		case key == "then" && value != "":
			c.runs = append(c.runs, value)
		case key == "spared":
			name, reason, _ := strings.Cut(value, ": ")
			if strings.HasPrefix(value, sparedHead) { // a heading, which may have the name of a role and a colon in it
				name, reason, _ = strings.Cut(value, "]: ")
				name += "]"
			}
			if c.spared[name] = reason; reason == "" {
				t.Errorf("%s: why may %s differ?", c.path, name)
			}
		case key == "needs" && (value == "root" || value == "ansible-core"):
			c.needs = value
		case marks[key] != "" && c.mark == "" && value != "":
			c.mark, c.reason = key, value
		default:
			t.Errorf("%s: what is %q?", c.path, line)
		}
	}
	if c.title == "" || !slices.Contains(ansibleParts, c.about) {
		t.Errorf("%s: a trial has a title, and a part of %s that it is about, not %q", c.path, fakes.AnsiblePage, c.about)
	}
}

// allTrials reads testdata/ansible.
func allTrials(t *testing.T) (all []*trial) {
	t.Helper()
	paths, err := filepath.Glob("testdata/ansible/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no trials: %v", err)
	}
	for _, path := range paths {
		all = append(all, readTrial(t, path))
	}
	return all
}

// TestAnsible runs every trial and compares what came of it with what is wanted: the counts of each host, the exit status,
// the files written, and in them what was registered.
func TestAnsible(t *testing.T) {
	for _, c := range append(allTrials(t), writtenProjects(t)...) {
		t.Run(c.name, func(t *testing.T) {
			c.checkMachine(t)
			t.Parallel()
			got, said := c.moon(t)
			compareAnswers(t, got, c.want)
			for line := range strings.Lines(c.want["says"]) {
				if !strings.Contains(said, strings.TrimSpace(line)) {
					t.Errorf("moon does not say %q", strings.TrimSpace(line))
				}
			}
			if t.Failed() {
				t.Logf("moon said\n%s", said)
			}
		})
	}
}

// TestAnsibleItself asks the real ansible-playbook what the trials hold of it: a dozen of them, or with ANSIBLE=all every one.
// ANSIBLE=golden writes down what it answers; read the diff before committing it.
func TestAnsibleItself(t *testing.T) {
	how := os.Getenv("ANSIBLE")
	if how == "" && testing.Short() {
		t.Skip("ansible-playbook takes a second to start")
	}
	oracle, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Skip(err)
	}
	if version, err := exec.Command(oracle, "--version").Output(); err != nil || !strings.Contains(string(version), "[core 2.14") {
		t.Skipf("the trials hold what ansible-playbook 2.14 answers; this one is another: %.40s %v", version, err)
	}
	all := append(allTrials(t), writtenProjects(t)...)
	each := 1
	if how == "" {
		each = len(all)/12 + 1
	}
	for i := 0; i < len(all); i += each {
		c := all[i]
		t.Run(c.name, func(t *testing.T) {
			c.checkMachine(t)
			t.Parallel()
			got, said, _ := c.oracle(t, oracle)
			if strings.HasPrefix(got["recap"], "exit 5\n") {
				t.Fatalf("ansible-playbook refuses to work:\n%s", said[0])
			}
			if how == "golden" {
				c.save(t, got)
				return
			}
			compareAnswers(t, got, c.ansible)
			if t.Failed() {
				t.Logf("ansible-playbook said\n%s", strings.Join(said, "\n"))
			}
		})
	}
}

// TestAnsibleMarks: a trial with a mark differs from 2.14, and one that moon refuses says what moon says of it.
func TestAnsibleMarks(t *testing.T) {
	for _, c := range allTrials(t) {
		wanted := maps.Clone(c.want)
		delete(wanted, "says")
		if c.mark != "" && maps.Equal(wanted, c.ansible) {
			t.Errorf("%s: marked %s, and yet the same", c.name, c.mark)
		}
		if refused := c.want["recap"] == "exit 4\n"; refused != (c.want["says"] != "") && c.mark != "" {
			t.Errorf("%s: want/says is for what moon refuses, which is always told why", c.name)
		}
		if c.mark == "yet" && c.want["says"] == "" {
			t.Errorf("%s: what cannot be done yet is refused", c.name)
		}
	}
}

func compareAnswers(t *testing.T, got, want answer) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if wanted, ok := want[name]; !ok {
			t.Errorf("%s is not wanted:\n%s", name, got[name])
		} else if got[name] != wanted {
			t.Errorf("%s: got\n%swant\n%s", name, got[name], wanted)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok && name != "says" {
			t.Errorf("%s is missing, want\n%s", name, want[name])
		}
	}
}

// checkMachine skips a trial that this machine, or its user, cannot run.
func (c *trial) checkMachine(t *testing.T) {
	t.Helper()
	if c.needs == "root" && os.Getuid() != 0 {
		t.Skip("only root becomes another user without a password")
	}
	if dir, err := app.CorePackage("/nowhere"); c.needs == "ansible-core" && (dir == "" || err != nil) {
		t.Skip("no ansible-core is installed here, whose libraries modules in Python use")
	}
}

// lay puts the trial into a directory of its own.
func (c *trial) lay(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.needs == "root" { // who somebody becomes must get to the files
		for d := dir; d != filepath.Dir(os.TempDir()) && len(d) > len(os.TempDir()); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// args are those of both programs for a run.
func (c *trial) args(dir, run string) []string {
	args := append(strings.Fields(run), "-e", "out="+filepath.Join(dir, "out"))
	if _, ok := c.files["inventory"]; ok && !slices.Contains(c.flags, "-i") {
		args = append(args, "-i", "inventory")
	}
	return append(args, c.flags...)
}

// command is moon with what it is to print, in a home of its own inside the directory.
func (c *trial) command(t *testing.T, dir, run string, outputs ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, ".moon")
	moon := filepath.Join(home, "moon")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, moon); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	for name := range c.files {
		if link := filepath.Join(home, ".ansible"); strings.HasPrefix(name, ".ansible/") { // what the user has at home
			if err := os.Symlink("../.ansible", link); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	args := []string{"run"}
	for _, output := range outputs {
		args = append(args, "-o", output)
	}
	cmd := exec.Command(moon, append(args, c.args(dir, run)...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "MOON_ANSIBLE_EXIT=1", "MOON_TRUST=true") // modules of a trial are its own
	if c.needs != "ansible-core" {
		cmd.Env = append(cmd.Env, app.CoreVariable+"=none") // what is installed decides nothing
	}
	return cmd
}

// moon runs the trial with moon.
func (c *trial) moon(t *testing.T) (got answer, said string) {
	t.Helper()
	dir := c.lay(t)
	got = answer{}
	for i, run := range c.runs {
		var out, errs bytes.Buffer
		cmd := c.command(t, dir, run, "json")
		cmd.Stdout, cmd.Stderr = &out, &errs
		code := fakes.ExitCode(cmd.Run())
		got[recapName(i)] = recapOf(code, hostCounts(out.Bytes()))
		said += out.String() + errs.String()
	}
	c.collect(t, dir, got)
	return got, said
}

// hostCounts are those of the end of a run, of its events.
func hostCounts(out []byte) (hosts []events.HostCounts) {
	for text := range bytes.Lines(out) {
		var line struct {
			Type  string              `json:"type"`
			Hosts []events.HostCounts `json:"hosts"`
		}
		if err := json.Unmarshal(text, &line); err == nil && line.Type == "run.completed" {
			hosts = line.Hosts
		}
	}
	return hosts
}

// recapLine is a host of PLAY RECAP.
var recapLine = regexp.MustCompile(`(?m)^(\S+) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+) +skipped=(\d+) +rescued=(\d+) +ignored=(\d+)`)

// oracle runs the trial with ansible-playbook, whatever the user has set for it.
func (c *trial) oracle(t *testing.T, program string) (got answer, said []string, dir string) {
	t.Helper()
	dir = c.lay(t)
	got = answer{}
	for i, run := range c.runs {
		out, code := c.oracleRun(t, program, dir, run)
		var hosts []events.HostCounts
		for _, m := range recapLine.FindAllStringSubmatch(out, -1) {
			h := events.HostCounts{Host: m[1]}
			for i, n := range []*int{&h.OK, &h.Changed, &h.Unreachable, &h.Failed, &h.Skipped, &h.Rescued, &h.Ignored} {
				if _, err := fmt.Sscan(m[i+2], n); err != nil {
					t.Fatal(err)
				}
			}
			hosts = append(hosts, h)
		}
		got[recapName(i)] = recapOf(code, hosts)
		said = append(said, out)
	}
	c.collect(t, dir, got)
	return got, said, dir
}

// oracleRun is one run of ansible-playbook.
func (c *trial) oracleRun(t *testing.T, program, dir, run string) (said string, code int) {
	t.Helper()
	cmd := exec.Command(program, c.args(dir, run)...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ANSIBLE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+dir, "LC_ALL=C.UTF-8", "TZ=UTC", "ANSIBLE_NOCOLOR=1", "ANSIBLE_PIPELINING=1", "ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3",
		"ANSIBLE_SSH_RETRIES=0", "ANSIBLE_STDOUT_CALLBACK=default")
	if _, own := c.files["ansible.cfg"]; !own { // or the user's, or the machine's, would count
		if err := os.WriteFile(filepath.Join(dir, "ansible.cfg"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	code = fakes.ExitCode(cmd.Run())
	warnings := strings.Trim(strings.ReplaceAll(errs.String(), "\n\n", "\n"), "\n")
	if strings.Contains(warnings, "ERROR!") {
		return out.String() + "\n\n" + warnings + "\n", code
	}
	return out.String() + "\n\n[it warns]\n" + warnings + "\n", code
}

// recapName is that of a run in an answer.
func recapName(run int) string {
	if run == 0 {
		return "recap"
	}
	return fmt.Sprintf("recap-%d", run+1)
}

// recapOf is the exit status of a run, and a line for each host with what is not 0.
func recapOf(code int, hosts []events.HostCounts) string {
	var recap strings.Builder
	fmt.Fprintf(&recap, "exit %d\n", code)
	slices.SortFunc(hosts, func(a, b events.HostCounts) int { return strings.Compare(a.Host, b.Host) })
	for _, h := range hosts {
		recap.WriteString(h.Host)
		for _, n := range []struct {
			name string
			n    int
		}{{"ok", h.OK}, {"changed", h.Changed}, {"unreachable", h.Unreachable}, {"failed", h.Failed}, {"skipped", h.Skipped}, {"rescued", h.Rescued}, {"ignored", h.Ignored}} {
			if n.n != 0 {
				fmt.Fprintf(&recap, " %s=%d", n.name, n.n)
			}
		}
		recap.WriteString("\n")
	}
	return recap.String()
}

// collect reads the files that runs have left.
func (c *trial) collect(t *testing.T, dir string, got answer) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "out"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		got[name] = steadyFile(name, string(text), dir)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// steadyFile is the text of a file without what differs from run to run, and between the two programs.
func steadyFile(name, text, dir string) string {
	if strings.HasSuffix(name, ".json") {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err == nil {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(steadyValue(value)); err == nil {
				text = b.String()
			}
		}
	}
	text = strings.ReplaceAll(text, dir, "$WORK")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n(no newline at the end)\n" // as an archive cannot have it
	}
	return text
}

// volatile are the keys of results that are about the machine, its user or the time; that only moon or a later ansible-core has,
// beside what 2.14 registers; and the differences of files, which each program tells in its own way.
var volatile = []string{
	"start", "end", "delta", "duration_ms", "uid", "gid", "owner", "group", "pw_name", "gr_name", "inode", "mtime", "atime", "ctime",
	"false_condition", "invocation", "diff",
}

// steadyValue drops what is volatile, and where ansible-playbook had put a file meanwhile.
func steadyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); slices.Contains(volatile, key) || ok && strings.Contains(text, "/.ansible/tmp/") {
				delete(v, key)
				continue
			}
			v[key] = steadyValue(inner)
		}
	case []any:
		for i := range v {
			v[i] = steadyValue(v[i])
		}
	}
	return value
}

// save writes what ansible-playbook answered into the trial.
func (c *trial) save(t *testing.T, got answer) {
	t.Helper()
	under := "want/"
	if c.mark != "" {
		under = "ansible/"
	}
	c.archive.Files = slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool {
		return strings.HasPrefix(f.Name, under) && f.Name != "want/says"
	})
	recaps, files := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if strings.HasPrefix(name, "recap") {
			recaps = append(recaps, name)
		} else {
			files = append(files, name)
		}
	}
	for _, name := range append(recaps, files...) {
		c.archive.Files = append(c.archive.Files, txtar.File{Name: under + name, Data: []byte(got[name])})
	}
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
