package plan_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/plan"
	"moon/plan/planner"
)

// bombs are small playbooks that would cost without measure. What is asked of each is how it is refused, and where; that this
// costs little is asked of a process of its own, which counts its memory, and never of a clock.
var bombs = []struct {
	name  string
	files map[string]string
	says  string // the first diagnostic; "" for a plan
}{
	{
		"loops in loops",
		map[string]string{"p.yml": nested("shell: echo {{ c }}")},
		"p.yml:9:5: the plan would have 1000000000 steps or more; the limit is 1000000",
	},
	{
		"loops in loops over what depends on them",
		map[string]string{"p.yml": strings.ReplaceAll(nested("shell: echo {{ c }}"), "loop: 1..1000",
			"loop: \"{{ range(count | int) }}\"") + "vars: {count: 1000}\n"},
		"p.yml:4:13: loops and includes in each other would repeat tasks more than 50000 times",
	},
	{
		"loops in loops over nothing",
		map[string]string{"p.yml": nested("vars: {x: 1}")},
		"p.yml:3:9: loops and includes in each other would repeat tasks more than 50000 times",
	},
	{"includes in loops", map[string]string{
		"p.yml": "steps:\n  - include: b.yml\n    loop: 1..1000\n", "b.yml": "steps:\n  - include: c.yml\n    loop: 1..1000\n",
		"c.yml": "steps:\n  - shell: echo\n    loop: 1..1000\n",
	}, "c.yml:2:5: loops and includes in each other would repeat tasks more than 50000 times"},
	{"includes of includes", chainOfIncludes(30), "i28.yml:2:3: loops and includes in each other would repeat tasks more than 50000 times"},
	{"includes of plays", map[string]string{
		"p.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - include_tasks: b.yml\n      loop: \"{{ range(1000) }}\"\n",
		"b.yml": "- include_tasks: c.yml\n  loop: \"{{ range(1000) }}\"\n", "c.yml": "- debug: {msg: x}\n  loop: \"{{ range(1000) }}\"\n",
	}, "c.yml:1:3: loops and includes in each other would repeat tasks more than 50000 times"},
	{"blocks of plays", map[string]string{"p.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - block:\n        - debug: {msg: x}\n          loop: \"{{ range(100000) }}\"\n      loop: \"{{ range(1000) }}\"\n"}, "p.yml:7:7: the plan would have 100000000 steps or more; the limit is 1000000"},
	{"roles that need each other", map[string]string{
		"p.yml": "- hosts: localhost\n  gather_facts: false\n  roles: [r]\n", "roles/r/meta/main.yml": "dependencies: [r, s]\n",
		"roles/s/meta/main.yml": "dependencies: [r, s]\n", "roles/r/tasks/main.yml": "- debug: {msg: x}\n",
	}, "roles/r/meta/main.yml:1:16: the role \"r\" uses itself"},
	{"roles that double", rolesThatDouble(30), "roles/r29/meta/main.yml:1:16: the dependencies of roles lead to more than 5000 others"},
	{
		"variables of a play that double", doubling("%s", "{{ v%d }}{{ v%d }}", 30),
		"p.yml:35:29: `v30` (p.yml:34) cannot be had: `v29` (p.yml:33) cannot be had",
	},
	{"the same, not as far", doubling("%s", "{{ v%d }}{{ v%d }}", 16), ""},
	{"the same by an operator", doubling("%s", "{{ v%d ~ v%d }}", 40), "p.yml:45:29: `v40` (p.yml:44) cannot be had"},
	{"names that nothing defines", doubling("{{ nothing }}", "{{ v%d }}{{ v%d }}", 40), "p.yml:45:29: `v40` (p.yml:44) cannot be had"},
	{
		"conditions that look at each other", doubling("{{ v30 }}", "{{ v%d is defined and v%d is defined }}", 30),
		"p.yml:35:29: `v30` (p.yml:34) cannot be had",
	},
	{"lists that double", doubling("%s", "{{ [v%d, v%d] }}", 30), "p.yml:35:29: `v30` (p.yml:34) cannot be had"},
	{"a chain of variables", doubling("%s", "{{ v%[2]d }}", 20_000), "p.yml:20005:29: `v20000` (p.yml:20004) cannot be had"},
	{
		"hosts that ask for each other",
		map[string]string{"p.yml": "- hosts: localhost\n  gather_facts: false\n  vars:\n    v0: x\n" + func() string {
			text := ""
			for i := 1; i <= 30; i++ {
				text += fmt.Sprintf("    v%d: \"{{ hostvars.localhost.v%d ~ hostvars['localhost'].v%d }}\"\n", i, i-1, i-1)
			}
			return text
		}() + "  tasks:\n    - set_fact: {v0: x}\n"},
		"",
	},
	{
		"variables of steps that double",
		map[string]string{"p.yml": "vars:\n" + doubled("%s", "{{ v%d }}{{ v%d }}", 30) + "steps:\n  - print: \"{{ v30 | length }}\"\n"},
		"p.yml:28:8: the text grows beyond 32 MiB",
	},
	{
		"a chain of variables from its end",
		map[string]string{"p.yml": "vars:\n" + backwards(20_000) + "steps:\n  - print: \"{{ v0 }}\"\n"},
		"p.yml:1002:3: the variable `v1000` is needed by a chain of more than 1000 others",
	},
	{
		"much text in many steps",
		map[string]string{"p.yml": "steps:\n" + strings.Repeat("  - print: \"{{ 'x' * 30000000 }}\"\n", 100)},
		"p.yml:5:20: the templates of this playbook make too much text for a plan",
	},
	{
		"much work in many steps",
		map[string]string{"p.yml": "steps:\n" +
			strings.Repeat("  - print: \"{{ range(900000) | map('int') | sum }}\"\n", 100)},
		"p.yml:7:12: the templates of this playbook do too much work for a plan",
	},
	{
		"loops of a template in each other",
		map[string]string{"p.yml": "steps:\n  - print: \"{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}\"\n"},
		"p.yml:2:12: the template does more than 10 million steps",
	},
	{"the same, of a play", map[string]string{"p.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n  - debug: {msg: \"{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}\"}\n"}, "p.yml:4:18: the template does more than 10 million steps"},
	{
		"a list that each round makes again",
		map[string]string{"p.yml": "steps:\n  - print: \"{% for a in range(99999) %}{% set z = range(99999) %}{% endfor %}\"\n"},
		"p.yml:2:51: function `range` failed: the template does more than 10 million steps",
	},
	{"a long condition", map[string]string{"p.yml": "vars: {a: 1}\nsteps:\n  - shell: echo\n    when: a == 1" +
		strings.Repeat(" and a == 1", 11_000) + "\n"}, "p.yml:4:11: the condition is too long: 121006 bytes, where 65536 are allowed"},
	{
		"a long condition in a play",
		map[string]string{"p.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n  - command: echo\n    when: a == 1" +
			strings.Repeat(" and a == 1", 11_000) + "\n"},
		"p.yml:5:11: the condition is too long: 121006 bytes, where 65536 are allowed",
	},
	{
		"many operands in a condition",
		map[string]string{"p.yml": "vars: {a: 1}\nsteps:\n  - shell: echo\n    when: a" + strings.Repeat(" or a", 12_000) + "\n"},
		"p.yml:4:50011: the expression is too long",
	},
	{"a line of an inventory", map[string]string{
		"p.yml": "- hosts: all\n  gather_facts: false\n  tasks: [{debug: {msg: x}}]\n", "hosts": "h1" + strings.Repeat(" a", 40_000) + "\n",
	}, "hosts:1:4: after the name of a host there are variables, as name=value"},
}

