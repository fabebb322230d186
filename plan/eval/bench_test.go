package eval_test

import (
	"strings"
	"testing"

	"moon/plan/eval"
)

func benchmarkTemplate(b *testing.B, text string) {
	b.Helper()
	e, env := eval.New(), world()
	if _, err := e.Template(text); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		t, _ := e.Template(text)
		if _, err := t.Render(env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLiteral(b *testing.B)   { benchmarkTemplate(b, "systemctl restart nginx") }
func BenchmarkWholePath(b *testing.B) { benchmarkTemplate(b, "{{ cfg.host }}") }
func BenchmarkWholeName(b *testing.B) { benchmarkTemplate(b, "{{ name }}") }
func BenchmarkMixed(b *testing.B)     { benchmarkTemplate(b, "v{{ version }} on {{ name | upper }}") }

func BenchmarkTags(b *testing.B) {
	benchmarkTemplate(b, "{% for x in lst %}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}")
}

func BenchmarkTagsMacro(b *testing.B) {
	benchmarkTemplate(b, "{% macro line(k, v='-') %}{{ k }} = {{ v }};\n{% endmacro %}{% for u in users %}{{ line(u.name, u.age) }}{% endfor %}{{ line('z') }}")
}

func BenchmarkTagsSet(b *testing.B) {
	benchmarkTemplate(b, "{% set ns = namespace(n=0) %}{% for i in range(50) %}{% set ns.n = ns.n + i %}{% if i is odd %}{% continue %}{% endif %}{{ i }}{% endfor %}{{ ns.n }}")
}

func BenchmarkTagsDocument(b *testing.B) {
	e, env := eval.New(), world()
	t, err := e.Document(strings.Repeat("server {\n{% if flag %}\n    listen {{ cfg.ports[0] }};\n{% endif %}\n{% for u in users if u.admin %}\n    # {{ loop.index }} {{ u.name | upper }}\n{% endfor %}\n}\n", 20))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Render(env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileTags(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.New().Template("{% for x in lst %}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) { benchmarkTemplate(b, "{{ r.stdout }} on {{ name }}") }

func benchmarkCondition(b *testing.B, text string, lang eval.Language) {
	b.Helper()
	e, env := eval.New(), world()
	b.ReportAllocs()
	for b.Loop() {
		c, err := e.Condition(text, lang)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Eval(env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConditionExpr(b *testing.B) {
	benchmarkCondition(b, "name == 'web' and n > 3", eval.Expr)
}

func BenchmarkConditionJinja(b *testing.B) {
	benchmarkCondition(b, "name == 'web' and n > 3", eval.Jinja)
}
func BenchmarkConditionName(b *testing.B) { benchmarkCondition(b, "flag", eval.Expr) }

func BenchmarkCompileTemplate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.New().Template("v{{ version }} on {{ name | upper }}"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileCondition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.New().Condition("name == 'web' and n > 3", eval.Expr); err != nil {
			b.Fatal(err)
		}
	}
}
