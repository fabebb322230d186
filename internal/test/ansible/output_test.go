package ansible

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spoken are the trials whose output is compared, line by line: testdata/ansible-output/NAME.txt is what both programs print, as
// far as it does not differ from run to run.
var spoken = []string{
	"rescue_nested", "handlers_order", "unreachable", "include_loop", "include_per_host", "include_role", "serial_one_failed",
	"loop_when_per_item", "loop_failing_item", "delegate_to", "ignore_errors_counts", "handlers_role", "run_once", "all_hosts_fail", "hosts_nothing",
	"until_exhausted", "any_errors_fatal", "include_when_false", "order_of_play", "role_once",
}

// TestAnsibleOutput prints trials as ansible-playbook does. UPDATE=1 writes down what moon prints; TestAnsibleOutputItself then says
// whether that is right.
func TestAnsibleOutput(t *testing.T) {
	for _, name := range spoken {
		t.Run(name, func(t *testing.T) {
			c := readTrial(t, filepath.Join("testdata/ansible", name+".txtar"))
			c.checkMachine(t)
			t.Parallel()
			dir := c.lay(t)
			var out, errs bytes.Buffer
			cmd := c.command(t, dir, c.runs[0], "ansible")
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // how it ends is what TestAnsible is about
			got := steadyOutput(out.String(), dir)
			golden := filepath.Join("testdata/ansible-output", name+".txt")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("moon prints\n%s\nwant\n%s\n%s", got, want, errs.String())
			}
		})
	}
}

// TestAnsibleOutputItself compares what is written down with what the real ansible-playbook prints: some of it, or with ANSIBLE=all
// everything.
func TestAnsibleOutputItself(t *testing.T) {
	if os.Getenv("ANSIBLE") == "" && testing.Short() {
		t.Skip("ansible-playbook takes a second to start")
	}
	oracle, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Skip(err)
	}
	if version, err := exec.Command(oracle, "--version").Output(); err != nil || !strings.Contains(string(version), "[core 2.14") {
		t.Skipf("what is written down is of ansible-playbook 2.14; this one is another: %.40s %v", version, err)
	}
	each := 5
	if os.Getenv("ANSIBLE") != "" {
		each = 1
	}
	for i := 0; i < len(spoken); i += each {
		name := spoken[i]
		t.Run(name, func(t *testing.T) {
			c := readTrial(t, filepath.Join("testdata/ansible", name+".txtar"))
			c.checkMachine(t)
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata/ansible-output", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, said, dir := c.oracle(t, oracle)
			if got := steadyOutput(said[0], dir); got != string(want) {
				t.Errorf("ansible-playbook prints\n%s\nand not\n%s", got, want)
			}
		})
	}
}

var (
	resultOnLine = regexp.MustCompile(`=> \{.*\}$`)
	recapSpaces  = regexp.MustCompile(` +`)
)

// steadyOutput is an output without what differs from run to run and between the programs: results, warnings, and which host of
// a task was first. The lines of a task are sorted, but for those that belong to the line above.
func steadyOutput(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "$WORK")
	var blocks []string
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		block = strings.Trim(block, "\n")
		head, rest, _ := strings.Cut(block, "\n")
		if block == "" || strings.HasPrefix(head, "[") {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(rest, "\n") {
			line = resultOnLine.ReplaceAllString(strings.TrimRight(line, " "), "=> {…}")
			if strings.HasPrefix(head, "PLAY RECAP") {
				line = recapSpaces.ReplaceAllString(line, " ")
			}
			if said, hosts, ok := strings.Cut(line, " for "); ok && strings.HasPrefix(said, "included: ") {
				hosts, item, _ := strings.Cut(hosts, " => ")
				names := strings.Split(hosts, ", ")
				slices.Sort(names)
				line = said + " for " + strings.Join(names, ", ") + strings.TrimSuffix(" => "+item, " => ")
			}
			if (line == "...ignoring" || strings.HasPrefix(line, " ") || line == "}") && len(lines) > 0 {
				lines[len(lines)-1] += "\n" + line
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
		}
		slices.Sort(lines)
		blocks = append(blocks, strings.Join(append([]string{head}, lines...), "\n")+"\n")
	}
	return strings.Join(blocks, "\n")
}
