package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/test/fakes"
)

// Servers of databases, and the clients that talk to them. Where a server is installed, `server NAME` in the comment of a test starts it on
// the scratch machine, and the clients are the real ones. Elsewhere, in the short form, or with CLIENTS=recorded, pretenders of the clients
// play what real ones have answered, which is in the file `recorded` of the test. CLIENTS=record writes it there; read the diff before committing it.
var servers = map[string]struct {
	daemon  string
	start   string
	clients []string
}{
	"mariadb": {
		"/usr/sbin/mariadbd", `mkdir /tmp/my && chown mysql /tmp/my
mariadb-install-db --user=mysql --datadir=/tmp/my --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1
setsid mariadbd --no-defaults --user=mysql --datadir=/tmp/my --socket=/tmp/my/sock --skip-networking >/tmp/my/log 2>&1 &
for n in $(seq 100); do mariadb-admin --no-defaults -S /tmp/my/sock -u root ping >/dev/null 2>&1 && exit; sleep 0.2; done; cat /tmp/my/log; exit 1`,
		[]string{"mariadb", "mariadb-dump"},
	},
	"postgresql": {
		"/usr/lib/postgresql/15/bin/postgres", `mkdir /tmp/pg && chown postgres /tmp/pg; cd /tmp/pg
b=/usr/lib/postgresql/15/bin
su postgres -c "$b/initdb -D /tmp/pg/data -A trust -E UTF8 --locale=C.UTF-8" >/dev/null
su postgres -c "$b/pg_ctl -D /tmp/pg/data -o '-k /tmp/pg -h \"\"' -l /tmp/pg/log -w start" >/dev/null || cat /tmp/pg/log`,
		[]string{"psql", "pg_dump", "pg_restore"},
	},
}

func init() {
	fakes.Commands["server"] = startServer
	for _, s := range servers {
		for _, client := range s.clients {
			fakes.Commands[client] = beClient
		}
	}
}

// recording is held while a file of a test is written.
var recording sync.Mutex

// startServer is the command `server NAME` of a scratch machine.
func startServer() {
	s, ok := servers[os.Args[1]]
	if !ok {
		fatal("there is no server " + os.Args[1])
	}
	how, _ := os.ReadFile("/work/clients")
	_, err := os.Stat(s.daemon)
	if missing := err != nil; !missing && string(how) != "recorded" {
		c := exec.Command("sh", "-c", s.start)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			fatal(err.Error())
		}
		if string(how) != "record" {
			return
		}
	}
	for _, client := range s.clients {
		if err := os.Symlink("moon", "/usr/local/bin/"+client); err != nil {
			fatal(err.Error())
		}
	}
}

func fatal(what string) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

// recorded is what a client has answered once.
type recorded struct {
	Take   string // the playbook in which it was asked
	Argv   []string
	Stdin  string
	Stdout string `json:",omitempty"`
	Stderr string `json:",omitempty"`
	Code   int    `json:",omitempty"`
}

// beClient answers as a client does: by asking it, or what it has answered to the same question. The second time that it is asked, the
// second answer is the one, and the last answer holds for all questions after it.
func beClient() {
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		fatal(err.Error())
	}
	take, _ := os.ReadFile("/work/.take")
	r := recorded{Take: string(take), Argv: append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), Stdin: string(stdin)}
	how, _ := os.ReadFile("/work/clients")
	if string(how) == "record" {
		record(&r)
	} else {
		play(&r)
	}
	_, _ = os.Stdout.WriteString(r.Stdout)
	_, _ = os.Stderr.WriteString(r.Stderr)
	os.Exit(r.Code)
}

func record(r *recorded) {
	var out, errs bytes.Buffer
	c := exec.Command("/usr/bin/"+r.Argv[0], r.Argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(r.Stdin), &out, &errs
	if f := os.NewFile(3, "options"); f != nil {
		c.ExtraFiles = []*os.File{f}
	}
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		fatal(err.Error())
	}
	r.Stdout, r.Stderr, r.Code = out.String(), errs.String(), c.ProcessState.ExitCode()
	text, err := json.Marshal(r)
	if err != nil {
		fatal(err.Error())
	}
	_ = os.Mkdir("/work/.cache", 0o755) // it may be there
	f, err := os.OpenFile("/work/.cache/recorded", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err != nil {
		fatal(err.Error())
	}
}

func play(r *recorded) {
	text, err := os.ReadFile("/work/recorded")
	if err != nil {
		fatal(err.Error())
	}
	question, _ := json.Marshal([]any{r.Argv, r.Stdin})
	log, _ := os.ReadFile("/tmp/played")
	before := strings.Count(string(log), string(question)+"\n")
	_ = os.WriteFile("/tmp/played", append(log, append(question, '\n')...), 0o666)
	found := -1
	for line := range strings.Lines(string(text)) {
		var one recorded
		if json.Unmarshal([]byte(line), &one) != nil || one.Take != r.Take || one.Stdin != r.Stdin || strings.Join(one.Argv, "\n") != strings.Join(r.Argv, "\n") {
			continue
		}
		found++
		r.Stdout, r.Stderr, r.Code = one.Stdout, one.Stderr, one.Code
		if found == before {
			return
		}
	}
	if found < 0 {
		fatal("this was not recorded: " + string(question))
	}
}

// setTake prepares a machine for what its clients are to answer.
func (s *scratch) setTake(t *testing.T, take string) {
	t.Helper()
	s.write(t, ".take", []byte(take), 0o644)
	how := os.Getenv("CLIENTS")
	if how == "" && testing.Short() {
		how = "recorded"
	}
	s.write(t, "clients", []byte(how), 0o644)
}

// keepRecorded puts what clients have answered into the file of a test.
func (s *scratch) keepRecorded(t *testing.T, path, take string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "up/work/.cache/recorded"))
	if os.Getenv("CLIENTS") != "record" || err != nil {
		return
	}
	recording.Lock()
	defer recording.Unlock()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	at := len(archive.Files)
	for i, f := range archive.Files {
		if f.Name != "recorded" {
			continue
		}
		at = i
		for line := range strings.Lines(string(f.Data)) {
			if !strings.HasPrefix(line, `{"Take":"`+take+`"`) {
				kept.WriteString(line)
			}
		}
	}
	if at == len(archive.Files) {
		archive.Files = append(archive.Files, txtar.File{Name: "recorded"})
	}
	kept.Write(text)
	archive.Files[at].Data = []byte(kept.String())
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