func nested(inner string) string {
	return "steps:\n  - block:\n      - block:\n          - " + inner +
		"\n            loop: 1..1000\n            loop_control: {loop_var: c}\n        loop: 1..1000\n        loop_control: {loop_var: b}\n    loop: 1..1000\n    loop_control: {loop_var: a}\n"
}

func rolesThatDouble(n int) map[string]string {
	files := map[string]string{
		"p.yml": "- hosts: localhost\n  gather_facts: false\n  roles: [r0]\n",
		fmt.Sprintf("roles/r%d/tasks/main.yml", n): "- debug: {msg: x}\n",
	}
	for i := range n {
		files[fmt.Sprintf("roles/r%d/meta/main.yml", i)] = fmt.Sprintf("dependencies: [r%d, r%d]\n", i+1, i+1)
	}
	return files
}

func chainOfIncludes(n int) map[string]string {
	files := map[string]string{"p.yml": "steps:\n  - include: i0.yml\n", fmt.Sprintf("i%d.yml", n): "- shell: echo\n"}
	for i := range n {
		files[fmt.Sprintf("i%d.yml", i)] = fmt.Sprintf("- include: i%d.yml\n- include: i%d.yml\n", i+1, i+1)
	}
	return files
}

func doubled(first, next string, n int) string {
	var text strings.Builder
	text.WriteString("  v0: \"" + strings.ReplaceAll(first, "%s", "x") + "\"\n")
	for i := 1; i <= n; i++ {
		args := []any{i - 1, i - 1}
		if strings.Contains(next, "[2]") {
			args = args[:1]
		}
		fmt.Fprintf(&text, "  v%d: \""+next+"\"\n", append([]any{i}, args...)...)
	}
	return text.String()
}

