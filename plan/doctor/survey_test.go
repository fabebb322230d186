package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
)

// structural is what is said of a file, a role or a preset that is named: that it is missing, or cannot be what it is named as.
var structural = regexp.MustCompile(`^(include|include_tasks|import_tasks|import_playbook|include_vars|vars_files|preset|template): ` +
	`|there is no role|the role has no|no preset is called|^\S+ cannot be read|^no permission to read`)

// locked is what only those say who ask for passwords.
var locked = regexp.MustCompile(`encrypted|the vault is damaged`)

// lacking is what moon does not have, and no task that is planned needs: doctor lists it all the same.
var lacking = regexp.MustCompile(`^(unknown (filter|test|lookup)|an Ansible plugin)`)

// disagreements plans a playbook, reads it as moon doctor does, and says where the two differ. What moon does not have is not about them.
func disagreements(t *testing.T, path string) (wrong []string, planned bool, missing int) {
	t.Helper()
	here, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	o := plan.Options{Path: here, Dir: filepath.Dir(here), Home: "/nowhere", Hosts: plan.HostSelection{NoConnect: true}}
	p, ds := planner.New(o)
	r := newReading(o)
	r.visitAll()
	said := map[diag.Pos][]string{}
	for _, d := range r.problems.Found {
		said[d.Pos] = append(said[d.Pos], d.Message)
		if p != nil && d.Severity == diag.Error && structural.MatchString(d.Message) {
			wrong = append(wrong, at(d.Pos)+": it can be planned, and doctor says: "+d.Message)
		}
	}
	for _, d := range ds {
		if d.Severity != diag.Error || !structural.MatchString(d.Message) || locked.MatchString(d.Message) || strings.Contains(d.Source, "{{") {
			continue
		}
		missing++
		if !slices.Contains(said[d.Pos], d.Message) {
			wrong = append(wrong, fmt.Sprintf("%s: planning says: %s; doctor says: %q", at(d.Pos), d.Message, said[d.Pos]))
		}
	}
	s := NewSurvey(o)
	// Nothing here has exported anything, so what is imported is unknown to both; only planning must know it.
	unimported := func(d diag.Diagnostic) bool { return strings.HasSuffix(d.Message, "known only after the run starts") }
	if p == nil && s.Sound() && slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && !unimported(d) }) {
		wrong = append(wrong, fmt.Sprintf("it cannot be planned (%v), and doctor finds nothing", ds))
	}
	for _, d := range s.Diagnostics {
		if p != nil && d.Severity == diag.Error && !lacking.MatchString(d.Message) {
			wrong = append(wrong, at(d.Pos)+": it can be planned, and doctor says: "+d.Message)
		}
	}
	return wrong, p != nil, missing
}

// playbooks are the YAML files of testdata, those in archives unpacked, by a name for people.
func playbooks(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	unpacked := t.TempDir()
	for _, root := range []string{"../../testdata", "../testdata"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			switch filepath.Ext(path) {
			case ".yml":
				all[path] = path
			case ".txtar":
				a, err := txtar.ParseFile(path)
				if err != nil {
					return err
				}
				dir := filepath.Join(unpacked, strings.ReplaceAll(strings.TrimPrefix(path, "../"), "/", "_"))
				for _, f := range a.Files {
					to := filepath.Join(dir, f.Name)
					if slices.ContainsFunc(a.Files, func(g txtar.File) bool { return strings.HasPrefix(g.Name, f.Name+"/") }) {
						continue // a golden plan that is called as a directory
					}
					if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
						return err
					}
					if err := os.WriteFile(to, f.Data, 0o600); err != nil {
						return err
					}
					if filepath.Ext(to) == ".yml" {
						all[path+" "+f.Name] = to
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestSurveyAgrees plans every YAML file of testdata, and of the archives in it, and reads it as moon doctor does: what planning refuses
// doctor refuses, what can be planned doctor does not refuse, and what is missing both say in the same words.
func TestSurveyAgrees(t *testing.T) {
	planned, missing := 0, 0
	for name, path := range playbooks(t) {
		wrong, ok, n := disagreements(t, path)
		missing += n
		if ok {
			planned++
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
	}
	if planned < 500 || missing < 40 {
		t.Errorf("only %d playbooks were planned, and %d files were missing", planned, missing)
	}
}

func at(pos diag.Pos) string { return fmt.Sprintf("%s:%d:%d", pos.File, pos.Line, pos.Column) }
