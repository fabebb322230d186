package pysource

import (
	"strings"
	"testing"
)

func TestGiven(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"class FilterModule(object):\n    ''' x '''\n    def filters(self):\n        return {\n            'a': self.a,\n            \"b\": lambda x: {'no': 1}[x],\n        }\n", "a b whole"},
		{"class FilterModule:\n  def filters(self):\n    \"\"\"doc\"\"\"\n    # a comment\n    return dict(a=f, b=g(x=1))\n\n  def a(self, x):\n    return {'z': 1}\n", "a b whole"},
		{"def a(x): return x\nclass FilterModule(object):\n    def filters(self):\n        return {'a': a}\nX = {'no': 1}\n", "a whole"},
		{"class FilterModule(object):\n    def filters(self):\n        return {}\n", "whole"},
		{"class FilterModule(object):\n    filter_map = {'a': 1, 'b': 2}\n    def filters(self):\n        return self.filter_map\n", "a b open"},
		{"class FilterModule(object):\n    def filters(self):\n        f = {'a': 1}\n        f.update(more())\n        return f\n", "a open"},
		{"class FilterModule(object):\n    def filters(self):\n        return {k: v for k, v in all}\n", "open"},
		{"class FilterModule(object):\n    def filters(self):\n        return {**base, 'a': 1}\n", "open"},
		{"class FilterModule(Base):\n    pass\n", "open"},
		{"FilterModule = Other\n", "open"},
		{"def helper(): pass\n", "whole"},
		{"class FilterModule(object):\n    @staticmethod\n    def filters():\n        return {'a': a,\n            'b': b}\n    x = {'c': 1}\n", "a b c open"},
		{"class FilterModule(object):\n    def filters(self) -> dict[str, int]:\n        return {'a': a}", "a whole"},
	} {
		names, whole := Read([]byte(c.text)).Given("FilterModule", "filters")
		got := strings.Join(append(names, map[bool]string{true: "whole", false: "open"}[whole]), " ")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
