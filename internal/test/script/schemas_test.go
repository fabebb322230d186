package script

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// written are the schemas of what moon writes for programs, as moon prints them.
type written map[string]*jsonschema.Schema

func newSchemas(t *testing.T) written {
	t.Helper()
	all := written{}
	for _, name := range []string{"event", "result"} {
		text, err := exec.Command("moon", "schema", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("urn:"+name, doc); err != nil {
			t.Fatal(err)
		}
		if all[name], err = c.Compile("urn:" + name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// hold holds against the schemas what moon says of the runs that a script has made: of all, or of the last if the tests are to be short.
func (w written) hold(t *testing.T, env *testscript.Env) {
	runs, err := os.ReadDir(filepath.Join(env.WorkDir, "state", "moon", "runs"))
	if err != nil {
		return // it has made none
	}
	if testing.Short() {
		runs = runs[max(len(runs)-1, 0):]
	}
	for _, run := range runs {
		if !run.IsDir() {
			continue
		}
		for name, args := range map[string][]string{"event": {"--events"}, "result": {"--format", "json"}} {
			cmd := exec.Command("moon", slices.Concat([]string{"show", run.Name()}, args)...)
			cmd.Dir, cmd.Env = env.WorkDir, env.Vars
			out, err := cmd.Output()
			if err != nil { // the script has damaged it, or its plan is gone
				continue
			}
			if name == "result" {
				w.check(t, name, run.Name(), out)
				continue
			}
			for line := range strings.Lines(string(out)) {
				w.check(t, name, run.Name(), []byte(line))
			}
		}
	}
}

func (w written) check(t *testing.T, name, run string, text []byte) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = w[name].Validate(doc)
	}
	if err != nil {
		t.Errorf("%s of %s: %v\n%s", name, run, err, text)
	}
}
