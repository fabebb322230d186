package action_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	answer := map[string]any{"method": r.Method, "type": r.Header.Get("Content-Type"), "body": string(body)}
	if r.Header.Get("Cache-Control") != "" {
		answer["cache"] = r.Header.Get("Cache-Control")
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		delete(answer, "body")
		answer["type"] = "multipart"
		if form, err := r.MultipartReader(); err == nil {
			for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
				content, _ := io.ReadAll(part)
				answer[part.FormName()] = fmt.Sprintf("%s %s %s", part.FileName(), part.Header.Get("Content-Type"), content)
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Changed", "yes")
	w.Header().Set("Status", "7")
	json.NewEncoder(w).Encode(answer)
}

func TestURIBodies(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "f.txt"), "from a file\n", 0o600)
	tests := []struct {
		name string
		in   exectest.Args
		want exectest.Args
	}{
		{"nothing", exectest.Args{}, exectest.Args{"method": "GET", "type": "", "body": ""}},
		{"text", exectest.Args{"method": "post", "body": "a=b"}, exectest.Args{"method": "POST", "type": "", "body": "a=b"}},
		{"a map", exectest.Args{"method": "POST", "body": exectest.Args{"a": 1}}, exectest.Args{"method": "POST", "type": "", "body": `{"a":1}`}},
		{"json", exectest.Args{"method": "PATCH", "body_format": "json", "body": exectest.Args{"a": []any{1, "<"}}}, exectest.Args{"method": "PATCH", "type": "application/json", "body": `{"a":[1,"<"]}`}},
		{"json as text", exectest.Args{"method": "PUT", "body_format": "json", "body": ` {"a": 1}`}, exectest.Args{"method": "PUT", "type": "application/json", "body": ` {"a": 1}`}},
		{"text that is no json", exectest.Args{"method": "PUT", "body_format": "json", "body": "hello"}, exectest.Args{"method": "PUT", "type": "application/json", "body": `"hello"`}},
		{
			"another type",
			exectest.Args{"method": "PUT", "body_format": "json", "body": exectest.Args{}, "headers": exectest.Args{"content-type": "application/ld+json"}},
			exectest.Args{"method": "PUT", "type": "application/ld+json", "body": "{}"},
		},
		{
			"a form",
			exectest.Args{"method": "POST", "body_format": "form-urlencoded", "body": exectest.Args{"b": "ü &", "a": []any{1, 2}}},
			exectest.Args{"method": "POST", "type": "application/x-www-form-urlencoded", "body": "a=1&a=2&b=%C3%BC+%26"},
		},
		{
			"a form in order",
			exectest.Args{"method": "POST", "body_format": "form-urlencoded", "body": []any{[]any{"b", 1}, []any{"a", nil}}},
			exectest.Args{"method": "POST", "type": "application/x-www-form-urlencoded", "body": "b=1&a="},
		},
		{
			"files",
			exectest.Args{"method": "POST", "body_format": "form-multipart", "body": exectest.Args{
				"a": "text", "f": exectest.Args{"filename": filepath.Join(dir, "f.txt")}, "g": exectest.Args{"content": "{}", "filename": "g.json", "mime_type": "application/x"},
			}},
			exectest.Args{"method": "POST", "type": "multipart", "a": "  text", "f": "f.txt text/plain; charset=utf-8 from a file\n", "g": "g.json application/x {}"},
		},
		{"src", exectest.Args{"method": "PUT", "src": filepath.Join(dir, "f.txt")}, exectest.Args{"method": "PUT", "type": "", "body": "from a file\n"}},
		{"force", exectest.Args{"force": true}, exectest.Args{"method": "GET", "type": "", "body": "", "cache": "no-cache"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["url"] = s.URL
			r := exectest.RunJob(t, exectest.NewJob(t, "uri", tt.in))
			exectest.WantOutcome(t, r, events.OK, "")
			if !reflect.DeepEqual(r.Fields["json"], tt.want) {
				t.Errorf("sent %v, want %v", r.Fields["json"], tt.want)
			}
			if r.Fields["changed"] != nil || r.Fields["status"] != 200 {
				t.Errorf("a header made it up: %v", r.Fields)
			}
		})
	}
}

func TestURIResult(t *testing.T) {
	s := site(t, nil)
	in := exectest.Args{"url": s.URL + "/to", "validate_certs": false, "return_content": true}
	r := exectest.RunJob(t, exectest.NewJob(t, "uri", in))
	exectest.WantOutcome(t, r, events.OK, "")
	for name, value := range map[string]any{
		"status": 200, "url": s.URL + "/f", "redirected": true, "content": newText, "msg": "OK (4 bytes)", "last_modified": "Sun, 09 Sep 2001 01:46:40 GMT",
		"content_type": "text/plain; charset=utf-8", "cookies_string": "", "json": nil,
	} {
		if r.Fields[name] != value {
			t.Errorf("%s is %#v, want %#v", name, r.Fields[name], value)
		}
	}
	in["follow_redirects"], in["status_code"] = "none", 302
	if r := exectest.RunJob(t, exectest.NewJob(t, "uri", in)); r.Fields["location"] != "/f" || r.Fields["redirected"] != false {
		t.Errorf("%v %v", r.Error, r.Fields)
	}
	in["follow_redirects"], in["method"] = "safe", "POST"
	if r := exectest.RunJob(t, exectest.NewJob(t, "uri", in)); r.Fields["status"] != 302 {
		t.Errorf("%v %v", r.Error, r.Fields)
	}
}

