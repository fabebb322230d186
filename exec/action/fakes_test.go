package action_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"moon/exec"
	"moon/exec/exectest"
)

// said is what a program answers to exactly this call.
type said struct {
	call   string
	stdout string
	stderr string
	code   int
}

// fakes gives a job programs that know these calls and no others, and nothing else on its PATH. The same call twice is
// answered by each in turn, the last for good. It returns what was called so far.
func fakes(tb testing.TB, job *exec.Job, answers ...said) (calls func() string) {
	tb.Helper()
	dir := tb.TempDir()
	log := filepath.Join(dir, "calls")
	scripts := map[string]*strings.Builder{}
	for i, s := range answers {
		name, words, _ := strings.Cut(s.call, " ")
		b := scripts[name]
		if b == nil {
			b = &strings.Builder{}
			scripts[name] = b
			fmt.Fprintf(b, "#!/bin/sh\necho \"%s${*:+ $*}\" >> %s\n", name, log)
		}
		used := filepath.Join(dir, fmt.Sprint("used-", i))
		again := ""
		for _, later := range answers[i+1:] {
			if later.call == s.call {
				again = fmt.Sprintf(" && [ ! -e %s ]", used)
			}
		}
		quoted, err := syntax.Quote(words, syntax.LangPOSIX)
		if err != nil {
			tb.Fatal(err)
		}
		out, errs := filepath.Join(dir, fmt.Sprint("out-", i)), filepath.Join(dir, fmt.Sprint("err-", i))
		exectest.WriteFile(tb, out, s.stdout, 0o644)
		exectest.WriteFile(tb, errs, s.stderr, 0o644)
		fmt.Fprintf(b, "if [ \"$*\" = %s ]%s; then : > %s; /bin/cat %s; /bin/cat %s >&2; exit %d; fi\n", quoted, again, used, out, errs, s.code)
	}
	bin := filepath.Join(dir, "bin")
	for name, b := range scripts {
		fmt.Fprintf(b, "echo \"no answer to: %s $*\" >&2; exit 99\n", name)
		exectest.WriteFile(tb, filepath.Join(bin, name), b.String(), 0o755)
	}
	if job.Env == nil {
		job.Env = map[string]string{}
	}
	job.Env["PATH"] = bin
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			tb.Error(err)
		}
		return string(text)
	}
}

// lines joins lines of text.
func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }
