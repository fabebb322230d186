package action_test

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moon/events"
	"moon/exec/exectest"
	"moon/exec/fault"
	"moon/plan/dialect"
)

var (
	largeText = strings.Repeat("0123456789abcdef", 100_000) // more than a dry run loads
	newText   = "new\n"
)

func sha(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// site is a server that does what servers do. It counts what it was asked for.
func site(t *testing.T, asked *atomic.Int32) *httptest.Server {
	t.Helper()
	files := map[string]string{
		"/f": newText, "/large": largeText, "/d/f": newText,
		"/SUMS": sha("x") + "  other\n" + sha(newText) + " *./f\n", "/BSD": "SHA256 (f) = " + sha(newText) + "\n", "/alone": sha(newText) + "\n",
	}
	mux := http.NewServeMux()
	for path, text := range files {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(text))
		})
	}
	mux.HandleFunc("/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="../f.txt"`)
		fmt.Fprint(w, newText)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/f", http.StatusFound) })
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/who", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Digest realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mux.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s:%s %s %s %s\n", name, password, r.Header.Get("X-Key"), r.Host, r.UserAgent())
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "not all of it")
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/stuck", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the beginning")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			asked.Add(1)
		}
		mux.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// trusting is where a server's certificate is.
func trusting(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	exectest.WriteFile(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})), 0o644)
	return path
}

func dangling(target, name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGetURL(t *testing.T) {
	var asked atomic.Int32
	s := site(t, &asked)
	ca := trusting(t, s)
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		in      exectest.Args
		kind    events.ChangeKind
		summary string
		file    string
		want    string
		never   bool // is the server asked
	}{
		{"new", nil, exectest.Args{"url": "/f"}, "create", "new file, 4 bytes", "dest", newText, false},
		{"new, with a mode", nil, exectest.Args{"url": "/f", "mode": "0600"}, "create", "new file, 4 bytes, mode 0600", "dest", newText, false},
		{"large", nil, exectest.Args{"url": "/large"}, "create", "new file, 1562 KiB", "dest", largeText, false},
		{"large, with a checksum", exectest.MakeFile("dest", "old", 0o644), exectest.Args{"url": "/large", "checksum": "sha256:" + sha(largeText)}, "update", "content, 3 bytes → 1562 KiB", "dest", largeText, false},
		{"large, over a link", linkTo("old", "dest"), exectest.Args{"url": "/large", "force": true}, "update", "link to old → file, 1562 KiB", "dest", largeText, false},
		{"over a link that leads to nothing", dangling("gone", "dest"), exectest.Args{"url": "/f"}, "update", "link to gone → file, 4 bytes", "dest", newText, false},
		{"large, kept elsewhere", nil, exectest.Args{"url": "/large", "tmp_dest": "DIR"}, "create", "new file, 1562 KiB", "dest", largeText, false},
		{"large, of another size", exectest.MakeFile("dest", "old", 0o644), exectest.Args{"url": "/large", "force": true}, "update", "content, 3 bytes → 1562 KiB", "dest", largeText, false},
		{"there", exectest.MakeFile("dest", "old", 0o644), exectest.Args{"url": "/f"}, "none", "", "dest", "old", true},
		{"there, another mode", exectest.MakeFile("dest", "old", 0o644), exectest.Args{"url": "/f", "mode": "0600"}, "update", "mode 0644 → 0600", "dest", "old", true},
		{"there, with its checksum", exectest.MakeFile("dest", newText, 0o644), exectest.Args{"url": "/f", "checksum": "sha256:" + sha(newText)}, "none", "", "dest", newText, true},
		{"there, with another checksum", exectest.MakeFile("dest", "old", 0o644), exectest.Args{"url": "/f", "checksum": "sha256:" + sha(newText)}, "update", "content, 3 bytes → 4 bytes", "dest", newText, false},
		{"force", exectest.MakeFile("dest", "old", 0o640), exectest.Args{"url": "/f", "force": true}, "update", "content, 3 bytes → 4 bytes", "dest", newText, false},
		{"force, nothing new", exectest.MakeFile("dest", newText, 0o640), exectest.Args{"url": "/f", "force": true}, "none", "", "dest", newText, false},
		{"into a directory", exectest.MakeDir("dest", 0o755), exectest.Args{"url": "/d/f"}, "create", "new file, 4 bytes", "dest/f", newText, false},
		{"into a directory, nothing newer", exectest.MakeFile("dest/f", "mine", 0o644), exectest.Args{"url": "/d/f"}, "none", "", "dest/f", "mine", false},
		{"into a directory, by the name that the server gives", exectest.MakeDir("dest", 0o755), exectest.Args{"url": "/named"}, "create", "new file, 4 bytes", "dest/named", newText, false},
		{"a list of checksums", nil, exectest.Args{"url": "/f", "checksum": "sha256:URL/SUMS"}, "create", "new file, 4 bytes", "dest", newText, false},
		{"a list as BSD writes it", nil, exectest.Args{"url": "/f", "checksum": "sha256:URL/BSD"}, "create", "new file, 4 bytes", "dest", newText, false},
		{"a checksum alone", nil, exectest.Args{"url": "/f", "checksum": "sha256:URL/alone"}, "create", "new file, 4 bytes", "dest", newText, false},
		{"elsewhere", nil, exectest.Args{"url": "/to"}, "create", "new file, 4 bytes", "dest", newText, false},
		{
			"with a name", nil,
			exectest.Args{"url": "/me", "username": "ann", "password": "secret", "headers": exectest.Args{"X-Key": 7, "Host": "made.up"}},
			"create", "new file, 26 bytes", "dest", "ann:secret 7 made.up moon\n", false,
		},
		{"a file of this machine", exectest.MakeFile("src", newText, 0o600), exectest.Args{"url": "file://DIR/src"}, "create", "new file, 4 bytes", "dest", newText, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			asked.Store(0)
			in := paths(dir, tt.in)
			maps.Copy(in, exectest.Args{"dest": filepath.Join(dir, "dest"), "ca_path": ca})
			if url := in["url"].(string); url[0] == '/' {
				in["url"] = s.URL + url
			}
			if sum, ok := in["checksum"].(string); ok {
				in["checksum"] = strings.Replace(sum, "URL", s.URL, 1)
			}
			r := settle(t, dir, "get_url", in, nil)
			if r.Diff.Kind != tt.kind || r.Diff.Summary != tt.summary {
				t.Errorf("%s %q, want %s %q", r.Diff.Kind, r.Diff.Summary, tt.kind, tt.summary)
			}
			path := filepath.Join(dir, tt.file)
			if got := exectest.ReadFile(t, path); got != tt.want || r.Fields["dest"] != path {
				t.Errorf("%v has %.100q, want %.100q", r.Fields["dest"], got, tt.want)
			}
			if (asked.Load() == 0) != tt.never {
				t.Errorf("the server was asked %d times", asked.Load())
			}
		})
	}
}

