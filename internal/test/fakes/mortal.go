package fakes

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"moon/engine/journal"
	moonexec "moon/exec"
	"moon/exec/process"
	"moon/internal/cli"
)

// DieAtVariable names the point of its life at which moon, as the tests run it, dies: after so many changes to its files, and
// beginnings and ends of processes. At 0 it lives, and says at its end how many there were.
const DieAtVariable = "TEST_DIE_AT"

// mortal is moon, which dies when it is asked to.
func mortal() {
	if text := os.Getenv(PanicVariable); text != "" {
		panicking(text)
	}
	if words, is := os.LookupEnv(FloodVariable); is {
		pour(words)
	}
	text, told := os.LookupEnv(DieAtVariable)
	if !told {
		os.Exit(cli.Main(os.Args[1:]))
	}
	at, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	var points atomic.Int64
	point := func() {
		if points.Add(1) == int64(at) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	call := cli.NewInvocation(os.Stdin, os.Stdout, os.Stderr)
	call.Session.Disk.Watch = func(journal.Op) error { point(); return nil }
	call.Session.Runner = moonexec.Local{Watch: func(process.Moment) { point() }}
	code := cli.Run(call, os.Args[1:])
	if at == 0 {
		fmt.Fprintf(os.Stderr, "\npoints %d\n", points.Load())
	}
	os.Exit(code)
}

// PanicVariable has moon, as the tests run it, panic: at so many changes to its files, or when it runs a step.
const PanicVariable = "TEST_PANIC"

type broken struct{ text string }

func (b broken) Run(context.Context, *moonexec.Job) moonexec.Result { panic(b.text) }

func panicking(text string) {
	where, text, _ := strings.Cut(text, " ")
	var changes atomic.Int64
	call := cli.NewInvocation(os.Stdin, os.Stdout, os.Stderr)
	if where == "run" {
		call.Session.Runner = broken{text}
	} else {
		call.Session.Disk.Watch = func(journal.Op) error {
			if fmt.Sprint(changes.Add(1)) == where {
				panic(text)
			}
			return nil
		}
	}
	os.Exit(cli.Run(call, os.Args[1:]))
}
