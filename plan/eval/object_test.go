package eval_test

import (
	"slices"
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// hosts is an Object that notes what it is asked for.
type hosts struct {
	vars  map[string]any
	keys  []string
	asked []string
}

func (h *hosts) Get(key string) (any, bool) {
	v, ok := h.vars[key]
	if ok && !slices.Contains(h.asked, key) {
		h.asked = append(h.asked, key)
	}
	return v, ok
}

func (h *hosts) Keys() []string { return h.keys }

// worldOfHosts has an entry that nothing may read but what names it: broken.
func worldOfHosts() (vars, *hosts) {
	lacking := &value.Error{Kind: value.UndefinedError, Name: "b", Message: "undefined variable `b`", Hint: "did you mean `c`?"}
	web := &hosts{
		keys: []string{"port", "addr", "later"},
		vars: map[string]any{"addr": "10.0.0.1", "port": 80, "later": value.Unknown{Steps: []int{4}}},
	}
	db := &hosts{keys: []string{"port", "addr"}, vars: map[string]any{"addr": "10.0.0.2", "port": 5432}}
	all := &hosts{
		keys: []string{"web.example", "db", "bad"},
		vars: map[string]any{"web.example": web, "db": db, "bad": value.Fault{Err: lacking, From: "host_vars/bad.yml:2"}},
	}
	return vars{
		"hostvars": all, "web": web, "db": db, "name": "web.example", "nobody": &hosts{},
		"a": value.Fault{Err: lacking, From: "group_vars/web.yml:3"}, "bare": value.Fault{Err: &value.Error{Kind: value.TypeError, Message: "no"}},
		"cfg":    map[string]any{"ok": 1, "bad": value.Fault{Err: lacking, From: "x.yml:1"}},
		"absent": value.Fault{Err: lacking, From: "x.yml:1", Absent: true},
		"secret": &hosts{keys: []string{"p", "q"}, vars: map[string]any{"p": value.Secret{Value: "hunter2!"}, "q": "plain"}},
	}, all
}

func TestObject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want, asked string }{
		{"{{ hostvars['db'].port }}", "5432", "db"},
		{"{{ hostvars[name]['addr'] }}!", "10.0.0.1!", "web.example"},
		{"{{ hostvars.db.addr }} {{ hostvars.db['port'] + 1 }}", "10.0.0.2 5433", "db"},
		{"{{ 'db' in hostvars }} {{ 'x' not in hostvars }} {{ 'db' is in hostvars }} {{ hostvars is contains 'x' }}", "true true true false", "db"},
		{"{{ hostvars is mapping }} {{ hostvars is iterable }} {{ hostvars is string }} {{ hostvars | type_debug }}", "true true false dict", ""},
		{"{{ hostvars | length }} {{ hostvars | list }} {{ hostvars.keys() }}", `3 ["web.example","db","bad"] ["web.example","db","bad"]`, ""},
		{"{% for h in hostvars %}{{ h }},{% endfor %}", "web.example,db,bad,", ""},
		{"{{ (hostvars.nope | default({})).x | default('d') }}", "d", ""},
		{"{{ (hostvars.db | default({})).addr }} {{ hostvars.get('db').addr }} {{ hostvars.get('y', 'n') }}", "10.0.0.2 10.0.0.2 n", ""},
		{"{{ hostvars.nope is defined }} {{ hostvars.db is defined }} {{ hostvars.db.x is defined }}", "false true false", "db"},
		{"{{ ['web.example', 'db'] | map('extract', hostvars, 'addr') | join(',') }}", "10.0.0.1,10.0.0.2", "web.example db"},
		{"{{ ['web.example', 'db'] | map('extract', hostvars) | map(attribute='port') | list }}", "[80,5432]", "web.example db"},
		{"{{ ['web.example', 'db'] | map('extract', hostvars) | selectattr('port', '>', 100) | map(attribute='addr') | first }}", "10.0.0.2", "web.example db"},
		{"{{ nobody | length }}{{ 'y' if nobody else 'n' }}{{ 'y' if hostvars else 'n' }}", "0ny", ""},
		{"{{ db }}", `{"addr":"10.0.0.2","port":5432}`, ""},
		{"{{ db | to_json }} {{ db == {'addr': '10.0.0.2', 'port': 5432} }}", `{"addr": "10.0.0.2", "port": 5432} true`, ""},
		{"{{ db | dict2items | map(attribute='key') | list }} {{ db.items() | length }} {{ db | combine({'addr': 'x'}) }}", `["addr","port"] 2 {"addr":"x","port":5432}`, ""},
		{"{% set h = hostvars.db %}{{ h.addr }}{% for x in [hostvars.db] %} {{ x.port }}{% endfor %}", "10.0.0.2 5432", "db"},
		{"{% macro m(h) %}{{ h.port }}{% endmacro %}{{ m(hostvars.db) }}{% if hostvars %}y{% endif %}", "5432y", "db"},
		{"{{ [db, 1] }} {{ {'a': db} }}", `[{"addr":"10.0.0.2","port":5432},1] {"a":{"addr":"10.0.0.2","port":5432}}`, ""},
	} {
		env, all := worldOfHosts()
		got, err := render(t, tc.text, env)
		if err != nil || value.Text(got.Value) != tc.want {
			t.Errorf("%s\n got %v (%v)\nwant %s", tc.text, value.Text(got.Value), err, tc.want)
		}
		if tc.asked != "" && strings.Join(all.asked, " ") != tc.asked {
			t.Errorf("%s: asked for %v, want %s", tc.text, all.asked, tc.asked)
		}
	}
}

