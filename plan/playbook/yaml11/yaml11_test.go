package yaml11_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"moon/plan/playbook/yaml11"
)

// TestAsAnsible compares with what Ansible's loader makes of each form. testdata/oracle.py writes the answers.
func TestAsAnsible(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := 0
	for lines := bufio.NewScanner(f); lines.Scan(); seen++ {
		var want []string
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		n, ok := yaml11.Number(want[0])
		got := "other"
		switch n := n.(type) {
		case int:
			got = "int " + fmt.Sprint(n)
		case float64:
			got = "float " + strings.TrimPrefix(strings.ToLower(fmt.Sprint(n)), "+")
		}
		if text := want[1] + " " + strings.TrimSuffix(want[2], ".0"); !ok {
			// What is beyond 64 bits, or has no digits and is an error in Python, is no number here.
			if want[1] == "int" && len(want[2]) < 19 || want[1] == "float" {
				t.Errorf("%s is no number, want %s", want[0], text)
			}
		} else if got != text {
			t.Errorf("%s is %s, want %s", want[0], got, text)
		}
	}
	if seen < 90 {
		t.Errorf("only %d forms", seen)
	}
}
