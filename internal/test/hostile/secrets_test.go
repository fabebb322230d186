package hostile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// The secrets of the tests. None is a part of a word that moon, or the playbook, would print by itself.
const (
	plainSecret   = "xk7-hunter2-qq"
	awkwardSecret = `p"ä<s/s w'o$r&d\`
	envSecret     = "t0ken-of-the-environment"
	vaultSecret   = "staple-battery-9"
	keySecret     = "-----BEGIN KEY-----\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldY\nYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4\n-----END KEY-----\n"
)

// vaulted is vaultSecret, encrypted with the password "open sesame"; made with ansible-vault 2.14.
const vaulted = `$ANSIBLE_VAULT;1.1;AES256
63656433623231363262643231363835623336663034363065643138363138633638373162386438
6437343831363561633737656436373361636536396435620a303436313239643266623464656630
38663765353837343666643636386433643239383836666436306164633834396437373661393262
3936653737353236650a373566396564303434376365376230386234373061336361333964323862
39336137313037316531356366316135323139303864353930663739383733393838
`

// everywhere has a secret in every place that a playbook has for one.
const everywhere = `vars_files: [SECRETS]
vars:
  inline: VAULT
  dsn: "postgres://ann:{{ plain }}@db/shop"
  hash: "{{ plain | sha1 }}"
  nested: {list: [a, "{{ awkward }}"], user: ann}
steps:
  - name: log in with {{ plain }} as {{ nested.user }}
    shell:
      stdin: "{{ key }}"
      cmd: |
        printf '%s\n' '{{ plain }}'
        printf '%s' '{{ plain }}' | base64
        printf 'u%s' '{{ plain }}' | base64
        printf 'xk7-'; printf 'hunter2'; printf -- '-qq\n'
        printf 'xk7-\033[1;31mhunter2\033[0m-qq\n'
        printf '\033]0;{{ plain }}\a'
        echo "$AWKWARD" >&2
        cat; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' > ps.txt
    env: {AWKWARD: "{{ awkward }}"}
    register: login
  - name: what it said
    print: "{{ login.stdout }} and {{ login.stderr | upper }} and {{ hash }} and {{ inline }} and {{ ENV }}"
  - set_fact: {later: "{{ login.stdout_lines[0] }}", both: "{{ login.stdout | b64encode }}"}
  - print: {var: both}
  - name: each {{ item.key }}
    shell: "echo {{ item.value | trim | quote }}; env > env.txt"
    loop: {one: "{{ plain }}", two: "{{ inline }}"}
    loop_control: {label: "{{ item.value }}"}
  - copy: {dest: made.txt, content: "pw={{ plain }}\n{{ key }}"}
    register: made
    diff: true
  - template: {src: conf.j2, dest: conf.txt}
    diff: true
  - print: "{{ made.checksum }} {{ later }}"
  - name: hidden
    shell: echo seCret-of-no-log
    no_log: true
    register: hidden
  - shell: "echo '{{ hidden.stdout | trim }}'"
    register: from_hidden
  - print: "{{ from_hidden.stdout }}"
  - shell: "seq -f '{{ plain }} %05.0f' 2000"
    register: large
  - set_fact: {bulk: "{{ large.stdout }}"}
  - print: "{{ bulk | length }}"
  - print: "{{ large.stdout_lines | length }} {{ large.stdout_lines[1] }}"
    when: plain != '' and large.rc == 0
  - assert: {that: "plain == 'no'", fail_msg: "it is {{ plain }}"}
    ignore_errors: true
  - shell: "echo {{ plain }} >&2; exit 3"
    ignore_errors: true
  - command: [test, -e, "/{{ plain }}"]
    ignore_errors: true
    retries: 1
    retry_delay: 0
  - file: {path: "{{ plain }}-dir", state: directory}
  - shell: "true"
    creates: "{{ plain }}-dir"
    unless: "test {{ plain }} = no"
  - name: the end
    shell: "echo it was {{ plain }} >&2; exit 3"
`

// site is a directory with the playbook, and all that is made of it.
type site struct {
	t    *testing.T
	dir  string
	env  []string
	made map[string][]byte // what was printed, by what printed it
}

// newSite writes the playbook. With off its values are the same, and none is secret.
func newSite(t *testing.T, off bool) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), made: map[string][]byte{}}
	file, value, env := "all.secret.yml", "!vault |\n    "+strings.ReplaceAll(strings.TrimSpace(vaulted), "\n", "\n    "), "env('SITE_TOKEN', secret)"
	if off {
		file, value, env = "all.yml", vaultSecret, "env('SITE_TOKEN')"
	}
	text := strings.NewReplacer("SECRETS", file, "VAULT", value, "ENV", env).Replace(everywhere)
	secrets, err := json.Marshal(map[string]any{"plain": plainSecret, "awkward": awkwardSecret, "key": keySecret})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"site.yml": text, file: string(secrets), "password": "open sesame\n", "conf.j2": "{% for x in [plain, inline] %}pw={{ x }}\n{% endfor %}{{ awkward }}\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "HOME="+filepath.Join(s.dir, "home"), "SITE_TOKEN="+envSecret, "MOON_VAULT_PASSWORD_FILE="+filepath.Join(s.dir, "password"))
	return s
}

// moon runs moon, and keeps what it prints.
func (s *site) moon(env string, args ...string) (code int) {
	s.t.Helper()
	program, err := exec.LookPath("moon")
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	name := strings.TrimSpace(env + " moon " + strings.Join(args, " "))
	s.made[name+", out"], s.made[name+", err"] = out.Bytes(), errs.Bytes()
	return cmd.ProcessState.ExitCode()
}

// everything is all that there is to look at: what was printed, and the files that were not there before.
func (s *site) everything() map[string][]byte {
	s.t.Helper()
	all := s.made
	for _, name := range []string{"ps.txt", "env.txt", "report.json", "report.xml", "report.txt", "report.html", "report.md", "plan.moon"} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			s.t.Fatal(err)
		}
		all[name] = text
	}
	err := filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] = text
		}
		all[name+", its name"] = []byte(name)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// written are the ways in which a secret could be found.
func written(text string) []string {
	js, _ := json.Marshal(text)
	inner := func(before string) string {
		enc := base64.StdEncoding.EncodeToString([]byte(before + text))
		from, to := (8*len(before)+5)/6, 8*len(before+text)/6
		return enc[from:to]
	}
	return []string{
		text, strings.TrimSpace(text), inner(""), inner("u"), inner("us"), url.QueryEscape(text), url.PathEscape(text), string(js[1 : len(js)-1]),
		strings.ReplaceAll(text, "'", `'\''`), text[:4] + "\x1b[1;31m" + text[4:11] + "\x1b[0m" + text[11:],
	}
}

// run goes through everything that moon can do with the playbook.
func (s *site) run() {
	s.t.Helper()
	for _, args := range []string{
		"plan site.yml", "plan site.yml --flat", "plan site.yml --format json", "plan site.yml --format yaml", "plan site.yml --format dump", "plan site.yml --format dot",
		"plan site.yml --explain step-0001", "plan site.yml --explain step-0002", "validate site.yml --format json", "graph site.yml",
	} {
		if code := s.moon("", strings.Fields(args)...); code != 0 {
			s.t.Fatalf("moon %s: %d\n%s", args, code, s.made["moon "+args+", err"])
		}
	}
	if code := s.moon("", "run", "site.yml", "-v", "--diff", "-o", "text", "-o", "json:report.json", "-o", "junit:report.xml", "-o", "github:report.txt",
		"-o", "html:report.html", "-o", "markdown:report.md"); code != app.ExitFailed {
		s.t.Fatalf("%d\n%s", code, s.made["moon run site.yml -v --diff -o text -o json:report.json -o junit:report.xml -o github:report.txt -o html:report.html -o markdown:report.md, out"])
	}
	for _, args := range []string{
		"show", "show --events", "show --format json", "show --format html", "show --format markdown", "show --output step-0001", "runs", "run site.yml -o json", "run site.yml -o github", "run site.yml -o junit", "run site.yml --check --diff",
		"plan site.yml -o plan.moon", "plan site.yml --diff plan.moon", "run --plan plan.moon", "resume",
	} {
		s.moon("", strings.Fields(args)...)
	}
	for _, where := range []string{"3", "40", "run"} {
		s.moon(fakes.PanicVariable+"="+where+" it broke over "+plainSecret, "run", "site.yml")
	}
	s.moon("", "resume", "--lost", "retry", "--retry-failed")
	// Mistakes quote what they are about.
	s.moon("", "plan", "site.yml", "--vars-file", s.secretsFile(), "-e", "nested={{ plain", "--only", plainSecret)
	if err := os.WriteFile(filepath.Join(s.dir, "wrong.yml"), []byte("vars_files: ["+s.secretsFile()+"]\nsteps:\n- file: {path: /x, mode: '{{ plain }}'}\n- print: '{{ plain.x }} {{ plain | int(base=1) }}'\n  timeout: '{{ plain }}'\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.moon("", "run", "wrong.yml")
}

func (s *site) secretsFile() string {
	for _, name := range []string{"all.secret.yml", "all.yml"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return name
		}
	}
	s.t.Fatal("there is no file of secrets")
	return ""
}

// TestNoSecretAnywhere runs a playbook with secrets in every place, and looks at everything that came of it.
func TestNoSecretAnywhere(t *testing.T) {
	s := newSite(t, false)
	s.run()
	all := s.everything()
	secrets := []string{plainSecret, awkwardSecret, envSecret, vaultSecret, keySecret, "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY", "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4", "seCret-of-no-log"}
	assault.Tried(t, "places searched for secrets", len(all))
	bytesSeen := 0
	for where, text := range all {
		bytesSeen += len(text)
		for _, secret := range secrets {
			for i, form := range written(secret) {
				if at := bytes.Index(text, []byte(form)); at >= 0 {
					t.Errorf("%s has %q in form %d:\n…%s…", where, secret, i, text[max(0, at-200):min(len(text), at+200)])
				}
			}
		}
		if strings.HasSuffix(where, ", out") && strings.Contains(where, "run site.yml -v") && !bytes.Contains(text, []byte("••••••••")) {
			t.Errorf("%s shows nothing in the place of secrets:\n%s", where, text)
		}
	}
	for _, where := range []string{"3", "40", "run"} {
		text := s.made[fakes.PanicVariable+"="+where+" it broke over "+plainSecret+" moon run site.yml, err"]
		text = append(text, s.made[fakes.PanicVariable+"="+where+" it broke over "+plainSecret+" moon run site.yml, out"]...)
		if !bytes.Contains(text, []byte("it broke over ••••••••")) {
			t.Errorf("the panic at %s is not told:\n%s", where, text)
		}
	}
	made, err := os.ReadFile(filepath.Join(s.dir, "made.txt"))
	if err != nil || string(made) != "pw="+plainSecret+"\n"+keySecret {
		t.Errorf("the step did not get the secrets themselves: %q, %v", made, err)
	}
	t.Logf("%d places with %d bytes", len(all), bytesSeen)
}

// TestSecretsWouldBeFound is the same without anything marked as secret: every kind of place that the other test looks at has them
// then, so that it would see them.
func TestSecretsWouldBeFound(t *testing.T) {
	assault.Long(t)
	s := newSite(t, true)
	s.run()
	all := s.everything()
	found := func(where string) bool {
		for name, text := range all {
			if strings.Contains(name, where) && bytes.Contains(text, []byte(plainSecret)) {
				return true
			}
		}
		return false
	}
	for _, where := range []string{
		"moon plan site.yml, out", "--flat, out", "--format json, out", "--format yaml, out", "--format dump, out", "--format dot, out", "--explain step-0001, out",
		"graph site.yml", "report.json", "report.xml", "report.txt", "report.html", "report.md", "--format html, out", "plan.moon", "journal.jsonl", "/out/", "/plans/", "/blobs/", "moon run site.yml -v", "moon show, out", "show --events",
		"show --output", "-o json, out", "-o github, out", "-o junit, out", "--check --diff, out", "run --plan plan.moon, out", "moon run wrong.yml, err", "ps.txt",
		fakes.PanicVariable + "=3", fakes.PanicVariable + "=40", fakes.PanicVariable + "=run",
	} {
		if where == "graph site.yml" {
			continue // it has numbers only
		}
		if !found(where) {
			t.Errorf("%s has no secret even when nothing is kept secret", where)
		}
	}
	if !bytes.Contains(all["env.txt"], []byte(envSecret)) {
		t.Error("the environment of a step has no secret even when nothing is kept secret")
	}
}

// TestModes looks at every file and directory that moon makes: they are the user's alone, whatever the umask.
func TestModes(t *testing.T) {
	for _, umask := range []int{0o000, 0o077} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			old := syscall.Umask(0o022)
			defer syscall.Umask(old)
			s := newSite(t, false) // moon refuses to keep anything below a directory that others may write to
			syscall.Umask(umask)
			inputs := s.everyFile()
			for _, args := range []string{
				"plan site.yml -o plan.moon", "run site.yml -o json:report.json -o junit:report.xml -o text:report.txt -o github:report.github -o html:report.html -o markdown:report.md", "run exports.yml --exports exports.json",
				"run wait.yml",
			} {
				s.more()
				if code := s.moon("", strings.Fields(args)...); code > app.ExitFailed {
					t.Fatalf("moon %s: %d\n%s", args, code, s.made["moon "+args+", err"])
				}
			}
			kinds := map[string]bool{}
			for path, mode := range s.everyFile() {
				if _, before := inputs[path]; before || ofSteps[strings.SplitN(path, "/", 2)[0]] {
					continue
				}
				want := fs.FileMode(0o600)
				assault.Tried(t, "modes of what is stored", 1)
				if mode.IsDir() {
					want = 0o700
				}
				if mode.Perm() != want {
					t.Errorf("%s has mode %s", path, mode)
				}
				kinds[filepath.Base(filepath.Dir(path))] = true
				kinds[filepath.Base(path)] = true
			}
			for _, kind := range []string{
				"plan.moon", "report.json", "report.xml", "report.txt", "report.github", "exports.json", "exports", "runs", "durations", "sources", "out", "blobs", "plans", "journal.jsonl", "lock",
			} {
				if !kinds[kind] {
					t.Errorf("there is no %s to look at", kind)
				}
			}
			socket, err := os.ReadFile(filepath.Join(s.dir, "socket.txt"))
			if err != nil || string(socket) != "600\n" {
				t.Errorf("the socket of the run has mode %q, %v", socket, err)
			}
		})
	}
}

// ofSteps are what the steps make, or the test.
var ofSteps = map[string]bool{
	"ps.txt": true, "env.txt": true, "made.txt": true, "conf.txt": true, plainSecret + "-dir": true, "exports.yml": true, "wait.yml": true, "socket.txt": true, "home": true,
}

// more writes playbooks that make what the other does not.
func (s *site) more() {
	s.t.Helper()
	for name, text := range map[string]string{
		"exports.yml": "vars: {a: 1}\nexports: {a: \"{{ a }}\"}\nsteps:\n- shell: echo x > /dev/null\n  sources: [exports.yml]\n",
		"wait.yml":    "- shell: stat -c %a state/moon/runs/*/control.sock > socket.txt\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) everyFile() map[string]fs.FileMode {
	s.t.Helper()
	modes := map[string]fs.FileMode{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.dir, path)
		modes[name] = info.Mode()
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return modes
}
