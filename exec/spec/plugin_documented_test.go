package spec

import "testing"

// TestSearched has modules whose action plugin only looks for files: what it would look for is refused, with a way out.
func TestSearched(t *testing.T) {
	for _, test := range []struct {
		full string
		args map[string]any
		want string // the first field that is wrong
	}{
		{"kubernetes.core.k8s", map[string]any{"definition": map[string]any{}, "kubeconfig": "~/.kube/config"}, ""},
		{"kubernetes.core.k8s", map[string]any{"src": "https://example.com/x.yml"}, ""},
		{"kubernetes.core.k8s_info", map[string]any{"kubeconfig": map[string]any{}}, ""},
		{"kubernetes.core.k8s", map[string]any{"src": "x.yml"}, "src"},
		{"kubernetes.core.k8s", map[string]any{"template": "x.j2", "src": "x.yml"}, "template"},
		{"kubernetes.core.helm", map[string]any{"kubeconfig": "config"}, "kubeconfig"},
		{"my.tools.k8s", map[string]any{"template": "x.j2"}, ""},
	} {
		problems := checkSearched(test.full, test.args)
		if got := append(problems, Problem{})[0].Field; got != test.want {
			t.Errorf("%s %v: %v, want a problem of %q", test.full, test.args, problems, test.want)
		}
		if len(problems) > 0 && problems[0].Hint == "" {
			t.Errorf("%s %v: no way out", test.full, test.args)
		}
	}
}
