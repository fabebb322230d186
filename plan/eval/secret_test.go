package eval_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/secret"
)

// vault is an environment with secrets, and what is known of them.
func vault() (vars, *secret.Set) {
	set := secret.NewSet()
	set.Add("pw", "hunter2")
	set.Add("key", "s3cr3t-key")
	pw, key := value.Secret{Value: "hunter2"}, value.Secret{Value: "s3cr3t-key"}
	return vars{
		"pw": pw, "pin": value.Secret{Value: 4815}, "short": value.Secret{Value: "abc"}, "name": "ann", "u": value.Unknown{Steps: []int{3}},
		"db":      map[string]any{"user": "alice", "password": pw, "port": 5432},
		"printed": value.Secret{Value: "user=ann pw=hunter2\n", Shown: "user=ann pw=" + secret.Mask + "\n"},
		"keys":    []any{key, "public"},
		"facts":   map[string]any{"env": map[string]any{"TOKEN": "t0ken-value", "HOME": "/root"}},
	}, set
}

func TestSecrets(t *testing.T) {
	mask := secret.Mask
	tests := []struct {
		name, text string
		want       any    // with marks
		shown      string // as it prints
		found      []string
	}{
		{"itself keeps its mark", "{{ pw }}", value.Secret{Value: "hunter2"}, mask, nil},
		{"a number too", "{{ pin }}", value.Secret{Value: 4815}, mask, nil},
		{"a part of a map", "{{ db.password }}", value.Secret{Value: "hunter2"}, mask, nil},
		{"what stands beside it is none", "{{ db.user }}", "alice", "alice", nil},
		{"the whole map", "{{ db }}", map[string]any{"user": "alice", "password": value.Secret{Value: "hunter2"}, "port": 5432}, `{"password":"` + mask + `","port":5432,"user":"alice"}`, nil},
		{"text around it", "u:{{ name }} p:{{ pw }}!", value.Secret{Value: "u:ann p:hunter2!", Shown: "u:ann p:" + mask + "!"}, "u:ann p:" + mask + "!", nil},
		{"computed", "{{ pw | upper }}", value.Secret{Value: "HUNTER2"}, mask, []string{"HUNTER2"}},
		{"computed in text", "x {{ pw | sha1 }}", value.Secret{Value: "x f3bbbd66a63d4bf1747940578ec3d0103530e21d", Shown: "x " + mask}, "x " + mask, []string{"f3bbbd66a63d4bf1747940578ec3d0103530e21d"}},
		{"joined", "{{ name ~ ':' ~ pw }}", value.Secret{Value: "ann:hunter2"}, mask, []string{"ann:hunter2"}},
		{"a slice", "{{ pw[0:5] }}", value.Secret{Value: "hunte"}, mask, []string{"hunte"}},
		{"a character", "{{ pw[0] }}", value.Secret{Value: "h"}, mask, nil},
		{"lists of what is computed", "{{ [pw, name] }}", []any{value.Secret{Value: "hunter2"}, value.Secret{Value: "ann"}}, `["` + mask + `","` + mask + `"]`, nil},
		{"a map with more in it", "{{ db | combine({'x': 'y'}) }}", map[string]any{
			"user": "alice", "password": value.Secret{Value: "hunter2"}, "port": 5432, "x": value.Secret{Value: "y"},
		}, `{"password":"` + mask + `","port":5432,"user":"alice","x":"` + mask + `"}`, nil},
		{"how long it is", "{{ pw | length }}", 7, "7", nil},
		{"whether it is", "{{ pw == 'x' }}", false, "false", nil},
		{"not taken", "{{ pw if name == 'bob' else name }}", "ann", "ann", nil},
		{"in a list", "{{ keys | join(',') }}", value.Secret{Value: "s3cr3t-key,public"}, mask, []string{"s3cr3t-key,public"}},
		{"with a tag", "{% if pw %}p={{ pw }}{% endif %} n={{ name }}", value.Secret{Value: "p=hunter2 n=ann", Shown: "p=" + mask + " n=ann"}, "p=" + mask + " n=ann", nil},
		{"in a name of the template", "{% set x = pw | reverse %}{{ x }}", value.Secret{Value: "2retnuh", Shown: mask}, mask, []string{"2retnuh"}},
		{"in a loop", "{% for k in keys %}[{{ k | upper }}]{% endfor %}", value.Secret{Value: "[S3CR3T-KEY][PUBLIC]", Shown: "[" + mask + "][" + mask + "]"}, "[" + mask + "][" + mask + "]", []string{"S3CR3T-KEY"}},
		{"in a macro", "{% macro m(x) %}<{{ x | upper }}>{% endmacro %}{{ m(pw) }}", value.Secret{Value: "<HUNTER2>", Shown: mask}, mask, []string{"<HUNTER2>"}},
		{"too short to be found", "a{{ short }}b{% if 1 %}{% endif %}", value.Secret{Value: "aabcb", Shown: mask}, mask, nil},
		{"too short, without a tag", "a{{ short }}b", value.Secret{Value: "aabcb", Shown: "a" + mask + "b"}, "a" + mask + "b", nil},
		{"of the environment", "{{ env('TOKEN', secret) }}", value.Secret{Value: "t0ken-value"}, mask, []string{"t0ken-value"}},
		{"of the environment, by name", "{{ env('TOKEN', secret=true) | upper }}", value.Secret{Value: "T0KEN-VALUE"}, mask, []string{"t0ken-value", "T0KEN-VALUE"}},
		{"the environment is no secret by itself", "{{ env('HOME') }}", "/root", "/root", nil},
		{"what to take otherwise", "{{ env('NONE', 'x') }}", "x", "x", nil},
		{"mixed", "{{ printed | trim }}", value.Secret{Value: "user=ann pw=hunter2", Shown: "user=ann pw=" + mask}, "user=ann pw=" + mask, nil},
		{"a mixed text in text", "x {{ printed.split('=')[2] | trim }} y", value.Secret{Value: "x hunter2 y", Shown: "x " + mask + " y"}, "x " + mask + " y", nil},
		{"a word of it that is none", "{{ printed.split(' ')[0] }}", value.Secret{Value: "user=ann", Shown: "user=ann"}, "user=ann", nil},
		{"a secret cut apart", "{{ printed[0:16] }}", value.Secret{Value: "user=ann pw=hunt"}, mask, []string{"user=ann pw=hunt"}},
		{"a mixed text, computed with", "{{ printed | upper }}", value.Secret{Value: "USER=ANN PW=HUNTER2\n"}, mask, []string{"USER=ANN PW=HUNTER2"}},
		{"open: what is shown has none", "{{ pw }} {{ u }}", "hunter2", mask + " {{ u }}", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, set := vault()
			e := eval.New()
			e.Secrets = set
			tmpl, err := e.Template(test.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tmpl.Render(env)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Missing) == 0 && !reflect.DeepEqual(got.Value, test.want) {
				t.Errorf("got %#v, want %#v", got.Value, test.want)
			}
			if shown := value.Text(got.Value); shown != test.shown {
				t.Errorf("shown as %q, want %q", shown, test.shown)
			}
			if value.Marked(value.Reveal(got.Value)) {
				t.Error("there is a mark on what was revealed")
			}
			for _, text := range test.found {
				if !set.Has(text) {
					t.Errorf("%q is not known to be secret", text)
				}
			}
			if set.Has("alice") || set.Has("public\n") && test.name != "in a loop" {
				t.Error("what is no secret has become one")
			}
		})
	}
}