// TestGetURLCompares has downloads of which a dry run cannot tell whether they are what is there.
func TestGetURLCompares(t *testing.T) {
	s := site(t, nil)
	other := strings.Replace(largeText, "f0", "f1", 1)
	for old, want := range map[string]events.ChangeKind{largeText: "none", other: "update"} {
		dir := t.TempDir()
		exectest.WriteFile(t, filepath.Join(dir, "dest"), old, 0o600)
		in := exectest.Args{"url": s.URL + "/large", "dest": filepath.Join(dir, "dest"), "force": true, "backup": true, "validate_certs": false}
		d, err := exectest.PredictJob(t, exectest.NewJob(t, "get_url", in))
		if err != nil || d.Kind != events.ChangeUnknown || d.Summary != "would be downloaded and compared, 1562 KiB" {
			t.Errorf("%+v, %v", d, err)
		}
		r := exectest.RunJob(t, exectest.NewJob(t, "get_url", in))
		if r.Diff.Kind != want || (r.Outcome == events.Changed) != (want == "update") || (r.Fields["backup_file"] != nil) != (want == "update") {
			t.Errorf("%v %+v %v, want %s", r.Outcome, r.Diff, r.Fields, want)
		}
		if got := exectest.ReadFile(t, filepath.Join(dir, "dest")); got != largeText {
			t.Errorf("%.100q", got)
		}
		noTemps(t, dir)
	}
}

