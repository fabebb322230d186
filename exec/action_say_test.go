package exec_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
)

func TestPrint(t *testing.T) {
	names := fakeNames{"n": 5, "list": []any{1, "a"}, "m": map[string]any{"k": nil}, "s": "text"}
	tests := []struct {
		in   args
		want string
	}{
		{args{"msg": "hello"}, "hello"},
		{args{"msg": 5}, "5"},
		{args{"msg": []any{"a", 1}}, "[\"a\",1]"},
		{args{"msg": args{"a": strings.Repeat("<", 80)}}, "{\n  \"a\": \"" + strings.Repeat("<", 80) + "\"\n}"},
		{args{"var": "n"}, "n = 5"},
		{args{"var": "s"}, "s = text"},
		{args{"var": "list"}, "list = [1,\"a\"]"},
		{args{"var": "m"}, "m = {\"k\":null}"},
	}
	for _, tt := range tests {
		job := newJob(t, "print", tt.in)
		job.Names = names
		r := run(t, job)
		if r.Outcome != events.OK || r.Message != tt.want || r.Fields["msg"] != tt.want {
			t.Errorf("%v: %v %q", tt.in, r.Outcome, r.Message)
		}
	}
	job := newJob(t, "print", args{"var": "nothing"})
	want(t, run(t, job), events.Failed, "nothing is not defined")
}

func TestFailAndSetFact(t *testing.T) {
	want(t, run(t, newJob(t, "fail", args{"msg": "no"})), events.Failed, "no")
	r := run(t, newJob(t, "set_fact", args{"a": 1, "b": []any{2}}))
	if r.Outcome != events.OK || !reflect.DeepEqual(r.Values, args{"a": 1, "b": []any{2}}) {
		t.Errorf("%+v", r)
	}
	if d, err := check(t, newJob(t, "set_fact", args{"msg": "x"})); err != nil || d.Kind != events.ChangeNone {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestAssert(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[string]int{"/ok": 200, "/post": 201}[r.URL.Path])
		_, _ = w.Write([]byte(r.Method + " " + r.Header.Get("X-Test")))
	}))
	defer server.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "listen = 80\n", 0o640)
	names := fakeNames{"a == 1": true, "b == 2": false}
	http := func(in args) args { return args{"http": in} }
	tests := []struct {
		in   args
		want string // error; "": none
	}{
		{args{"that": []any{"a == 1"}}, ""},
		{args{"that": []any{"a == 1", "b == 2"}}, "assertion does not hold: b == 2"},
		{args{"that": "b == 2", "fail_msg": "b is wrong"}, "b is wrong"},
		{args{"that": "c"}, "c is not a condition"},
		{args{"command": args{"cmd": "exit 3", "exit_code": 3}}, ""},
		{args{"command": args{"cmd": "exit 3"}}, "`exit 3` ended with exit status 3, not 0"},
		{args{"command": args{"cmd": "echo hello", "contains": "ell"}}, ""},
		{args{"command": args{"cmd": "echo hello", "contains": "x"}}, "`echo hello` does not print \"x\""},
		{args{"file": args{"path": path, "contains": "listen", "mode": "0640"}}, ""},
		{args{"file": args{"path": path, "mode": "u=rw,g=r,o="}}, ""},
		{args{"file": args{"path": path, "content": "listen = 80\n"}}, ""},
		{args{"file": args{"path": path, "content": "x"}}, path + " has other content"},
		{args{"file": args{"path": path, "contains": "x"}}, path + " does not contain \"x\""},
		{args{"file": args{"path": path, "mode": "0600"}}, path + " has mode 0640, not 0600"},
		{args{"file": args{"path": path, "owner": 54321}}, "not 54321"},
		{args{"file": args{"path": path, "exists": false}}, path + " exists"},
		{args{"file": args{"path": path + "x", "exists": false}}, ""},
		{args{"file": args{"path": path + "x"}}, path + "x does not exist"},
		{http(args{"url": server.URL + "/ok"}), ""},
		{http(args{"url": server.URL + "/post", "method": "POST", "status": 201, "headers": args{"X-Test": 5}, "body_equals": "POST 5"}), ""},
		{http(args{"url": server.URL + "/ok", "status": 404}), server.URL + "/ok answered with 200, not 404"},
		{http(args{"url": server.URL + "/ok", "contains": "zzz"}), server.URL + "/ok does not answer with \"zzz\""},
		{http(args{"url": "http://" + closedPort(t)}), "does not answer: connection refused"},
		{args{"that": "a == 1", "file": args{"path": path}, "command": args{"cmd": "false"}}, "`false` ended with exit status 1, not 0"},
	}
	for _, tt := range tests {
		job := newJob(t, "assert", tt.in)
		job.Names = names
		r := run(t, job)
		outcome := events.OK
		if tt.want != "" {
			outcome = events.Failed
		}
		want(t, r, outcome, tt.want)
		if tt.want != "" && tt.want != "c is not a condition" && (r.Fields["evaluated_to"] != false || r.Fields["assertion"] == "") {
			t.Errorf("%v: fields %v", tt.in, r.Fields)
		}
	}
	job := newJob(t, "assert", args{"command": args{"cmd": "sleep 300"}})
	job.Timeout = 50 * time.Millisecond
	want(t, run(t, job), events.Timeout, "timed out after 50ms")
}

