package exec_test

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
	write(t, filepath.Join(dir, "f.txt"), "from a file\n", 0o600)
	tests := []struct {
		name string
		in   args
		want args
	}{
		{"nothing", args{}, args{"method": "GET", "type": "", "body": ""}},
		{"text", args{"method": "post", "body": "a=b"}, args{"method": "POST", "type": "", "body": "a=b"}},
		{"a map", args{"method": "POST", "body": args{"a": 1}}, args{"method": "POST", "type": "", "body": `{"a":1}`}},
		{"json", args{"method": "PATCH", "body_format": "json", "body": args{"a": []any{1, "<"}}}, args{"method": "PATCH", "type": "application/json", "body": `{"a":[1,"<"]}`}},
		{"json as text", args{"method": "PUT", "body_format": "json", "body": ` {"a": 1}`}, args{"method": "PUT", "type": "application/json", "body": ` {"a": 1}`}},
		{"text that is no json", args{"method": "PUT", "body_format": "json", "body": "hello"}, args{"method": "PUT", "type": "application/json", "body": `"hello"`}},
		{
			"another type",
			args{"method": "PUT", "body_format": "json", "body": args{}, "headers": args{"content-type": "application/ld+json"}},
			args{"method": "PUT", "type": "application/ld+json", "body": "{}"},
		},
		{
			"a form",
			args{"method": "POST", "body_format": "form-urlencoded", "body": args{"b": "ü &", "a": []any{1, 2}}},
			args{"method": "POST", "type": "application/x-www-form-urlencoded", "body": "a=1&a=2&b=%C3%BC+%26"},
		},
		{
			"a form in order",
			args{"method": "POST", "body_format": "form-urlencoded", "body": []any{[]any{"b", 1}, []any{"a", nil}}},
			args{"method": "POST", "type": "application/x-www-form-urlencoded", "body": "b=1&a="},
		},
		{
			"files",
			args{"method": "POST", "body_format": "form-multipart", "body": args{
				"a": "text", "f": args{"filename": filepath.Join(dir, "f.txt")}, "g": args{"content": "{}", "filename": "g.json", "mime_type": "application/x"},
			}},
			args{"method": "POST", "type": "multipart", "a": "  text", "f": "f.txt text/plain; charset=utf-8 from a file\n", "g": "g.json application/x {}"},
		},
		{"src", args{"method": "PUT", "src": filepath.Join(dir, "f.txt")}, args{"method": "PUT", "type": "", "body": "from a file\n"}},
		{"force", args{"force": true}, args{"method": "GET", "type": "", "body": "", "cache": "no-cache"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["url"] = s.URL
			r := run(t, newJob(t, "uri", tt.in))
			want(t, r, events.OK, "")
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
	in := args{"url": s.URL + "/to", "validate_certs": false, "return_content": true}
	r := run(t, newJob(t, "uri", in))
	want(t, r, events.OK, "")
	for name, value := range map[string]any{
		"status": 200, "url": s.URL + "/f", "redirected": true, "content": newText, "msg": "OK (4 bytes)", "last_modified": "Sun, 09 Sep 2001 01:46:40 GMT",
		"content_type": "text/plain; charset=utf-8", "cookies_string": "", "json": nil,
	} {
		if r.Fields[name] != value {
			t.Errorf("%s is %#v, want %#v", name, r.Fields[name], value)
		}
	}
	in["follow_redirects"], in["status_code"] = "none", 302
	if r := run(t, newJob(t, "uri", in)); r.Fields["location"] != "/f" || r.Fields["redirected"] != false {
		t.Errorf("%v %v", r.Error, r.Fields)
	}
	in["follow_redirects"], in["method"] = "safe", "POST"
	if r := run(t, newJob(t, "uri", in)); r.Fields["status"] != 302 {
		t.Errorf("%v %v", r.Error, r.Fields)
	}
}

func TestURIDest(t *testing.T) {
	s := site(t, nil)
	dir := t.TempDir()
	in := args{"url": s.URL + "/f", "validate_certs": false, "dest": dir, "mode": "0600"}
	dry := exec.DryRun{}.Run(t.Context(), newJob(t, "uri", in))
	if dry.Diff.Kind != events.ChangeUnknown || !strings.Contains(dry.Message, "would send GET to "+s.URL+"/f") {
		t.Errorf("%+v %q", dry.Diff, dry.Message)
	}
	for _, outcome := range []events.Outcome{events.Changed, events.OK} {
		r := run(t, newJob(t, "uri", in))
		want(t, r, outcome, "")
		if got := read(t, filepath.Join(dir, "f")); got != newText || r.Fields["path"] != filepath.Join(dir, "f") || r.Fields["mode"] != "0600" || r.Fields["status"] != 200 {
			t.Errorf("%q, %v", got, r.Fields)
		}
	}
	in["creates"] = filepath.Join(dir, "f")
	want(t, run(t, newJob(t, "uri", in)), events.Skipped, "")
}

func TestURIFails(t *testing.T) {
	s := site(t, nil)
	tests := []struct {
		name  string
		in    args
		class string
		want  string
	}{
		{"status", args{"url": "/no"}, fault.Fatal, "/no answered 404 Not Found, not 200"},
		{"several", args{"url": "/no", "status_code": []any{200, 204}}, fault.Fatal, "answered 404 Not Found, not 200 or 204"},
		{"busy", args{"url": "/busy"}, fault.Transient, "answered 503 Service Unavailable, not 200"},
		{"busy, but it may have done something", args{"url": "/busy", "method": "POST"}, fault.Fatal, "answered 503"},
		{"contains", args{"url": "/f", "contains": "old"}, fault.Fatal, `/f does not answer with "old"`},
		{"equals", args{"url": "/f", "body_equals": "new"}, fault.Fatal, "/f answers with something else"},
		{"silent", args{"url": "/silent", "timeout": "50ms"}, fault.Transient, "did not answer within 50ms"},
		{"silent, but it may have done something", args{"url": "/silent", "timeout": "50ms", "method": "PUT"}, fault.Fatal, "did not answer within 50ms"},
		{"nobody there", args{"url": "http://127.0.0.1:1/", "method": "POST"}, fault.Transient, "http://127.0.0.1:1/: connection refused"},
		{"no src", args{"url": "/f", "src": "/nowhere/x", "method": "POST"}, fault.Fatal, "src /nowhere/x does not exist"},
		{"no secret is shown", args{"url": "http://ann:secret@127.0.0.1:1/"}, fault.Transient, "http://ann:xxxxx@127.0.0.1:1/: connection refused"},
		{"a header that cannot be", args{"url": "/f", "headers": args{"X-Key": "secret\n"}}, fault.Fatal, "invalid header field value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["validate_certs"] = false
			if url := tt.in["url"].(string); url[0] == '/' {
				tt.in["url"] = s.URL + url
			}
			r := run(t, newJob(t, "uri", tt.in))
			want(t, r, events.Failed, tt.want)
			if r.Class != tt.class || strings.Contains(r.Error, "secret") {
				t.Errorf("class %q of %s", r.Class, r.Error)
			}
		})
	}
	r := run(t, newJob(t, "uri", args{"url": s.URL + "/f", "validate_certs": false, "contains": "old"}))
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
	want(t, run(t, newJob(t, "uri", args{"url": "http://docker/info", "unix_socket": path})), events.OK, "")
}

// TestProxies finds the proxy in the step's environment.
func TestProxies(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.String()) }))
	defer proxy.Close()
	job := newJob(t, "uri", args{"url": "http://made.up/x"})
	job.Env = map[string]string{"HTTP_PROXY": proxy.URL}
	want(t, run(t, job), events.OK, "")
	if asked.Load() != "http://made.up/x" {
		t.Errorf("the proxy was asked for %v", asked.Load())
	}
	job.Env["NO_PROXY"] = "made.up"
	want(t, run(t, job), events.Failed, "made.up")
}
