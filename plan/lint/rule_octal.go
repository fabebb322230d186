package lint

import (
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// octal: a mode that is a number depends on how YAML reads numbers.
var octal = Rule{ID: "risky-octal", About: "modes that are numbers", Fixes: true, task: checkOctal}

var octalMode = pattern.New(`^0o?[0-7]{3,4}$`)

func checkOctal(r *report, t *playbook.Task) {
	for _, name := range []string{"mode", "directory_mode"} {
		v, ok := argument(t, name)
		if !ok || v.Kind() != playbook.Int {
			continue
		}
		text := v.Text()
		if !octalMode.MatchString(text) {
			r.add(v.Pos(), len(text), nil, `write it in quotes, with a 0 in front: "0644"`, "`"+name+": "+text+"` is a decimal number")
			continue
		}
		want := `"` + text + `"`
		if text[1] == 'o' {
			want = `"0` + text[2:] + `"`
		}
		r.add(v.Pos(), len(text), replacing(v.Pos(), text, want), "write "+want, "`"+name+"` is a number, and not a text")
	}
}
