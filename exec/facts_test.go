package exec_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"moon/exec"
)

func TestFacts(t *testing.T) {
	t.Setenv("MOON_TEST_FACT", "a=b")
	f := exec.Facts()
	for _, name := range []string{
		"os", "arch", "hostname", "username", "home", "distribution", "distribution_version", "distribution_major", "os_family",
		"kernel_version", "cpu_cores", "memory_total_mb", "package_manager", "ip_addresses", "default_ipv4", "python_version",
		"date_time", "env", "pid1", "linux", "darwin", "windows", "apt_available", "dnf_available", "brew_available",
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
	if year := f["date_time"].(map[string]any)["year"]; year != time.Now().Format("2006") {
		t.Errorf("year %v", year)
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

func TestFactsAreQuick(t *testing.T) {
	best := time.Hour
	for range 10 {
		start := time.Now()
		exec.Facts()
		best = min(best, time.Since(start))
	}
	if best > 5*time.Millisecond {
		t.Errorf("facts take %v at best", best)
	}
}

func BenchmarkFacts(b *testing.B) {
	for b.Loop() {
		exec.Facts()
	}
}