// closedPort is a local address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestWait(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "state: starting\n", 0o644)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 ready\r\n"))
			_ = conn.Close()
		}
	}()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_, closed, _ := net.SplitHostPort(closedPort(t))
	answers := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answers++; answers < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	tests := []struct {
		name string
		in   args
		want string
	}{
		{"file", args{"path": path}, ""},
		{"no file", args{"path": path + "x"}, path + "x does not exist"},
		{"file gone", args{"path": path + "x", "state": "absent"}, ""},
		{"file not gone", args{"condition": "file_absent", "path": path}, path + " exists"},
		{"file with text", args{"path": path, "search_regex": "^state: start"}, ""},
		{"file without text", args{"path": path, "search_regex": "^state: up"}, "does not contain ^state: up"},
		{"port", args{"port": port}, ""},
		{"port closed", args{"port": closed}, "127.0.0.1:" + closed + " accepts no connection: connection refused"},
		{"port to close", args{"port": closed, "state": "stopped"}, ""},
		{"port not closing", args{"port": port, "state": "stopped"}, "accepts connections"},
		{"greeting", args{"port": port, "search_regex": "^220"}, ""},
		{"other greeting", args{"port": port, "search_regex": "^550"}, "does not say ^550"},
		{"command", args{"cmd": "true"}, ""},
		{"failing command", args{"cmd": "exit 3"}, "`exit 3`: exit status 3"},
		{"hanging command", args{"cmd": "sleep 300"}, "`sleep 300` did not end"},
		{"http, third time", args{"url": server.URL}, ""},
		{"http, other status", args{"url": server.URL, "status": 418}, "answers with 200, not 418"},
		{"message", args{"path": path + "x", "msg": "no luck"}, "no luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["timeout"], tt.in["interval"] = 0.3, 0.01
			r := run(t, newJob(t, "wait", tt.in))
			outcome := events.OK
			if tt.want != "" {
				outcome = events.Failed
			}
			want(t, r, outcome, tt.want)
			if r.Fields["elapsed"] != 0 {
				t.Errorf("elapsed %v", r.Fields["elapsed"])
			}
		})
	}
}

func TestWaitTime(t *testing.T) {
	start := time.Now()
	want(t, run(t, newJob(t, "wait", args{"delay": 0.05, "timeout": 0.05})), events.OK, "")
	if d := time.Since(start); d < 100*time.Millisecond {
		t.Errorf("waited %v", d)
	}
	job := newJob(t, "wait", args{"timeout": 300})
	job.Timeout = 50 * time.Millisecond
	want(t, run(t, job), events.Timeout, "timed out after 50ms")
	job = newJob(t, "wait", args{"path": "/no/such/file"})
	job.Timeout = 50 * time.Millisecond
	want(t, run(t, job), events.Timeout, "timed out after 50ms")
	if r := (exec.DryRun{}).Run(t.Context(), newJob(t, "wait", args{"path": "/no/such/file"})); !strings.Contains(r.Message, "/no/such/file does not exist") {
		t.Errorf("dry run: %+v", r)
	}
}
