package eval_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// pythonWorld are the variables of testdata/python/oracle.py.
func pythonWorld() vars {
	return vars{
		"name": "web", "text": "hello world", "digits": "5", "yes_text": "yes",
		"n": 5, "zero": 0, "half": 1.5, "three": 3.0, "flag": true, "off": false, "nothing": nil,
		"lst": []any{"a", "b", "c"}, "nums": []any{3, 1, 2}, "empty": []any{}, "line1": "one line", "multi": "one\ntwo\n",
		"cfg": map[string]any{"deep": map[string]any{"x": 1}, "host": "h1", "ports": []any{80, 443}},
		"users": []any{
			map[string]any{"name": "ann", "admin": true, "age": 30, "groups": []any{"a", "b"}},
			map[string]any{"name": "bob", "admin": false, "age": 20, "groups": []any{"b"}},
			map[string]any{"name": "cid", "admin": true, "age": 25, "groups": []any{}, "nick": "c"},
		},
		"done": map[string]any{"rc": 0, "stdout": "ok\n", "failed": false, "changed": true},
		"sk":   map[string]any{"skipped": true, "changed": false, "failed": false},
	}
}

func pythonEngine() *eval.Engine {
	e := eval.New()
	e.Dialect = dialect.Ansible
	e.World = call.World{
		Run: func(_ value.Env, command string) (string, error) {
			said := map[string]string{"echo hi": "hi\n", `printf "a\nb\n"`: "a\nb\n"}
			text, ok := said[command]
			if !ok {
				return "", fmt.Errorf("no command %s", command)
			}
			return text, nil
		},
		Now: func(value.Env) (time.Time, error) { return time.Time{}, call.ErrLater },
	}
	return e
}

// different are cases that moon answers otherwise than Ansible, and why.
var different = map[string]string{
	`{% set d = {'x': []} %}{% set _ = d.x.append(d.x) %}ok`: "a value without an end is refused where it is made",
	`{{ lst | replace("'", '"') }}`:                          "read as the list that it is written like, as in a playbook; the oracle asks for the text",
	"{{ 'x'.encode is defined }}":                            "methods are no values",
	"{{ 'aaa' | regex_replace('a', 'b', count=2) }}":         "count came with a later Ansible",
	`{{ 'a1b2' | regex_findall('([a-z])(\d)') }}`:            "there are no tuples: they print as lists",
	"{{ 60 | random is number }}":                            "drawn when a step runs: the same files give the same plan",
	"{{ lst | shuffle(seed='') | length }}":                  "an empty seed is none, and so refused",
	"{{ 5 | shuffle(seed=1) }}":                              "Ansible gives back what is no list",
	"{{ users | json_query('[*].{n: name, a: age}') }}":      "maps print in the order of their keys",
	"{{ '/a/../b' | normpath }}":                             "it came with a later Ansible",
	"{{ '/a/b' | commonpath is defined }}":                   "it came with a later Ansible",
	"{{ ['/a/b', '/a/c'] | commonpath }}":                    "it came with a later Ansible",
	"{{ 'C:/x' | win_basename is defined }}":                 "no filters for Windows",
	"{{ 'a' is filter }}":                                    "Ansible 2.14 looks for a filter",
	"{{ dict({}, {}) }}":                                     "several maps are merged",
	"{{ q('sequence', start=4, end=2, stride=-1) }}":         "options by name came with a later Ansible",
}

// TestPython compares with what Ansible's own templates give. The answers are in testdata/python/golden, which oracle.py
// writes beside it.
func TestPython(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/python/golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, env := pythonEngine(), pythonWorld()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var want struct{ Case, Text, Error string }
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		got, err := pythonText(e, env, want.Case)
		same := err == nil && want.Error == "" && (got == want.Text || got == "None" && want.Text == "") || err != nil && want.Error != ""
		reason, known := different[want.Case]
		switch {
		case !same && !known:
			t.Errorf("%s\n got %q (%v)\nwant %q (%s)", want.Case, got, err, want.Text, want.Error)
		case same && known:
			t.Errorf("%s is as Ansible has it, and listed as different: %s", want.Case, reason)
		}
	}
	if n < 500 {
		t.Errorf("only %d cases", n)
	}
}

// pythonText is a template as text, as Ansible prints it.
func pythonText(e *eval.Engine, env value.Env, text string) (string, error) {
	tmpl, err := e.Template(text)
	if err != nil {
		return "", err
	}
	r, err := tmpl.Render(env)
	if err != nil {
		return "", err
	}
	if len(r.Missing) > 0 {
		return "", fmt.Errorf("unknown: %v", r.Missing)
	}
	return value.PythonText(r.Value), nil
}