func TestGetURLErrors(t *testing.T) {
	s := site(t, nil)
	ca := trusting(t, s)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	tests := []struct {
		name  string
		in    exectest.Args
		class string
		want  string
	}{
		{"not found", exectest.Args{"url": "/no"}, fault.Fatal, "URL/no answered 404 Not Found"},
		{"busy", exectest.Args{"url": "/busy"}, fault.Transient, "URL/busy answered 503 Service Unavailable"},
		{"not let in", exectest.Args{"url": "/who"}, fault.Fatal, "answered 401 Unauthorized; it wants to know who asks by Digest"},
		{"nobody there", exectest.Args{"url": "http://" + closed.Addr().String() + "/f"}, fault.Transient, "/f: connection refused"},
		{"no such host", exectest.Args{"url": "http://nobody.invalid/f", "use_proxy": false}, "", "http://nobody.invalid/f: "},
		{"no password is shown", exectest.Args{"url": "http://ann:secret@" + closed.Addr().String() + "/f"}, fault.Transient, "http://ann:xxxxx@"},
		{"not trusted", exectest.Args{"url": "/f", "ca_path": nil}, fault.Fatal, "URL/f: its certificate is not signed by a trusted authority; if that is expected, set `ca_path`"},
		{"another host's certificate", exectest.Args{"url": strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/f"}, fault.Fatal, "its certificate is not one of localhost"},
		{"around in circles", exectest.Args{"url": "/round"}, fault.Fatal, "URL/round: it is sent elsewhere more than 10 times"},
		{"breaks off", exectest.Args{"url": "/broken"}, fault.Transient, "URL/broken: the answer broke off"},
		{"silent", exectest.Args{"url": "/silent", "timeout": "50ms"}, fault.Transient, "URL/silent did not answer within 50ms"},
		{"stuck", exectest.Args{"url": "/stuck", "timeout": "50ms"}, fault.Transient, "URL/stuck did not answer within 50ms"},
		{"checksum", exectest.Args{"url": "/f", "checksum": "sha256:" + sha("x")}, fault.Fatal, "checksum: URL/f has sha256 " + sha(newText) + ", not " + sha("x")},
		{"checksum of a large file", exectest.Args{"url": "/large", "checksum": "sha256:" + sha("x")}, fault.Fatal, "checksum: URL/large has sha256 " + sha(largeText) + ", not " + sha("x")},
		{"not in the list", exectest.Args{"url": "/d/f2", "checksum": "sha256:URL/SUMS"}, fault.Fatal, "checksum: URL/SUMS has no sha256 of f2"},
		{"no directory", exectest.Args{"url": "/f", "dest": "/nowhere/x"}, fault.Fatal, "directory /nowhere does not exist"},
		{"no authority", exectest.Args{"url": "/f", "ca_path": "/nowhere/ca"}, fault.Fatal, "ca_path /nowhere/ca does not exist"},
		{"no certificates", exectest.Args{"url": "/f", "ca_path": "/etc/passwd"}, fault.Fatal, "ca_path /etc/passwd holds no PEM certificate"},
		{"no client certificate", exectest.Args{"url": "/f", "client_cert": "/nowhere/c"}, fault.Fatal, "/nowhere/c does not exist"},
		{"no file", exectest.Args{"url": "file:///nowhere/x"}, fault.Fatal, "/nowhere/x does not exist"},
		{"a directory", exectest.Args{"url": "file:///etc"}, fault.Fatal, "/etc: it is not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			in := exectest.Args{"dest": filepath.Join(dir, "dest"), "ca_path": ca}
			maps.Copy(in, tt.in)
			if url := in["url"].(string); url[0] == '/' {
				in["url"] = s.URL + url
			}
			if sum, ok := in["checksum"].(string); ok {
				in["checksum"] = strings.Replace(sum, "URL", s.URL, 1)
			}
			r := exectest.RunJob(t, exectest.NewJob(t, "get_url", in))
			if tt.class == fault.Transient { // in plays only the task itself tries again
				job := exectest.NewJob(t, "get_url", in)
				job.Dialect = dialect.Ansible
				if r := exectest.RunJob(t, job); r.Outcome != events.Failed || r.Class != fault.Fatal {
					t.Errorf("in plays: %s, %s", r.Outcome, r.Class)
				}
			}
			exectest.WantOutcome(t, r, events.Failed, strings.ReplaceAll(tt.want, "URL", s.URL))
			if tt.class != "" && r.Class != tt.class {
				t.Errorf("class %q, want %q", r.Class, tt.class)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("something was left: %v", entries)
			}
		})
	}
}

// TestRedirectsLeaveSecrets sends a request on to another host, which must not learn who asks.
func TestRedirectsLeaveSecrets(t *testing.T) {
	var got atomic.Value
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.Header.Clone()) }))
	defer away.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, away.URL, http.StatusFound)
	}))
	defer first.Close()
	in := exectest.Args{
		"url": first.URL, "user": "ann", "password": "secret", "headers": exectest.Args{"X-Key": "k", "X-Other": "o", "Cookie": "c=1"}, "unredirected_headers": []any{"x-key"},
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "uri", in)), events.OK, "")
	h := got.Load().(http.Header)
	if h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("X-Key") != "" || h.Get("X-Other") != "o" {
		t.Errorf("the other host was told %v", h)
	}
}