func TestURIDest(t *testing.T) {
	s := site(t, nil)
	dir := t.TempDir()
	in := exectest.Args{"url": s.URL + "/f", "validate_certs": false, "dest": dir, "mode": "0600"}
	dry := exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, "uri", in))
	if dry.Diff.Kind != events.ChangeUnknown || !strings.Contains(dry.Message, "would send GET to "+s.URL+"/f") {
		t.Errorf("%+v %q", dry.Diff, dry.Message)
	}
	for _, outcome := range []events.Outcome{events.Changed, events.OK} {
		r := exectest.RunJob(t, exectest.NewJob(t, "uri", in))
		exectest.WantOutcome(t, r, outcome, "")
		if got := exectest.ReadFile(t, filepath.Join(dir, "f")); got != newText || r.Fields["path"] != filepath.Join(dir, "f") || r.Fields["mode"] != "0600" || r.Fields["status"] != 200 {
			t.Errorf("%q, %v", got, r.Fields)
		}
	}
	in["creates"] = filepath.Join(dir, "f")
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "uri", in)), events.Skipped, "")
}

func TestURIFails(t *testing.T) {
	s := site(t, nil)
	tests := []struct {
		name  string
		in    exectest.Args
		class string
		want  string
	}{
		{"status", exectest.Args{"url": "/no"}, fault.Fatal, "/no answered 404 Not Found, not 200"},
		{"several", exectest.Args{"url": "/no", "status_code": []any{200, 204}}, fault.Fatal, "answered 404 Not Found, not 200 or 204"},
		{"busy", exectest.Args{"url": "/busy"}, fault.Transient, "answered 503 Service Unavailable, not 200"},
		{"busy, but it may have done something", exectest.Args{"url": "/busy", "method": "POST"}, fault.Fatal, "answered 503"},
		{"contains", exectest.Args{"url": "/f", "contains": "old"}, fault.Fatal, `/f does not answer with "old"`},
		{"equals", exectest.Args{"url": "/f", "body_equals": "new"}, fault.Fatal, "/f answers with something else"},
		{"silent", exectest.Args{"url": "/silent", "timeout": "50ms"}, fault.Transient, "did not answer within 50ms"},
		{"silent, but it may have done something", exectest.Args{"url": "/silent", "timeout": "50ms", "method": "PUT"}, fault.Fatal, "did not answer within 50ms"},
		{"nobody there", exectest.Args{"url": "http://127.0.0.1:1/", "method": "POST"}, fault.Transient, "http://127.0.0.1:1/: connection refused"},
		{"no src", exectest.Args{"url": "/f", "src": "/nowhere/x", "method": "POST"}, fault.Fatal, "src /nowhere/x does not exist"},
		{"no secret is shown", exectest.Args{"url": "http://ann:secret@127.0.0.1:1/"}, fault.Transient, "http://ann:xxxxx@127.0.0.1:1/: connection refused"},
		{"a header that cannot be", exectest.Args{"url": "/f", "headers": exectest.Args{"X-Key": "secret\n"}}, fault.Fatal, "invalid header field value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["validate_certs"] = false
			if url := tt.in["url"].(string); url[0] == '/' {
				tt.in["url"] = s.URL + url
			}
			r := exectest.RunJob(t, exectest.NewJob(t, "uri", tt.in))
			exectest.WantOutcome(t, r, events.Failed, tt.want)
			if r.Class != tt.class || strings.Contains(r.Error, "secret") {
				t.Errorf("class %q of %s", r.Class, r.Error)
			}
		})
	}
	r := exectest.RunJob(t, exectest.NewJob(t, "uri", exectest.Args{"url": s.URL + "/f", "validate_certs": false, "contains": "old"}))
	if r.Fields["content"] != newText || r.Fields["status"] != 200 {
		t.Errorf("what is not wanted is kept: %v", r.Fields)
	}
}

func TestURIUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "uri", exectest.Args{"url": "http://docker/info", "unix_socket": path})), events.OK, "")
}

// TestProxies finds the proxy in the step's environment.
func TestProxies(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.String()) }))
	defer proxy.Close()
	job := exectest.NewJob(t, "uri", exectest.Args{"url": "http://made.up/x"})
	job.Env = map[string]string{"HTTP_PROXY": proxy.URL}
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.OK, "")
	if asked.Load() != "http://made.up/x" {
		t.Errorf("the proxy was asked for %v", asked.Load())
	}
	job.Env["NO_PROXY"] = "made.up"
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "made.up")
}
