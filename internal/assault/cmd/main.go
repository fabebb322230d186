// Command cmd attacks moon: it runs the tests behind each promise of docs/reliability.md, has them try all they can, and
// prints one table, each line as soon as it is known. It fails if a row is missing, was tried less often than its figure says, or did not
// hold.
//
//	go run ./internal/assault/cmd             # all rows; takes about an hour on two cores
//	go run ./internal/assault/cmd R3 R19      # these rows
//	go run ./internal/assault/cmd -list       # what there is, without trying it
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"moon/internal/assault"
)

func main() {
	list := flag.Bool("list", false, "print the attacks, and do not try them")
	fuzzing := flag.Duration("fuzz", 15*time.Second, "how long each fuzz target is tried")
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *list {
		for _, a := range chosen {
			fmt.Printf("%-4s %-52s %9s  %s\n", a.row, a.name, thousands(a.figure), a.tests)
		}
		return
	}
	if held, err := attackAll(chosen, *fuzzing); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	} else if !held {
		os.Exit(1)
	}
}

// choose gives the attacks on some rows, or on all.
func choose(rows []string) ([]attack, error) {
	if len(rows) == 0 {
		return attacks, nil
	}
	var list []attack
	for _, row := range rows {
		n := len(list)
		for _, a := range attacks {
			if a.row == row {
				list = append(list, a)
			}
		}
		if len(list) == n {
			return nil, fmt.Errorf("there is no row %s; there are R1 to %s", row, attacks[len(attacks)-1].row)
		}
	}
	return list, nil
}

// attackAll runs the tests, prints the table, and says whether everything held.
func attackAll(chosen []attack, fuzzing time.Duration) (bool, error) {
	dir, err := os.MkdirTemp("", "moon-assault-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Under nohup the tests would ignore hangups, as would the moons that they send some to. What is caught here they get as usual.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	r := &runner{dir: dir, log: filepath.Join(dir, "log"), fuzzing: fuzzing, done: map[string]bool{}}
	held, tried := true, map[string]result{}
	fmt.Print(tableHead)
	for _, a := range chosen {
		err := r.run(ctx, a)
		if ctx.Err() != nil { // what was reached is in the table
			break
		}
		if err != nil {
			r.broken = append(r.broken, err.Error())
		}
		if tried, err = r.tried(); err != nil {
			return false, err
		}
		line, ok := tableLine(a, tried[a.name])
		fmt.Print(line)
		held = held && ok
	}
	sums, ok := tableSums(len(chosen) == len(attacks), chosen, tried)
	fmt.Print(sums)
	for _, b := range r.broken {
		fmt.Println("FAILED:", b)
	}
	return held && ok && len(r.broken) == 0, ctx.Err()
}

// runner runs each test once, although several rows may name it.
type runner struct {
	dir, log string
	fuzzing  time.Duration
	done     map[string]bool // "package test"
	broken   []string
}

func (r *runner) run(ctx context.Context, a attack) error {
	tests := strings.Fields(a.tests)
	if a.tests == "" {
		var err error
		if tests, err = fuzzTargets("."); err != nil {
			return err
		}
	}
	var broken []error
	for _, test := range tests {
		if r.done[test] || ctx.Err() != nil {
			continue
		}
		r.done[test] = true
		began := time.Now()
		pkg, name, _ := strings.Cut(test, ":")
		var err error
		if a.tests == "" {
			err = r.fuzz(ctx, a.name, pkg, name)
		} else {
			err = r.test(ctx, pkg, name)
		}
		verdict := "ok"
		if err != nil {
			verdict = "FAILED"
			broken = append(broken, errors.New(test))
		}
		fmt.Fprintf(os.Stderr, "%-6s %-4s %5s  %s\n", verdict, a.row, time.Since(began).Round(time.Second), test)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return errors.Join(broken...)
}

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// fuzzTargets are all that there are below a directory.
func fuzzTargets(root string) (list []string, err error) {
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range fuzzTarget.FindAllSubmatch(text, -1) {
			list = append(list, "./"+filepath.ToSlash(filepath.Dir(path))+":"+string(m[1]))
		}
		return err
	})
	return list, err
}

// limit is the longest that one test may take: more would hide a hang.
const limit = 20 * time.Minute

