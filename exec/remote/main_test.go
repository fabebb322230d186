package remote_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"moon/events/steplog"
	"moon/exec"
	"moon/exec/remote"
	"moon/exec/spec"
)

// TestMain makes the program of the tests an agent where it is started as one, on the other side of a connection.
func TestMain(m *testing.M) {
	if asked, err := remote.Asked(os.Args[1:], os.Stdout); asked {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		serve()
	}
	if len(os.Args) == 6 && os.Args[1] == "reach" {
		run(os.Args[2:])
	}
	os.Exit(m.Run())
}

// run runs a command on a host, and prints what it prints.
func run(words []string) {
	port, err := strconv.Atoi(words[1])
	if err != nil {
		panic(err)
	}
	action, _ := spec.Lookup("shell")
	raw := map[string]any{"cmd": words[3]}
	decoded, _ := action.Decode(raw)
	job := &exec.Job{
		Action: "shell", Args: decoded, Raw: raw, Roams: true, Host: &exec.Host{Name: "web1", Address: words[0], Port: port, Args: words[2]},
		Output: steplog.NewRelay(func(_ bool, p []byte) error { _, err := os.Stdout.Write(p); return err }),
	}
	pool := remote.Pool{Build: "test"}
	fmt.Println(pool.Run(context.Background(), job))
	os.Exit(0)
}

func serve() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	for _, flag := range os.Args[2:] {
		var err error
		switch flag {
		case "--clean":
			err = remote.CleanEnv()
		case "--kept":
			err = remote.Tend()
		case "--unlink":
			err = remote.Unlink()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := remote.Serve(ctx, os.Stdin, os.Stdout, "test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
