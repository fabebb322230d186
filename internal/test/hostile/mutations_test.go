package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// mutable is a file that moon reads, and the commands that read it.
type mutable struct {
	name string
	file string // in the directory; RUN and ROLE stand for what the site has
	call []string
}

// Bounds for reading any one file.
const (
	mostWork   = time.Second // of a processor: a clock would measure the machine's other work
	mostMemory = 256 << 10   // KiB
)

// TestMutations damages every kind of file that moon reads, in ways that bytes rot and in ways that people think of: each is read or
// refused, in order and within bounds.
func TestMutations(t *testing.T) {
	files := []mutable{
		{"playbook", "devbox/playbook.yml", []string{"plan", "--flat", "-e", "target=/nowhere", "devbox/playbook.yml"}},
		{"included tasks", "devbox/tasks/dotfiles.yml", []string{"validate", "-e", "target=/nowhere", "devbox/playbook.yml"}},
		{"plays", "site/site.yml", []string{"plan", "--no-connect", "-i", "site/hosts", "site/site.yml"}},
		{"role", "site/roles/ROLE/tasks/main.yml", []string{"doctor", "-i", "site/hosts", "site/site.yml"}},
		{"INI inventory", "site/hosts", []string{"inventory", "--list", "-i", "site/hosts"}},
		{"YAML inventory", "hosts.yml", []string{"inventory", "--graph", "-i", "hosts.yml"}},
		{"ansible.cfg", "ansible.cfg", []string{"validate", "walk/site.yml"}},
		{"saved plan", "plan.moon", []string{"plan", "--plan", "plan.moon"}},
		{"journal", "state/moon/runs/RUN/journal.jsonl", []string{"show", "--events"}},
		{"history", "state/moon/runs/RUN/journal.jsonl", []string{"runs"}},
		{"theme", "config/moon/themes/own.yaml", []string{"themes", "own"}},
		{"keys", "config/moon/keys.yaml", []string{"keys"}},
		{"settings of a project", "project/.moon.yaml", []string{"validate", "project/p.yml"}},
		{"config", "config/moon/config.yaml", []string{"validate", "kills/playbook.yml"}},
		{"variables", "vars.yml", []string{"plan", "--flat", "--vars-file", "vars.yml", "-e", "dir=/nowhere", "kills/playbook.yml"}},
	}
	each := assault.Rounds(12, 220)
	if testing.Short() {
		each = 3
	}
	site := mutationSite(t)
	for _, m := range files {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "mutated files", each)
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(site)); err != nil {
				t.Fatal(err)
			}
			path := oneFile(t, dir, m.file)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range each {
				bad := mutate(r, whole)
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				if why := readsInBounds(t, dir, m.call); why != "" {
					t.Fatalf("seed %d, mutation %d: moon %v: %s\nof\n%.4000q", seed, i, m.call, why, bad)
				}
			}
		})
	}
}

// mutationSite is a directory with a file of each kind, all of them sound.
func mutationSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/playbooks")); err != nil {
		t.Fatal(err)
	}
	files(map[string]string{
		"ansible.cfg":                 "[defaults]\ninventory = site/hosts\nroles_path = roles:site/roles\nforks = 7\ntimeout = 20\nhost_key_checking = no\n[privilege_escalation]\nbecome = true\nbecome_user = root\n[ssh_connection]\npipelining = true\nssh_args = -o ControlPersist=60s\n",
		"hosts.yml":                   "all:\n  vars: {region: eu, ports: [80, 443]}\n  hosts:\n    one: &o {ansible_host: 127.0.0.1, ansible_port: 22}\n    two: *o\n  children:\n    web:\n      hosts:\n        web[01:12:2].example.org: {weight: 3}\n      children: {edge: {hosts: {one: }}}\n    db:\n      vars: {password: !vault \"$ANSIBLE_VAULT;1.1;AES256\\n6162\"}\n      hosts: {two: }\n",
		"config/moon/themes/own.yaml": "name: own\ndark:\n  roles:\n    failed: &loud {fg: \"#ff0000\", bold: true}\n    danger: *loud\n    ok: {fg: green}\n",
		"config/moon/keys.yaml":       "run.step: [s, f11]\ncursor.top: g g\npane.grow: []\n",
		"project/.moon.yaml":          "inventory: [hosts, 'a,b']\nforks: 3\napprove: all\ntheme: {light: daylight}\ntimeout: 3m\n",
		"project/p.yml":               "- print: x\n",
		"config/moon/config.yaml":     "theme: moonlight\nglyphs: ascii\nbanner: production\n",
		"vars.yml":                    "a: 1\nb: &b [x, 2.5, true, 2026-11-22]\nc: {d: *b, e: \"{{ a }}\"}\nlong: |\n  several\n  lines\n",
	})(t, dir)
	for _, args := range [][]string{{"plan", "-o", "plan.moon", "-e", "dir=" + dir, "kills/playbook.yml"}, {"run", "-o", "junit:report", "-e", "target=" + dir + "/home", "--approve", "all", "devbox/playbook.yml"}} {
		cmd := moonIn(t, dir, args)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// moonIn is moon in a directory with a home, a state and a configuration of its own.
func moonIn(t *testing.T, dir string, args []string) *exec.Cmd {
	t.Helper()
	cmd := fakes.NewPatient(t, dir).Command("run")
	cmd.Args = append(cmd.Args[:1], args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	return cmd
}

// oneFile is a file of the site whose path has a part that only the site knows.
func oneFile(t *testing.T, dir, file string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, strings.NewReplacer("RUN", "*", "ROLE", "*").Replace(file)))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", file, err)
	}
	return found[0]
}