func backwards(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "  v%d: \"{{ v%d }}\"\n", i, i+1)
	}
	return text.String() + fmt.Sprintf("  v%d: x\n", n)
}

func doubling(first, next string, n int) map[string]string {
	vars := strings.ReplaceAll("\n"+strings.TrimSuffix(doubled(first, next, n), "\n"), "\n", "\n  ")
	return map[string]string{"p.yml": "- hosts: localhost\n  gather_facts: false\n  vars:" + vars +
		fmt.Sprintf("\n  tasks: [{debug: {msg: \"{{ v%d }}\"}}]\n", n)}
}

// likeOthers are bombs that take seconds to be refused, as others of their kind do; only the long form has them.
var likeOthers = map[string]bool{
	"loops in loops over nothing": true, "includes in loops": true, "lists that double": true, "the same, of a play": true,
	"much work in many steps": true, "includes of plays": true, "a chain of variables from its end": true,
}

// most is how much memory refusing one of the bombs may take.
const most = 300 << 20

func TestBombs(t *testing.T) {
	if name := os.Getenv("MOON_BOMB"); name != "" {
		explode(t, name)
		return
	}
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if likeOthers[b.name] {
				assault.Long(t)
			}
			assault.Tried(t, "bombs", 1)
			child := exec.Command(os.Args[0], "-test.run=^TestBombs$", "-test.count=1")
			// The peak must tell what planning holds, not when the collector happened to run: on a busy machine that may be twice as much.
			// The collector keeps within its limit whatever the load, unless more is held.
			child.Env = append(os.Environ(), "MOON_BOMB="+b.name, "GOGC=100", "GOMEMLIMIT=220MiB")
			out, err := child.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%.4000s", err, out)
			}
			if peak := peakOf(string(out)); peak > most && !raced {
				t.Errorf("it took %d MB", peak>>20)
			}
		})
	}
}

// explode plans one of the bombs in this process.
func explode(t *testing.T, name string) {
	t.Helper()
	for _, b := range bombs {
		if b.name != name {
			continue
		}
		dir := t.TempDir()
		for file, text := range b.files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := plan.Options{Path: filepath.Join(dir, "p.yml"), Dir: dir, Home: dir, User: "ada", Login: plan.Login{Connection: "local"}}
		if b.files["hosts"] != "" {
			o.Hosts.Inventory = []string{filepath.Join(dir, "hosts")}
		}
		p, ds := planner.New(o)
		said := ""
		if len(ds) > 0 {
			said = fmt.Sprintf("%s:%d:%d: %s", ds[0].Pos.File, ds[0].Pos.Line, ds[0].Pos.Column, ds[0].Message)
		}
		if (p == nil) != (b.says != "") || !strings.HasPrefix(said, b.says) {
			t.Errorf("says %.1000q, want %q", said, b.says)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err == nil {
			_, after, _ := strings.Cut(string(status), "VmHWM:")
			line, _, _ := strings.Cut(after, "\n")
			fmt.Println("peak", strings.TrimSpace(line))
		}
		return
	}
	t.Fatalf("no bomb %q", name)
}

// peakOf is the memory that a child says it took, or 0 where that cannot be known.
func peakOf(out string) int {
	_, after, _ := strings.Cut(out, "peak ")
	kb, _, _ := strings.Cut(after, " ")
	n, _ := strconv.Atoi(kb)
	return n << 10
}
