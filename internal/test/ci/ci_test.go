package ci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// release serves a release of moon: this one, which its archive starts. Broken has another sum in the list.
func release(t *testing.T, broken bool) string {
	t.Helper()
	moon, err := exec.LookPath("moon")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec " + moon + " \"$@\"\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "moon", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(script)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	if broken {
		sum[0]++
	}
	file := fmt.Sprintf("moon_9.8.7_linux_%s.tar.gz", runtime.GOARCH)
	mux := http.NewServeMux()
	mux.HandleFunc("/acme/moon/releases/latest", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/acme/moon/releases/tag/v9.8.7", http.StatusFound)
	})
	mux.HandleFunc("/acme/moon/releases/tag/v9.8.7", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/acme/moon/releases/download/v9.8.7/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) })
	mux.HandleFunc("/acme/moon/releases/download/v9.8.7/checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%x  %s\n%x  moon_9.8.7_other.tar.gz\n", sum, file, sum)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
	}
}

func read(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// action is action.yml, with every key that it may have here.
type action struct {
	Name, Description string
	Branding          struct{ Icon, Color string }
	Inputs            map[string]struct {
		Description string
		Default     *string
		Required    bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, Shell, Run string
			Dir                  string `yaml:"working-directory"`
			Env                  map[string]string
		}
	}
}

// job is what one use of the action has left.
type job struct {
	outputs, summary, log string
	code                  int
	dir                   string
}

var expression = regexp.MustCompile(`\$\{\{ *([\w.-]+) *\}\}`)

// use runs the steps of the action as a runner does: the shell with its flags, the files of the runner, expressions put in before. Expressions
// stand only where the runner does not take them for code.
func use(t *testing.T, a *action, server string, inputs map[string]string, files map[string]string) (j job) {
	t.Helper()
	j.dir = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(j.dir, name), text)
	}
	fill := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(found string) string {
			name := expression.FindStringSubmatch(found)[1]
			switch name {
			case "github.server_url":
				return server
			case "github.action_repository":
				return "acme/moon"
			}
			input, is := strings.CutPrefix(name, "inputs.")
			declared, known := a.Inputs[input]
			if !is || !known {
				t.Fatalf("the expression %s is of something that there is not", found)
			}
			if v, given := inputs[input]; given {
				return v
			}
			return *declared.Default
		})
	}
	temp := t.TempDir()
	runner := func(name string) string { return filepath.Join(temp, name) }
	for _, name := range []string{"path", "output", "summary"} {
		write(t, runner(name), "")
	}
	path := "/usr/bin:/bin"
	if inputs["version"] == "installed" {
		path = os.Getenv("PATH")
	}
	for _, step := range a.Runs.Steps {
		if expression.MatchString(step.Run) {
			t.Errorf("the script of %q has an expression in it, and the value of an input would be code", step.Name)
		}
		if step.Shell != "bash" {
			t.Errorf("%q has the shell %q", step.Name, step.Shell)
		}
		write(t, runner("script.sh"), step.Run)
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", runner("script.sh"))
		cmd.Dir = filepath.Join(j.dir, fill(step.Dir))
		added, err := os.ReadFile(runner("path"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = []string{
			"GITHUB_ACTIONS=true", "RUNNER_TEMP=" + temp, "GITHUB_PATH=" + runner("path"), "GITHUB_OUTPUT=" + runner("output"),
			"GITHUB_STEP_SUMMARY=" + runner("summary"), "GITHUB_WORKSPACE=" + j.dir, "HOME=" + temp, "LC_ALL=C.UTF-8",
			"PATH=" + strings.Join(append(strings.Fields(string(added)), path), ":"),
		}
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+fill(value))
		}
		out, _ := cmd.CombinedOutput()
		j.log += string(out)
		if j.code = cmd.ProcessState.ExitCode(); j.code != 0 {
			break
		}
	}
	for name, to := range map[string]*string{"output": &j.outputs, "summary": &j.summary} {
		text, err := os.ReadFile(runner(name))
		if err != nil {
			t.Fatal(err)
		}
		*to = string(text)
	}
	return j
}

