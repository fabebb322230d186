package starter_test

import (
	"os/exec"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"moon/internal/starter"
)

// TestScriptSteps takes scripts apart and runs the steps one after the other: together they print what the script prints.
func TestScriptSteps(t *testing.T) {
	for name, script := range map[string]string{
		"case":     "a=1\n\ncase $a in\n1) echo one\n   ;;\n\n*)\n  echo other ;;\nesac\n\necho end\n",
		"function": "f() {\n\techo \"in $1\"\n\n\tif true; then\n\n\techo fi; fi\n\techo done\n}\n\nf a\n\nf b\n",
		"one line": "g() { echo g; }\n\ng\n\nfor i in 1 2; do echo $i; done\n\nif true; then echo t; fi\n\necho end\n",
		"quotes":   "echo 'a\n\nb # c'\n\necho \"it's ( { $((1 + 2))\" # don't\n\necho \\\n\n echo end\n",
		"heredoc":  "cat <<'E'\nx $y {{ z }} {% raw\n\nif\nE\n\necho ${#HOME} > /dev/null\n\necho a |\n\n tr a b\n",
		"group":    "(\n echo a\n\n echo b\n)\n\n{\n echo c\n\n echo d\n}\n\nX=$(\n echo e\n\n)\n\necho $X\n",
	} {
		want, err := exec.Command("sh", "-c", script).Output()
		if err != nil {
			t.Fatal(err)
		}
		text, err := starter.FromScript("x.sh", script)
		if err != nil {
			t.Fatal(err)
		}
		var playbook struct{ Steps []struct{ Shell string } }
		if err := yaml.Unmarshal([]byte(text), &playbook); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got := ""
		for _, s := range playbook.Steps {
			// What a template would print.
			shell := strings.NewReplacer("{{ '{{' }}", "{{", "{{ '{%' }}", "{%", "{{ '{#' }}", "{#").Replace(s.Shell)
			out, err := exec.Command("sh", "-c", shell).Output()
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, shell)
			}
			got += string(out)
		}
		if got != string(want) || len(playbook.Steps) < 2 {
			t.Errorf("%s: %d steps print %q, and the script %q\n%s", name, len(playbook.Steps), got, want, text)
		}
	}
}
