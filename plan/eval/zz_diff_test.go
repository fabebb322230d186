package eval_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"moon/plan/eval"
)

func TestDiff(t *testing.T) {
	f, err := os.Open(os.Getenv("DIFF"))
	if err != nil {
		t.Skip()
	}
	e := eval.New()
	env := vars{"name": "web", "text": "hello world", "digits": "5", "n": 5, "zero": 0, "half": 1.5, "flag": true, "off": false, "nothing": nil, "lst": []any{"a", "b", "c"}, "nums": []any{3, 1, 2}, "empty": []any{}, "cfg": map[string]any{"host": "h1", "ports": []any{80, 443}},
		"users": []any{map[string]any{"name": "ann", "admin": true, "age": 30}, map[string]any{"name": "bob", "admin": false, "age": 20}}}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	n, bad := 0, 0
	for sc.Scan() {
		var c struct{ T, O, E string }
		json.Unmarshal(sc.Bytes(), &c)
		n++
		got := ""
		tt, err := e.Template(c.T)
		if err == nil {
			var r eval.Result
			r, err = tt.Render(env)
			if err == nil {
				got = eval.Text(r.Value)
			}
		}
		if (err != nil) != (c.E != "") || err == nil && got != c.O {
			bad++
			if bad < 60 {
				fmt.Printf("T %q\n  jinja %q %s\n  moon  %q %v\n", c.T, c.O, c.E, got, err)
			}
		}
	}
	fmt.Println(n, "cases", bad, "differ")
}