func TestAction(t *testing.T) {
	needs(t, "bash", "curl", "tar", "sha256sum")
	var a action
	read(t, "action.yml", &a)
	if a.Runs.Using != "composite" || a.Name == "" || a.Branding.Icon == "" {
		t.Errorf("%+v", a)
	}
	for name, in := range a.Inputs {
		if in.Description == "" || in.Default == nil {
			t.Errorf("the input %s has no description or no default", name)
		}
	}
	ids := []string{}
	for _, s := range a.Runs.Steps {
		ids = append(ids, s.ID)
	}
	for name, out := range a.Outputs {
		if m := regexp.MustCompile(`^\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}$`).FindStringSubmatch(out.Value); m == nil || m[2] != name || !slices.Contains(ids, m[1]) {
			t.Errorf("the output %s is %s", name, out.Value)
		}
	}
	playbook := map[string]string{
		"site.yml": "- {name: say, shell: 'echo {{ word | quote }}'}\n", "bad.yml": "- {name: no, shell: exit 3}\n", "wrong.yml": "- {shel: x}\n",
	}
	t.Run("done", func(t *testing.T) {
		j := use(t, &a, release(t, false), map[string]string{
			"playbook": "site.yml", "args": "-e\n{\"word\": \"two  words $(touch pwned) `touch pwned`\"}", "report": "report.html",
		}, playbook)
		run := regexp.MustCompile(`^run=\d{8}-\d{6}-[0-9a-f]{4}\noutcome=done\n$`)
		if j.code != 0 || !run.MatchString(j.outputs) || !strings.HasPrefix(j.summary, "## ✅ site.yml: done, with changes\n") {
			t.Errorf("code %d, outputs %q, summary %q\n%s", j.code, j.outputs, j.summary, j.log)
		}
		if !strings.Contains(j.log, "::group::step 1/1  say\n") || !strings.Contains(j.log, "two  words $(touch pwned)") {
			t.Error(j.log)
		}
		if _, err := os.Stat(filepath.Join(j.dir, "pwned")); err == nil {
			t.Error("an argument was run")
		}
		if text, err := os.ReadFile(filepath.Join(j.dir, "report.html")); err != nil || !bytes.HasPrefix(text, []byte("<!DOCTYPE html>")) {
			t.Errorf("the report: %v", err)
		}
	})
	t.Run("failed", func(t *testing.T) {
		j := use(t, &a, release(t, false), map[string]string{"playbook": "bad.yml", "version": "v9.8.7"}, playbook)
		if j.code != 1 || !strings.HasSuffix(j.outputs, "outcome=failed\n") || !strings.Contains(j.log, "::error file=bad.yml,line=1,col=3,title=step-0001 no::exit status 3") {
			t.Errorf("code %d, outputs %q\n%s", j.code, j.outputs, j.log)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		j := use(t, &a, "http://127.0.0.1:1", map[string]string{"command": "validate", "playbook": "site.yml\nwrong.yml\n", "version": "installed"}, playbook)
		if j.code != 2 || j.outputs != "" || !strings.Contains(j.log, "did you mean") {
			t.Errorf("code %d, outputs %q\n%s", j.code, j.outputs, j.log)
		}
	})
	t.Run("another archive", func(t *testing.T) {
		if j := use(t, &a, release(t, true), map[string]string{"playbook": "site.yml"}, playbook); j.code == 0 || !strings.Contains(j.log, "FAILED") {
			t.Errorf("code %d\n%s", j.code, j.log)
		}
	})
}

func TestPreCommit(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Entry, Language, Files string
		Types                                         []string
		Serial                                        bool `yaml:"require_serial"`
	}
	read(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 4 {
		t.Fatalf("there are %d hooks", len(hooks))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site.yml": "- {name: a, shell: x}\n", "moon.yml": "- {name: a, shell: x}\n", "playbook.yaml": "- {shel: x}\n", "loose.yml": "-   name:   a\n    shell: x\n",
		"warned.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - {debug: {msg: x}, name: a, name: b}\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	for _, h := range hooks {
		if h.Language != "golang" || !regexp.MustCompile(h.Files).MatchString("deploy/site.yml") || regexp.MustCompile(h.Files).MatchString("other-site.yml") {
			t.Errorf("%+v", h)
		}
		check := func(want int, files ...string) {
			words := append(strings.Fields(h.Entry), files...)
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("%s %v: code %d, want %d\n%s", h.Entry, files, code, want, out)
			}
		}
		switch h.ID {
		case "moon-fmt": // pre-commit fails by itself when a hook changes files
			check(0, "site.yml", "loose.yml")
			if text, err := os.ReadFile(filepath.Join(dir, "loose.yml")); err != nil || string(text) != "- name: a\n  shell: x\n" {
				t.Errorf("it is %q, %v", text, err)
			}
			continue
		case "moon-lint":
			check(0, "site.yml", "moon.yml")
			check(1, "warned.yml")
			continue
		}
		check(0, "site.yml", "moon.yml")
		check(2, "site.yml", "playbook.yaml")
		strict := 0
		if strings.Contains(h.Entry, "--strict") {
			strict = 2
		}
		check(strict, "warned.yml")
	}
}

