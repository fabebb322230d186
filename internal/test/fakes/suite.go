package fakes

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

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
	os.Setenv("PATH", preferSystem(os.Getenv("PATH")))
	hearHangups()
	return t.M.Run()
}

// preferSystem gives a search path with the programs of the system right after the first directory, which has the commands of the
// suite. What stands in for them on somebody's machine, like the scripts that choose one of several Pythons, takes up to a second of each call.
func preferSystem(path string) string {
	own := filepath.SplitList(path)
	system := []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	others := slices.DeleteFunc(slices.Clone(own), func(dir string) bool { return slices.Contains(system, dir) })
	if len(others) == 0 {
		return path
	}
	return strings.Join(slices.Concat(others[:1], system, others[1:]), string(filepath.ListSeparator))
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