// test runs a test, with the tests of its package compiled once.
func (r *runner) test(ctx context.Context, pkg, test string) error {
	binary := filepath.Join(r.dir, strings.ReplaceAll(pkg, "/", "_")+".test")
	if _, err := os.Stat(binary); err != nil {
		if out, err := r.command(ctx, ".", "go", "test", "-c", "-o", binary, pkg); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	out, err := r.command(ctx, pkg, binary, "-test.run", pattern, "-test.count", "1", "-test.timeout", limit.String(), "-test.paniconexit0")
	if err != nil {
		return fmt.Errorf("%w\n%s", err, tail(out))
	}
	return nil
}

// fuzz runs a fuzz target, and counts what it executed: it has no cleanup that could say so.
func (r *runner) fuzz(ctx context.Context, attack, pkg, target string) error {
	out, err := r.command(ctx, ".", "go", "test", pkg, "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", r.fuzzing.String(),
		"-fuzzminimizetime", "10x")
	n := 0
	for line := range bytes.Lines(out) {
		if _, after, ok := strings.Cut(string(line), "execs: "); ok {
			_, _ = fmt.Sscan(after, &n) // the last line has them all
		}
	}
	failed := 0
	if err != nil {
		failed = 1
		err = fmt.Errorf("%w\n%s", err, tail(out))
	}
	f, ferr := os.OpenFile(r.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if ferr != nil {
		return ferr
	}
	defer func() { _ = f.Close() }()
	if _, ferr := fmt.Fprintf(f, "%s\t%d\t%d\t%s\n", attack, n, failed, target); ferr != nil {
		return ferr
	}
	return err
}

// command runs a program of the suite. It is interrupted like this one, and has time to clean up.
func (r *runner) command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), assault.Mode+"=all", assault.Log+"="+r.log)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd.CombinedOutput()
}

// tail is the end of what a test printed.
func tail(out []byte) []byte {
	lines := bytes.SplitAfter(out, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-40):], nil)
}

// result is what was tried of an attack.
type result struct{ tries, failures int }

// tried reads what the tests have tried until now.
func (r *runner) tried() (map[string]result, error) {
	text, err := os.ReadFile(r.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first may have failed before it tried anything
		return nil, err
	}
	return parse(string(text))
}

// parse reads what the tests have written down.
func parse(text string) (map[string]result, error) {
	all := map[string]result{}
	for line := range strings.Lines(text) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var n, failed int
		if len(words) != 4 {
			return nil, fmt.Errorf("not a line of what was tried: %q", line)
		}
		if _, err := fmt.Sscan(words[1], &n); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscan(words[2], &failed); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(attacks, func(a attack) bool { return a.name == words[0] }) {
			return nil, fmt.Errorf("%s tries %q, which is not in the table of attacks", words[3], words[0])
		}
		r := all[words[0]]
		all[words[0]] = result{r.tries + n, r.failures + failed}
	}
	return all, nil
}

// tableHead begins the table.
const tableHead = "| row | tried | tries | failures | figure to hold | |\n| --- | --- | ---: | ---: | ---: | --- |\n"

// tableLine is the line of an attack, and says whether its figure is held.
func tableLine(a attack, r result) (string, bool) {
	verdict := "held"
	switch {
	case r.tries == 0:
		verdict = "MISSING"
	case r.failures > 0:
		verdict = "BROKEN"
	case r.tries < a.figure:
		verdict = "TOO FEW"
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %s | %s |\n", a.row, a.name, thousands(r.tries), r.failures, thousands(a.figure),
		verdict), verdict == "held"
}

// tableSums ends the table with the sums by kind, and says whether they are held. Of some rows only the failures count.
func tableSums(whole bool, chosen []attack, tried map[string]result) (string, bool) {
	var b strings.Builder
	held := true
	sums := map[string]result{}
	for _, a := range chosen {
		s, r := sums[a.kind], tried[a.name]
		sums[a.kind] = result{s.tries + r.tries, s.failures + r.failures}
	}
	for _, k := range kinds {
		s := sums[k.name]
		if !whole && s.tries == 0 {
			continue
		}
		verdict := "held"
		if s.failures > 0 || whole && s.tries < k.figure {
			verdict, held = "BROKEN", false
		}
		fmt.Fprintf(&b, "| all | %s | %s | %d | %s | %s |\n", k.name, thousands(s.tries), s.failures, thousands(k.figure), verdict)
	}
	return b.String(), held
}

// thousands writes a number as documents do: 10,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
