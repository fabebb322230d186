package eval_test

import (
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
