package facts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"moon/exec/facts"
)

func TestFacts(t *testing.T) {
	t.Setenv("MOON_TEST_FACT", "a=b")
	f := facts.Local()
	for _, name := range []string{
		"os", "arch", "hostname", "username", "home", "distribution", "distribution_version", "distribution_major", "os_family",
		"kernel_version", "cpu_cores", "memory_total_mb", "package_manager", "ip_addresses", "default_ipv4", "python_version",
		"env", "pid1", "linux", "darwin", "windows", "apt_available", "dnf_available", "brew_available",
	} {
		if _, ok := f[name]; !ok {
			t.Errorf("no fact %s", name)
		}
	}
	if f["os"] != runtime.GOOS || f["cpu_cores"] != runtime.NumCPU() || f["windows"] != false {
		t.Errorf("%v %v %v", f["os"], f["cpu_cores"], f["windows"])
	}
	if env := f["env"].(map[string]any); env["MOON_TEST_FACT"] != "a=b" || env["PATH"] != os.Getenv("PATH") {
		t.Errorf("env %v", env)
	}
	if n := f["memory_total_mb"].(int); n < 16 {
		t.Errorf("memory %d MiB", n)
	}
	plain(t, "facts", f)
}

// plain checks that a value is made of what variables are made of.
func plain(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case nil, bool, int, string:
	case []any:
		for _, item := range v {
			plain(t, path+"[]", item)
		}
	case map[string]any:
		for k, item := range v {
			plain(t, path+"."+k, item)
		}
	default:
		t.Errorf("%s is a %T", path, v)
	}
}

// TestFactsStartNoProcess gives facts a PATH where every program they look for is a script that would leave a trace.
func TestFactsStartNoProcess(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	for _, name := range []string{"apt-get", "dnf", "brew", "python3", "docker", "git", "hostname", "uname", "id", "ip"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ntouch "+trace+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	f := facts.Local()
	facts.Volatile()
	facts.Costly()
	if f["apt_available"] != true || f["zypper_available"] != false || f["package_manager"] != "apt" {
		t.Errorf("apt %v zypper %v manager %v", f["apt_available"], f["zypper_available"], f["package_manager"])
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a fact was found out by a process")
	}
}

// TestFactsUseNoProcess reads the files themselves: of os/exec they may use LookPath and nothing else.
func TestFactsUseNoProcess(t *testing.T) {
	for _, file := range []string{"facts.go", "machine_linux.go", "machine_darwin.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				x, _ := s.X.(*ast.Ident)
				if x != nil && (x.Name == "osexec" && s.Sel.Name != "LookPath" || x.Name == "os" && s.Sel.Name == "StartProcess") {
					t.Errorf("%s uses %s.%s", file, x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestFactsInABareEnvironment is a container or a service without anything set: every fact is still there.
func TestFactsInABareEnvironment(t *testing.T) {
	all := facts.Local()
	for _, name := range []string{"HOME", "PATH", "USER", "LOGNAME", "XDG_CONFIG_HOME", "TZ", "LANG"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	bare := facts.Local()
	for name := range all {
		if _, ok := bare[name]; !ok {
			t.Errorf("no fact %s", name)
		}
	}
	if bare["package_manager"] != "" || bare["apt_available"] != false || bare["python_version"] != "" {
		t.Errorf("manager %v apt %v python %v", bare["package_manager"], bare["apt_available"], bare["python_version"])
	}
	if u, err := user.Current(); err == nil && (bare["username"] != u.Username || bare["home"] != u.HomeDir) {
		t.Errorf("user %v home %v", bare["username"], bare["home"])
	}
	plain(t, "facts", bare)
}

func TestVolatileFacts(t *testing.T) {
	f := facts.Volatile()
	date := f["date_time"].(map[string]any)
	if date["year"] != time.Now().Format("2006") || date["epoch"].(int) < 1_700_000_000 {
		t.Errorf("date_time %v", date)
	}
	if n, ok := f["memory_free_mb"].(int); !ok || n < 0 || runtime.GOOS == "linux" && n == 0 {
		t.Errorf("memory_free_mb %v", f["memory_free_mb"])
	}
	stable := facts.Local()
	for name := range f {
		if _, both := stable[name]; both {
			t.Errorf("%s is volatile and not", name)
		}
	}
}

// TestCostlyFacts asks programs that answer, fail, hang on, and are not there.
func TestCostlyFacts(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"docker": "echo $$ >> " + filepath.Join(dir, "asked") + "; echo 'Docker version 28.2.2, build e6534b4'; echo 1.2.3",
		"git":    "echo git version 2.39.5.windows.1 >&2; exit 1",
		"go":     "echo go version go1.26.8 linux/amd64",
		"podman": "sleep 60 & echo podman version 5; sleep 60",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	costly := facts.Costly()
	for name, want := range map[string]string{"docker_version": "28.2.2", "git_version": "", "go_version": "1.26.8", "podman_version": ""} {
		if got := costly[name](); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	costly["docker_version"]()
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || strings.Count(string(asked), "\n") != 1 {
		t.Errorf("docker was asked %q, %v", asked, err)
	}
	t.Setenv("PATH", "")
	if got := facts.Costly()["docker_version"](); got != "" {
		t.Errorf("without docker its version is %q", got)
	}
}

func BenchmarkFacts(b *testing.B) {
	for b.Loop() {
		facts.Local()
	}
}