// TestGitLab runs the jobs of the component: what stands before the script, and the script.
func TestGitLab(t *testing.T) {
	needs(t, "sh", "curl", "tar", "sha256sum")
	f, err := os.Open("templates/moon.yml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	var head struct {
		Spec struct {
			Inputs map[string]struct {
				Default     *string
				Description string
			}
		}
	}
	var jobs map[string]struct {
		Image, Extends, Stage string
		Variables             map[string]string
		Before                []string `yaml:"before_script"`
		Script                []string
		Rules                 []map[string]string
		Artifacts             struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	d.KnownFields(true)
	if err := d.Decode(&head); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&jobs); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"releases": release(t, false) + "/acme/moon/releases", "version": "v9.8.7", "args": `-e '{"word": "two words"}'`}
	input := regexp.MustCompile(`\$\[\[ inputs\.([\w-]+) \]\]`)
	fill := func(text string) string {
		return input.ReplaceAllStringFunc(text, func(found string) string {
			name := input.FindStringSubmatch(found)[1]
			in, known := head.Spec.Inputs[name]
			switch v, ok := given[name]; {
			case !known:
				t.Errorf("there is no input %s", name)
			case ok:
				return v
			case in.Default == nil:
				t.Errorf("the input %s has no default, and is not given", name)
			default:
				return *in.Default
			}
			return ""
		})
	}
	base := jobs[".moon"]
	for _, name := range []string{"moon-check", "moon-run"} {
		j := jobs[name]
		if j.Extends != ".moon" || len(j.Rules) != 1 || fill(j.Stage) == "" {
			t.Errorf("%s: %+v", name, j)
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "site.yml"), "- {name: say, shell: 'echo {{ word }}'}\n")
		// GitLab puts the lines of both into one script, and ends at the first that fails.
		cmd := exec.Command("sh", "-e", "-c", fill(strings.Join(append(slices.Clone(base.Before), j.Script...), "\n")))
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8"}
		for key, value := range base.Variables {
			cmd.Env = append(cmd.Env, key+"="+fill(value))
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "two words") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, file := range append(slices.Clone(j.Artifacts.Paths), j.Artifacts.Reports["junit"]) {
			if _, err := os.Stat(filepath.Join(dir, file)); file != "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPage holds the examples of docs/ci.md against what they use.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	fences := regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(fences) != 3 {
		t.Fatalf("there are %d examples", len(fences))
	}
	var github struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	var gitlab struct {
		Include []struct{ Inputs map[string]string }
	}
	var commit struct {
		Repos []struct{ Hooks []struct{ ID string } }
	}
	for i, to := range []any{&github, &gitlab, &commit} {
		if err := yaml.Unmarshal([]byte(fences[i][1]), to); err != nil {
			t.Fatal(err)
		}
	}
	var a action
	read(t, "action.yml", &a)
	uses := 0
	for _, s := range github.Jobs["deploy"].Steps {
		if !strings.HasPrefix(s.Uses, "OWNER/moon@") {
			continue
		}
		uses++
		for name := range s.With {
			if _, known := a.Inputs[name]; !known {
				t.Errorf("the action has no input %s", name)
			}
		}
	}
	for name := range a.Inputs {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("the page does not describe the input %s", name)
		}
	}
	component, err := os.ReadFile("templates/moon.yml")
	if err != nil {
		t.Fatal(err)
	}
	for name := range gitlab.Include[0].Inputs {
		if !strings.Contains(string(component), "\n    "+name+":\n") {
			t.Errorf("the component has no input %s", name)
		}
	}
	hooks, err := os.ReadFile(".pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range commit.Repos[0].Hooks {
		if !strings.Contains(string(hooks), "- id: "+h.ID+"\n") {
			t.Errorf("there is no hook %s", h.ID)
		}
	}
	if uses != 1 || len(gitlab.Include[0].Inputs) < 3 || len(commit.Repos[0].Hooks) != 1 {
		t.Errorf("the examples use nothing: %+v %+v %+v", github, gitlab, commit)
	}
}