func TestSecretsInConditions(t *testing.T) {
	env, set := vault()
	e := eval.New()
	e.Secrets = set
	for text, want := range map[string]bool{
		`pw == "hunter2"`: true, `len(db.password) > 3 and name == "ann"`: true, "pw is defined and pw | length == 7": true, "db.port == 5432": true, "pin > 1": true,
	} {
		c, err := e.Condition(text, eval.Expr)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Eval(env); err != nil || !v.Known || v.Holds != want {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
	for text, want := range map[string]any{
		"db.password": value.Secret{Value: "hunter2"}, "keys": []any{value.Secret{Value: "s3cr3t-key"}, "public"},
		`name + pw`: value.Secret{Value: "annhunter2"}, `name`: "ann", `filter(keys, # != "x")`: []any{value.Secret{Value: "s3cr3t-key"}, "public"},
	} {
		x, err := e.Expression(text, eval.Expr)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := x.Value(env); err != nil || !reflect.DeepEqual(r.Value, want) {
			t.Errorf("%s: %#v, %v", text, r.Value, err)
		}
	}
}

func TestEnvironmentRefs(t *testing.T) {
	tests := []struct {
		text string
		want eval.Ref
	}{
		{"{{ env('TOKEN', secret) }}", eval.Ref{Name: "facts", Path: []any{"env", "TOKEN"}, Guarded: true, Call: true, Secret: true, Offset: 3}},
		{"{{ env('TOKEN', secret=true) }}", eval.Ref{Name: "facts", Path: []any{"env", "TOKEN"}, Guarded: true, Call: true, Secret: true, Offset: 3}},
		{"{{ env('TOKEN', 'x') }}", eval.Ref{Name: "facts", Path: []any{"env", "TOKEN"}, Guarded: true, Call: true, Offset: 3}},
		{"{{ env(name) }}", eval.Ref{Name: "facts", Path: []any{"env"}, Guarded: true, Call: true, Offset: 3}},
	}
	for _, test := range tests {
		tmpl, err := eval.New().Template(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tmpl.Refs()[0]; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.text, got, test.want)
		}
	}
	_, err := render(t, "{{ env('NONE', secret) }}", vars{"facts": map[string]any{"env": map[string]any{}}})
	if e := errorOf(t, err); e.Message != "the environment variable `NONE` is not set" || e.Kind != value.UndefinedError || e.Offset != 3 {
		t.Errorf("%+v", e)
	}
}

func TestSecretAsJSON(t *testing.T) {
	text, err := json.Marshal(map[string]any{"a": value.Secret{Value: "hunter2"}, "b": value.Plain([]any{value.Secret{Value: 1, Shown: "x"}})})
	if err != nil || string(text) != `{"a":"`+secret.Mask+`","b":["x"]}` {
		t.Errorf("%s, %v", text, err)
	}
}
