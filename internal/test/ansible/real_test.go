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
			c.spareHeads(t, got, want)
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

// sparedHead is how a spared difference begins that is a heading with nothing below it, which ansible-playbook alone prints. The rest of
// what is printed is compared.
const sparedHead = "TASK ["

// spareHeads takes the headings that are spared out of what ansible-playbook has printed.
func (c *trial) spareHeads(t *testing.T, got, want answer) {
	t.Helper()
	for head, reason := range c.spared {
		if !strings.HasPrefix(head, sparedHead) {
			continue
		}
		alone := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(head) + ` \*+\n(?:\n|\z)`)
		found := false
		for name := range want {
			if !strings.HasPrefix(name, "printed") {
				continue
			}
			found = found || alone.MatchString(want[name])
			want[name] = alone.ReplaceAllString(want[name], "")
			if alone.MatchString(got[name]) {
				t.Errorf("moon prints %s, and yet it is spared: %s", head, reason)
			}
		}
		if !found {
			t.Errorf("ansible-playbook does not print %s, and yet it is spared: %s", head, reason)
		}
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
	diffOfFile = regexp.MustCompile(`(?ms)^--- .*?\n\n`)
	ofTime     = regexp.MustCompile(`(?m)^(FAILED - RETRYING|ASYNC \w+ on ).*\n`) // how often depends on how fast the machine is
)

// steadyReal is what is printed, without what no two runs have in common.
func steadyReal(text, dir string) string {
	text = diffOfFile.ReplaceAllString(text, "")
	return steadyOutput(ofTime.ReplaceAllString(text, ""), dir)
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

// differingLines are the lines that only one of two texts has, in their order: - of moon, + of ansible-playbook.
func differingLines(moon, ansible string) string {
	a, b := strings.Split(moon, "\n"), strings.Split(ansible, "\n")
	common := make([][]int, len(a)+1) // of what follows two lines
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var text strings.Builder
	for len(a)+len(b) > 0 {
		i, j := len(common)-1-len(a), len(common[0])-1-len(b)
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			if strings.HasPrefix(a[0], "TASK") || strings.HasPrefix(a[0], "PLAY") {
				fmt.Fprintf(&text, "  %s\n", a[0])
			}
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&text, "- %s\n", a[0])
			a = a[1:]
		default:
			fmt.Fprintf(&text, "+ %s\n", b[0])
			b = b[1:]
		}
	}
	return text.String()
}
