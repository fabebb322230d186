package action_test

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
	"moon/exec/exectest"
)

func TestPrint(t *testing.T) {
	names := exectest.Names{"n": 5, "list": []any{1, "a"}, "m": map[string]any{"k": nil}, "s": "text"}
	tests := []struct {
		in   exectest.Args
		want string
	}{
		{exectest.Args{"msg": "hello"}, "hello"},
		{exectest.Args{"msg": 5}, "5"},
		{exectest.Args{"msg": []any{"a", 1}}, "[\"a\",1]"},
		{exectest.Args{"msg": exectest.Args{"a": strings.Repeat("<", 80)}}, "{\n  \"a\": \"" + strings.Repeat("<", 80) + "\"\n}"},
		{exectest.Args{"var": "n"}, "n = 5"},
		{exectest.Args{"var": "s"}, "s = text"},
		{exectest.Args{"var": "list"}, "list = [1,\"a\"]"},
		{exectest.Args{"var": "m"}, "m = {\"k\":null}"},
	}
	for _, tt := range tests {
		job := exectest.NewJob(t, "print", tt.in)
		job.Names = names
		r := exectest.RunJob(t, job)
		if r.Outcome != events.OK || r.Message != tt.want || r.Fields["msg"] != tt.want {
			t.Errorf("%v: %v %q", tt.in, r.Outcome, r.Message)
		}
	}
	job := exectest.NewJob(t, "print", exectest.Args{"var": "nothing"})
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "nothing is not defined")
}

