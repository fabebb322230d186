package fakes

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"moon/exec/exectest"
	"moon/internal/cli"
)

// Commands is what the test binary is when it is called by another name.
var Commands = map[string]func(){"moon": mortal}

// RunSuite is the TestMain of a suite: the test binary is moon when it is called so, and a suite may have more commands.
func RunSuite(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" { // started for a connection, under whatever name
		os.Exit(cli.Main(os.Args[1:]))
	}
	if os.Getenv("MOON_ASKPASS") != "" { // by ssh, to ask for a password
		os.Exit(cli.Main(os.Args[1:]))
	}
	testscript.Main(atRoot{m}, Commands)
}

// atRoot runs the tests at the root of the project, whose documents, examples and playbooks they try.
type atRoot struct{ *testing.M }

// Run implements testscript.TestingM. As a command the test binary stays where it is called.
func (t atRoot) Run() int {
	for {
		if _, err := os.Stat("go.mod"); err == nil {
			break
		}
		if err := os.Chdir(".."); err != nil {
			panic(err)
		}
	}
	os.Setenv("PATH", exectest.PreferSystem(os.Getenv("PATH"), 1))
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TRACEPARENT"} { // what runs the tests decides nothing
		os.Unsetenv(name)
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

// Patience is how long a test waits for what must come: a machine that is busy is slow, and no test may be red for that.
const Patience = 2 * time.Minute
