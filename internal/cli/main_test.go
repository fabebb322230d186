package cli

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asCommand is what the test binary is when it is called by another name.
var asCommand = map[string]func(){"moon": mortal}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" { // started for a connection, under whatever name
		os.Exit(Main(os.Args[1:]))
	}
	if os.Getenv("MOON_ASKPASS") != "" { // by ssh, to ask for a password
		os.Exit(Main(os.Args[1:]))
	}
	testscript.Main(atRoot{m}, asCommand)
}

// atRoot runs the tests at the root of the project, whose documents, examples and playbooks they try.
type atRoot struct{ *testing.M }

// Run implements testscript.TestingM. As a command the test binary stays where it is called.
func (t atRoot) Run() int {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	hearHangups()
	return t.M.Run()
}

// hearHangups lets the programs that tests start have hangups, also where whoever started the tests ignores them, as nohup does: what is
// ignored stays so in every child, and what is caught does not.
func hearHangups() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGHUP)
	go func() {
		<-ch
		os.Exit(129)
	}()
}

// TestScript runs moon as a user does: each testdata/script/*.txtar is a shell session with its files.
func TestScript(t *testing.T) {
	playbooks, err := filepath.Abs("testdata/playbooks")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PLAYBOOKS", playbooks)
			env.Setenv("TZ", "UTC")
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" { // who can be anybody
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("there is no condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"steady":    steady,
			"interrupt": interrupt,
			"gone":      gone,
		},
	})
}

// unsteady is what differs from run to run in moon's output, and what stands for it.
var unsteady = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{4}\b`), `RUN`},
	{regexp.MustCompile(`"time":"[^"]*"`), `"time":"T"`},
	{regexp.MustCompile(`"run":"[^"]*"`), `"run":"R"`},
	{regexp.MustCompile(`"(start|end|due)":"[^"]*"`), `"$1":"T"`},
	{regexp.MustCompile(`"(time|started)": "[^"]*"`), `"$1": "T"`},
	{regexp.MustCompile(`(?m)^  "(run|dir|actor|host)": "[^"]*"`), `  "$1": "…"`},
	{regexp.MustCompile(`"duration_ms": \d+`), `"duration_ms": 0`},
	{regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{4}`), `RUN`},
	{regexp.MustCompile(`::[0-9a-f]{32}`), `::TOKEN`},
	{regexp.MustCompile(` time="[0-9.]*"`), ` time="0"`},
	{regexp.MustCompile(`timestamp="[^"]*"`), `timestamp="T"`},
	{regexp.MustCompile(`started  \d.*? on .*?, moon`), `started  T by ME on HOST, moon`},
	{regexp.MustCompile(`took     .*`), `took     D`},
	{regexp.MustCompile(`\nSlowest\n(  .*\n)+`), ``},
	{regexp.MustCompile(`(?m)^  \d\d:\d\d:\d\d  `), `  HH:MM:SS  `},
	{regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `), `HH:MM:SS `},
	{regexp.MustCompile(`, \d+ (seconds?|minutes?( \d+)?)\.`), `.`},
	{regexp.MustCompile(`(?m)^(moon  .*)   (\d+(\.\d+)?(ms|s)|\d+:\d\d)$`), `$1   D`},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
	{regexp.MustCompile(` in (\d+(\.\d+)?(ms|s)|\d+:\d\d)`), ``},
	{regexp.MustCompile(`in \d+(\.\d+)?(µs|ms|s)`), `in D`},
	{regexp.MustCompile(`(plan|now) [0-9a-f]{12}`), `$1 P`},
	{regexp.MustCompile(`digest: "?[0-9a-f]{64}"?`), `digest: D`},
	{regexp.MustCompile(`digest: "?[0-9a-f]{32}"?`), `digest: S`},
	{regexp.MustCompile(`"digest": ?"[0-9a-f]{64}"`), `"digest":"D"`},
	{regexp.MustCompile(`"digest": ?"[0-9a-f]{32}"`), `"digest":"S"`},
}

// steady compares a file, or stdout or stderr, with another file, after replacing what differs from run to run.
func steady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steady stdout|stderr|FILE FILE")
	}
	got, want := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	for _, u := range unsteady {
		got = u.pattern.ReplaceAllString(got, u.with)
	}
	got = strings.ReplaceAll(got, ts.Getenv("WORK"), "$WORK")
	if got == want {
		return
	}
	if os.Getenv("UPDATE") != "" {
		update(ts, args[1], got)
		return
	}
	ts.Fatalf("%s is not %s\n--- got\n%s\n--- want\n%s", args[0], args[1], got, want)
}

// update rewrites one file of the running script.
func update(ts *testscript.TestScript, name, text string) {
	path := filepath.Join("testdata", "script", ts.Name()+".txtar")
	script, err := os.ReadFile(path)
	ts.Check(err)
	head := "-- " + name + " --\n"
	before, after, ok := strings.Cut(string(script), head)
	if !ok {
		before, after = string(script), ""
	}
	rest := ""
	if at := regexp.MustCompile(`(?m)^-- .* --$`).FindStringIndex(after); at != nil {
		rest = after[at[0]:]
	}
	ts.Check(os.WriteFile(path, []byte(before+head+text+rest), 0o644))
}

// interrupt runs moon in the background, waits until a file exists, and sends it signals: interrupt FILE SIGNALS
// WANT-CODE moon-args… .
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt FILE INT,INT CODE args…")
	}
	self, err := os.Executable()
	ts.Check(err)
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "moon"), args[3:]...)
	if path, err := exec.LookPath("moon"); err == nil {
		cmd.Path = path
	}
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"), "HOME="+ts.Getenv("HOME"))
	out, err := os.Create(ts.MkAbs("interrupted.out"))
	ts.Check(err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	ts.Check(cmd.Start())
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			break
		}
	}
	for name := range strings.SplitSeq(args[1], ",") {
		sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[name]
		ts.Check(cmd.Process.Signal(sig))
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Wait()
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[2] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[2], ts.ReadFile("interrupted.out"))
	}
}

// patience is how long a test waits for what must come: a machine that is busy is slow, and no test may be red for that.
const patience = 2 * time.Minute

// gone checks that the process whose id a file holds has ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	var pid int
	_, err := fmt.Sscan(ts.ReadFile(args[0]), &pid)
	ts.Check(err)
	limit := patience
	if neg {
		limit = 2 * time.Second
	}
	alive := false
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if alive = syscall.Kill(pid, 0) == nil; !alive {
			break
		}
	}
	if alive != neg {
		ts.Fatalf("process %d: alive is %v", pid, alive)
	}
}
