package tags

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Tags are the tags of a playbook, and those that the user asks for.
type Tags struct {
	asked    *plan.Selection
	problems *problems.Collector
	seen     map[string]bool
}

// New is for a plan with this selection.
func New(asked *plan.Selection, list *problems.Collector) *Tags {
	return &Tags{asked: asked, problems: list, seen: map[string]bool{}}
}

// Note takes down that a step has a tag.
func (t *Tags) Note(tag string) { t.seen[tag] = true }

// Exclude reports whether --tags and --skip-tags exclude a step with these tags.
func (t *Tags) Exclude(tags []string) bool {
	// --skip-tags counts above --tags, and `all` spares `always` unless that is named too.
	wanted := func(list []string, tag string) bool { return slices.Contains(list, tag) }
	for _, skip := range t.asked.SkipTags {
		switch {
		case wanted(tags, skip),
			skip == "all" && !wanted(tags, "always"),
			skip == "tagged" && len(tags) > 0,
			skip == "untagged" && len(tags) == 0:
			return true
		}
	}
	named := wanted(tags, "always") // or a requested tag is among the step's own
	for _, tag := range t.asked.Tags {
		named = named || wanted(tags, tag)
	}
	// `never` yields only to a tag that is asked for by its name, and not to `all` or `tagged`.
	if wanted(tags, "never") && !named {
		return true
	}
	if len(t.asked.Tags) == 0 || named {
		return false
	}
	for _, tag := range t.asked.Tags {
		if tag == "all" || tag == "tagged" && len(tags) > 0 || tag == "untagged" && len(tags) == 0 {
			return false
		}
	}
	return true
}

var special = []string{"all", "tagged", "untagged", "always", "never"}

// Check warns about requested tags that no step has. If one of them must exist, it is an error that none does.
func (t *Tags) Check(mustExist bool) {
	known := plan.SortedKeys(t.seen)
	for _, list := range []struct {
		flag string
		tags []string
	}{{"--tags", t.asked.Tags}, {"--skip-tags", t.asked.SkipTags}} {
		var lost []string
		for _, tag := range list.tags {
			if !t.seen[tag] && !slices.Contains(special, tag) {
				lost = append(lost, tag)
			}
		}
		// If none of the tags exists nothing would run, and the run would succeed.
		severity := diag.Warning
		if mustExist && list.flag == "--tags" && len(lost) == len(list.tags) {
			severity = diag.Error
		}
		for _, tag := range lost {
			hint := suggest.DidYouMean(tag, known)
			if hint == "" && len(known) > 0 {
				hint = "the playbook has the tags " + strings.Join(known, ", ")
			}
			t.problems.Report(diag.Diagnostic{
				Severity: severity, Pos: diag.Pos{File: list.flag + " " + tag},
				Message: "no step has the tag `" + tag + "`", Hint: hint,
			})
		}
	}
}

// Of are the tags of one entry: of a text all between its commas, of a template also those of a list. With commas the text that a template
// gives is taken apart, too.
func Of(v playbook.Value, r *plan.Renderer, commas bool) (list []string) {
	if v.Kind() != playbook.String || !eval.Templated(v.Text()) {
		return strings.Split(v.Text(), ",")
	}
	got := value.Plain(r.Value(v))
	if r.Failed || len(r.Missing) > 0 {
		return nil
	}
	items, ok := got.([]any)
	if !ok && commas {
		return strings.Split(value.Text(got), ",")
	} else if !ok {
		items = []any{got}
	}
	for _, one := range items {
		list = append(list, value.Text(one))
	}
	return list
}
