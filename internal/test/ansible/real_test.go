package ansible

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestAnsibleReal runs the projects of testdata/ansible-projects through moon and the real ansible-playbook, one after the other in the
// same directory, and compares everything: exit status, counts of each host, files with their modes, links, and what is printed for
// every task, which has the messages. Nothing differs but what trial.txtar lists as spared, with a reason; and that does.
//
//	ANSIBLE=real         all of them: make ansible-real
func TestAnsibleReal(t *testing.T) {
	how := os.Getenv("ANSIBLE")
	if how == "" && testing.Short() {
		t.Skip("ansible-playbook takes a second to start")
	}
	oracle := theOracle(t)
	all := allProjects(t)
	if how == "" {
		all = all[:3]
	}
	for _, c := range all {
		t.Run(strings.TrimPrefix(c.name, "project_"), func(t *testing.T) {
			c.checkMachine(t)
			t.Parallel()
			got, want := c.realMoon(t), c.realAnsible(t, oracle)
			for _, name := range slices.Sorted(maps.Keys(mergedKeys(got, want))) {
				reason, spared := c.spared[name]
				if same := got[name] == want[name]; same && spared {
					t.Errorf("%s is the same, and yet spared: %s", name, reason)
				} else if !same && !spared {
					t.Errorf("%s differs:\n%s", name, differingLines(got[name], want[name]))
				}
			}
		})
	}
}

// realMoon is what comes of a project with moon.
func (c *trial) realMoon(t *testing.T) answer {
	t.Helper()
	dir := c.lay(t)
	got := answer{}
	for i, run := range c.runs {
		printed := filepath.Join(dir, ".moon", "printed")
		var out, errs bytes.Buffer
		cmd := c.command(t, dir, run, "json", "ansible:"+printed)
		cmd.Stdout, cmd.Stderr = &out, &errs
		code := fakes.ExitCode(cmd.Run())
		text, err := os.ReadFile(printed)
		if err != nil {
			t.Logf("moon %s says\n%s", run, errs.String())
		}
		if os.Getenv("REAL_VERBOSE") != "" {
			t.Logf("moon prints\n%s%s", text, errs.String())
		}
		_ = os.Remove(printed)
		got[recapName(i)] = recapOf(code, hostCounts(out.Bytes()))
		got[strings.Replace(recapName(i), "recap", "printed", 1)] = steadyReal(string(text), dir)
	}
	c.collect(t, dir, got)
	got["tree"] = treeOf(t, filepath.Join(dir, "out"))
	return got
}

// realAnsible is what comes of it with ansible-playbook.
func (c *trial) realAnsible(t *testing.T, program string) answer {
	t.Helper()
	want, said, dir := c.oracle(t, program)
	if os.Getenv("REAL_VERBOSE") != "" {
		t.Logf("ansible-playbook prints\n%s", said[0])
	}
	for i := range c.runs {
		want[strings.Replace(recapName(i), "recap", "printed", 1)] = steadyReal(said[i], dir)
	}
	want["tree"] = treeOf(t, filepath.Join(dir, "out"))
	return want
}

var (
	diffOfFile = regexp.MustCompile(`(?ms)^--- (before|after).*?\n\n`)
	jobNumber  = regexp.MustCompile(`\b[a-z]?\d{6,}\.\d+\b`)
)

// steadyReal is what is printed, without what no two runs have in common.
func steadyReal(text, dir string) string {
	text = diffOfFile.ReplaceAllString(text, "")
	return jobNumber.ReplaceAllString(steadyOutput(text, dir), "JOB")
}

// treeOf lists the files, directories and links below a directory, with their modes.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		target, _ := os.Readlink(path)
		fmt.Fprintf(&b, "%s %s %s\n", info.Mode(), name, strings.ReplaceAll(target, filepath.Dir(dir), "$WORK"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// differingLines are the lines that only one of two texts has, without those that both begin and end with.
func differingLines(moon, ansible string) string {
	a, b := strings.Split(moon, "\n"), strings.Split(ansible, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return fmt.Sprintf("moon\n%s\nansible\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
}
