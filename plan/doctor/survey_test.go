package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
)

// fileMissing is what is said of a file of tasks or a role that is missing.
var fileMissing = regexp.MustCompile(`^(include|include_tasks|import_tasks|import_playbook|include_vars|vars_files): (no such file|none of these)|no such file yet|there is no role`)

// TestSurveyAgrees plans every YAML file of testdata and reads it as moon doctor does: where all could be planned, nothing is missing
// for doctor but what planning warns of, and what is missing for the planner is missing for doctor, if its name is written out.
func TestSurveyAgrees(t *testing.T) {
	missing := func(ds diag.List) []diag.Pos {
		var at []diag.Pos
		for _, d := range ds {
			if fileMissing.MatchString(d.Message) {
				at = append(at, d.Pos)
			}
		}
		return at
	}
	planned, wrong := 0, 0
	err := filepath.WalkDir("../../testdata", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".yml" {
			return err
		}
		here, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		o := plan.Options{Path: here, Dir: filepath.Dir(here), Home: "/nowhere", Hosts: plan.HostSelection{NoConnect: true}}
		p, ds := planner.New(o)
		r := newReading(o)
		r.survey()
		told := missing(r.problems.Found)
		if p != nil {
			planned++
			warned := missing(ds)
			for _, pos := range told {
				if !slices.Contains(warned, pos) {
					t.Errorf("%s can be planned, and doctor misses %v", path, pos)
				}
			}
			return nil
		}
		for _, d := range ds {
			if !fileMissing.MatchString(d.Message) || strings.Contains(d.Source, "{{") {
				continue
			}
			wrong++
			if !slices.Contains(told, d.Pos) {
				t.Errorf("%s: planning says %v: %s; doctor does not", path, d.Pos, d.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if planned < 40 || wrong < 10 {
		t.Errorf("only %d playbooks were planned, and %d files were missing", planned, wrong)
	}
}