func TestFailAndSetFact(t *testing.T) {
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "fail", exectest.Args{"msg": "no"})), events.Failed, "no")
	r := exectest.RunJob(t, exectest.NewJob(t, "set_fact", exectest.Args{"a": 1, "b": []any{2}}))
	if r.Outcome != events.OK || !reflect.DeepEqual(r.Values, exectest.Args{"a": 1, "b": []any{2}}) {
		t.Errorf("%+v", r)
	}
	if d, err := exectest.PredictJob(t, exectest.NewJob(t, "set_fact", exectest.Args{"msg": "x"})); err != nil || d.Kind != events.ChangeNone {
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
	exectest.WriteFile(t, path, "listen = 80\n", 0o640)
	names := exectest.Names{"a == 1": true, "b == 2": false}
	http := func(in exectest.Args) exectest.Args { return exectest.Args{"http": in} }
	tests := []struct {
		in   exectest.Args
		want string // error; "": none
	}{
		{exectest.Args{"that": []any{"a == 1"}}, ""},
		{exectest.Args{"that": []any{"a == 1", "b == 2"}}, "assertion does not hold: b == 2"},
		{exectest.Args{"that": "b == 2", "fail_msg": "b is wrong"}, "b is wrong"},
		{exectest.Args{"that": "c"}, "c is not a condition"},
		{exectest.Args{"command": exectest.Args{"cmd": "exit 3", "exit_code": 3}}, ""},
		{exectest.Args{"command": exectest.Args{"cmd": "exit 3"}}, "`exit 3` ended with exit status 3, not 0"},
		{exectest.Args{"command": exectest.Args{"cmd": "echo hello", "contains": "ell"}}, ""},
		{exectest.Args{"command": exectest.Args{"cmd": "echo hello", "contains": "x"}}, "`echo hello` does not print \"x\""},
		{exectest.Args{"file": exectest.Args{"path": path, "contains": "listen", "mode": "0640"}}, ""},
		{exectest.Args{"file": exectest.Args{"path": path, "mode": "u=rw,g=r,o="}}, ""},
		{exectest.Args{"file": exectest.Args{"path": path, "content": "listen = 80\n"}}, ""},
		{exectest.Args{"file": exectest.Args{"path": path, "content": "x"}}, path + " has other content"},
		{exectest.Args{"file": exectest.Args{"path": path, "contains": "x"}}, path + " does not contain \"x\""},
		{exectest.Args{"file": exectest.Args{"path": path, "mode": "0600"}}, path + " has mode 0640, not 0600"},
		{exectest.Args{"file": exectest.Args{"path": path, "owner": 54321}}, "not 54321"},
		{exectest.Args{"file": exectest.Args{"path": path, "exists": false}}, path + " exists"},
		{exectest.Args{"file": exectest.Args{"path": path + "x", "exists": false}}, ""},
		{exectest.Args{"file": exectest.Args{"path": path + "x"}}, path + "x does not exist"},
		{http(exectest.Args{"url": server.URL + "/ok"}), ""},
		{http(exectest.Args{"url": server.URL + "/post", "method": "POST", "status": 201, "headers": exectest.Args{"X-Test": 5}, "body_equals": "POST 5"}), ""},
		{http(exectest.Args{"url": server.URL + "/ok", "status": 404}), server.URL + "/ok answered with 200, not 404"},
		{http(exectest.Args{"url": server.URL + "/ok", "contains": "zzz"}), server.URL + "/ok does not answer with \"zzz\""},
		{http(exectest.Args{"url": "http://" + closedPort(t)}), "does not answer: connection refused"},
		{exectest.Args{"that": "a == 1", "file": exectest.Args{"path": path}, "command": exectest.Args{"cmd": "false"}}, "`false` ended with exit status 1, not 0"},
	}
	for _, tt := range tests {
		job := exectest.NewJob(t, "assert", tt.in)
		job.Names = names
		r := exectest.RunJob(t, job)
		outcome := events.OK
		if tt.want != "" {
			outcome = events.Failed
		}
		exectest.WantOutcome(t, r, outcome, tt.want)
		if tt.want != "" && tt.want != "c is not a condition" && (r.Fields["evaluated_to"] != false || r.Fields["assertion"] == "") {
			t.Errorf("%v: fields %v", tt.in, r.Fields)
		}
	}
	job := exectest.NewJob(t, "assert", exectest.Args{"command": exectest.Args{"cmd": "sleep 300"}})
	job.Timeout = 50 * time.Millisecond
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Timeout, "timed out after 50ms")
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
	exectest.WriteFile(t, path, "state: starting\n", 0o644)
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
		in   exectest.Args
		want string
	}{
		{"file", exectest.Args{"path": path}, ""},
		{"no file", exectest.Args{"path": path + "x"}, path + "x does not exist"},
		{"file gone", exectest.Args{"path": path + "x", "state": "absent"}, ""},
		{"file not gone", exectest.Args{"condition": "file_absent", "path": path}, path + " exists"},
		{"file with text", exectest.Args{"path": path, "search_regex": "^state: start"}, ""},
		{"file without text", exectest.Args{"path": path, "search_regex": "^state: up"}, "does not contain ^state: up"},
		{"port", exectest.Args{"port": port}, ""},
		{"port closed", exectest.Args{"port": closed}, "127.0.0.1:" + closed + " accepts no connection: connection refused"},
		{"port to close", exectest.Args{"port": closed, "state": "stopped"}, ""},
		{"port not closing", exectest.Args{"port": port, "state": "stopped"}, "accepts connections"},
		{"greeting", exectest.Args{"port": port, "search_regex": "^220"}, ""},
		{"other greeting", exectest.Args{"port": port, "search_regex": "^550"}, "does not say ^550"},
		{"command", exectest.Args{"cmd": "true"}, ""},
		{"failing command", exectest.Args{"cmd": "exit 3"}, "`exit 3`: exit status 3"},
		{"hanging command", exectest.Args{"cmd": "sleep 300"}, "`sleep 300` did not end"},
		{"http, third time", exectest.Args{"url": server.URL}, ""},
		{"http, other status", exectest.Args{"url": server.URL, "status": 418}, "answers with 200, not 418"},
		{"message", exectest.Args{"path": path + "x", "msg": "no luck"}, "no luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["timeout"], tt.in["interval"] = 0.3, 0.01
			r := exectest.RunJob(t, exectest.NewJob(t, "wait", tt.in))
			outcome := events.OK
			if tt.want != "" {
				outcome = events.Failed
			}
			exectest.WantOutcome(t, r, outcome, tt.want)
			if r.Fields["elapsed"] != 0 {
				t.Errorf("elapsed %v", r.Fields["elapsed"])
			}
		})
	}
}

func TestWaitTime(t *testing.T) {
	start := time.Now()
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "wait", exectest.Args{"delay": 0.05, "timeout": 0.05})), events.OK, "")
	if d := time.Since(start); d < 100*time.Millisecond {
		t.Errorf("waited %v", d)
	}
	job := exectest.NewJob(t, "wait", exectest.Args{"timeout": 300})
	job.Timeout = 50 * time.Millisecond
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Timeout, "timed out after 50ms")
	job = exectest.NewJob(t, "wait", exectest.Args{"path": "/no/such/file"})
	job.Timeout = 50 * time.Millisecond
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Timeout, "timed out after 50ms")
	if r := (exec.DryRun{}).Run(t.Context(), exectest.NewJob(t, "wait", exectest.Args{"path": "/no/such/file"})); !strings.Contains(r.Message, "/no/such/file does not exist") {
		t.Errorf("dry run: %+v", r)
	}
}