// A whole value is an ordinary map, and its secrets stay marked.
func TestObjectAsValue(t *testing.T) {
	t.Parallel()
	env, _ := worldOfHosts()
	got, err := render(t, "{{ secret }}", env)
	m, ok := got.Value.(map[string]any)
	if err != nil || !ok || m["q"] != "plain" || !value.Marked(m["p"]) {
		t.Errorf("%#v, %v", got.Value, err)
	}
	got, err = render(t, "{{ [web] }}", env)
	if err != nil || len(got.Missing) != 1 || got.Missing[0].Name != "later" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = render(t, "{{ web.later }}", env); err != nil || len(got.Missing) != 1 || got.Missing[0].Name != "web" {
		t.Errorf("%v, %v", got, err)
	}
	self := &hosts{keys: []string{"self"}}
	self.vars = map[string]any{"self": self}
	_, err = render(t, "{{ self }}", vars{"self": self})
	if e := errorOf(t, err); e.Message != "the map holds itself, or is nested too deeply" {
		t.Errorf("%+v", e)
	}
}

func TestObjectInExpr(t *testing.T) {
	t.Parallel()
	env, _ := worldOfHosts()
	for text, want := range map[string]bool{
		"hostvars.db.port == 5432": true, "is_defined(hostvars.db)": true, "is_defined(hostvars.x)": false, "len(db) == 2": true, "db.port > 6000": false,
	} {
		c, err := eval.New().Condition(text, eval.Expr)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Eval(env); err != nil || !v.Known || v.Holds != want {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	env, _ := worldOfHosts()
	const why = " cannot be had: undefined variable `b`"
	for _, tc := range []broken{
		{"x{{ a }}", "`a` (group_vars/web.yml:3)" + why, "did you mean `c`?", "a", value.UndefinedError},
		{"{{ a | default('x') }}", "`a` (group_vars/web.yml:3)" + why, "did you mean `c`?", "a", value.UndefinedError},
		{"{{ a is defined }}", "`a` (group_vars/web.yml:3)" + why, "did you mean `c`?", "a", value.UndefinedError},
		{"{{ bare | default(1) }}", "`bare` cannot be had: no", "", "bare", value.TypeError},
		{"{{ hostvars['bad'].x }}", "`hostvars['bad']` (host_vars/bad.yml:2)" + why, "did you mean `c`?", "hostvars['bad']", value.UndefinedError},
		{"{{ hostvars | to_json }}", "`bad` (host_vars/bad.yml:2)" + why, "did you mean `c`?", "hostvars", value.UndefinedError},
		{"{{ cfg.bad.deep | d }}", "`cfg.bad` (x.yml:1)" + why, "did you mean `c`?", "cfg.bad", value.UndefinedError},
		{"{{ cfg }}", "`cfg` (x.yml:1)" + why, "did you mean `c`?", "cfg", value.UndefinedError},
		{"{% if cfg %}y{% endif %}", "`cfg` (x.yml:1)" + why, "did you mean `c`?", "cfg", value.UndefinedError},
		{"{{ absent }}", "`absent` (x.yml:1)" + why, "did you mean `c`?", "absent", value.UndefinedError},
	} {
		_, err := render(t, tc.text, env)
		tc.check(t, err)
	}
	for _, text := range []string{"a == 1", "is_defined(a)", "a ?? 1", "cfg.bad == 1"} {
		c, err := eval.New().Condition(text, eval.Expr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Eval(env)
		if e := errorOf(t, err); e.Kind != value.UndefinedError || !strings.Contains(e.Message, why) {
			t.Errorf("%s: %+v", text, e)
		}
	}
	got, err := render(t, "{{ cfg.ok }}{{ absent is defined }}{{ absent | default('d') }}", env)
	if err != nil || got.Value != "1falsed" {
		t.Errorf("%v, %v", got.Value, err)
	}
	// Both mistakes of a text are found at once.
	_, err = render(t, "{{ a }}{{ nope }}", env)
	if e := errorOf(t, err); len(e.All()) != 2 {
		t.Errorf("%v", e.All())
	}
}