// readsInBounds says what is wrong with how moon reads what is there.
func readsInBounds(t *testing.T, dir string, args []string) string {
	t.Helper()
	cmd := moonIn(t, dir, args)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(fakes.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	peak := fakes.PeakMemory(t, cmd.Process.Pid)
	err := cmd.Wait()
	var exit *exec.ExitError
	work := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Fatal(err)
	case !cmd.ProcessState.Exited():
		return fmt.Sprintf("%v\n%s", err, out.String())
	case strings.Contains(out.String(), "goroutine ") && strings.Contains(out.String(), "panic"):
		return out.String()
	case err != nil && out.Len() == 0:
		return fmt.Sprintf("exit %d without a word", exit.ExitCode())
	case work > mostWork && !fakes.Raced:
		return fmt.Sprintf("it works for %s", work)
	case peak > mostMemory && !fakes.Raced:
		return fmt.Sprintf("it takes %d MiB", peak>>10)
	}
	return ""
}

// spells are what people put into a file to see what happens.
var spells = []string{
	"{{", "}}", "{%", "{{ x }}", "{{ range(99999999) | list }}", "{{ 'x' * 999999999 }}", "{{ lookup('file', '/dev/zero') }}", "&a", "*a", "!!binary x", "!vault |", "\x00", "\xff\xfe", "\u202e", "\x1b[2J", "\t", "\r", "\n",
	"|", ">", "- ", ": ", "? ", "---\n", "[", "{", "\"", "'", "#", "1e999999", "99999999999999999999", "-1", "0x7fffffffffffffff", "1..999999999", "~", "null", "include: playbook.yml", "../../../../etc/shadow", "/dev/zero",
	"$(touch ran)", "%", "=", "[all:children]", "[a:vars]", "host[1:99999999]", "<<: *a",
}

// mutate gives a text with one to three changes.
func mutate(r *rand.Rand, whole []byte) []byte {
	bad := bytes.Clone(whole)
	for range 1 + r.IntN(3) {
		if len(bad) == 0 {
			break
		}
		at := r.IntN(len(bad))
		to := min(len(bad), at+1+r.IntN(30))
		switch r.IntN(8) {
		case 0:
			bad[at] ^= 1 << r.IntN(8)
		case 1:
			bad = append(bad[:at:at], bad[to:]...)
		case 2:
			bad = bad[:at]
		case 3: // a part of it, many times
			bad = append(bad[:at:at], append(bytes.Repeat(bad[at:to], 1+r.IntN(2000)), bad[at:]...)...)
		case 4: // lines that change places
			lines := bytes.SplitAfter(bad, []byte("\n"))
			i, k := r.IntN(len(lines)), r.IntN(len(lines))
			lines[i], lines[k] = lines[k], lines[i]
			bad = bytes.Join(lines, nil)
		case 5: // a part of it elsewhere
			from := r.IntN(len(bad))
			part := bytes.Clone(bad[from:min(len(bad), from+1+r.IntN(60))])
			bad = append(bad[:at:at], append(part, bad[at:]...)...)
		default:
			spell := spells[r.IntN(len(spells))]
			bad = append(bad[:at:at], append([]byte(spell), bad[at:]...)...)
		}
	}
	return bad
}
