package script

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestOTLP sends a run to a collector, as a pipeline with a trace of its own would have it, and to one that is not there.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	var spans []map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []map[string]any }
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
			t.Error(err)
		}
		for _, r := range doc.ResourceSpans {
			for _, s := range r.ScopeSpans {
				spans = append(spans, s.Spans...)
			}
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"my.secret.yml": "password: hunter2-of-ada\n",
		"site.yml": "vars_files: [my.secret.yml]\nsteps:\n- {name: one, shell: echo hidden output}\n" +
			"- {name: 'two with {{ password }}', shell: 'echo {{ password }} >&2; exit 3'}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	moon := func(endpoint string, args ...string) (out, errs string, code int) {
		cmd := exec.Command("moon", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint,
			"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run() // the code says it
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	}
	out, errs, code := moon(server.URL, "run", "-o", "text", "-o", "otlp", "site.yml")
	if code != 1 || !strings.Contains(out, "FAILED") || errs != "" {
		t.Errorf("code %d\n%s\n%s", code, out, errs)
	}
	names := map[string]string{}
	for _, s := range spans {
		names[s["name"].(string)] = s["traceId"].(string)
	}
	if len(names) != 3 || names["one"] != "4bf92f3577b34da6a3ce929d0e0e4736" || names["moon run site.yml"] == "" || names["two with ••••••••"] == "" {
		t.Errorf("the spans are %v", names)
	}
	if text, _ := json.Marshal(spans); bytes.Contains(text, []byte("hunter2")) {
		t.Errorf("a secret was sent: %s", text)
	}
	server.Close()
	if out, errs, code = moon(server.URL, "run", "-o", "text", "-o", "otlp", "site.yml"); code != 1 || !strings.Contains(out, "FAILED") ||
		strings.Count(errs, "moon: the collector of OpenTelemetry did not get all of this run") != 1 {
		t.Errorf("code %d\n%s\n%s", code, out, errs)
	}
	if _, errs, code = moon("nowhere", "run", "-o", "otlp", "site.yml"); code != 2 || !strings.Contains(errs, "--output otlp: the endpoint nowhere/v1/traces is not an address") {
		t.Errorf("code %d\n%s", code, errs)
	}
	// An address of its own counts more than the environment.
	if _, errs, code = moon("nowhere", "run", "-o", "otlp:"+server.URL, "site.yml"); code != 1 || !strings.Contains(errs, "connection refused") {
		t.Errorf("code %d\n%s", code, errs)
	}
}
