package plan

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// tagsOf are the tags of a task with those it inherits.
func (p *evaluator) tagsOf(t *playbook.Task, c *scopeContext) []string {
	if len(t.Tags) == 0 {
		return c.tags
	}
	tags := slices.Clone(c.tags)
	for _, v := range t.Tags {
		text := v.Text()
		if eval.Templated(text) {
			r := p.renderer(p.env(c, nil), c.chain)
			text = r.text(v)
			if len(r.missing) > 0 {
				p.errorf(v.Pos(), 0, c.chain, "", "this tag is known only after %s", p.after(r.missing))
				continue
			}
		}
		for tag := range strings.SplitSeq(text, ",") {
			if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
				p.tagsSeen[tag] = true
			}
		}
	}
	return tags
}

// ByTags is Step.ExcludedBy of a step that --tags or --skip-tags leave out.
const ByTags = "tags"

// excludedBy says what leaves a step out; "" if nothing does.
func (p *evaluator) excludedBy(s *Step) string {
	if p.excluded(s.Tags) {
		return ByTags
	}
	return p.leftOut[s.Path]
}

// excluded reports whether --tags and --skip-tags leave a step with these tags out.
func (p *evaluator) excluded(tags []string) bool {
	wanted := func(list []string, tag string) bool { return slices.Contains(list, tag) }
	for _, skip := range p.o.SkipTags {
		switch {
		case wanted(tags, skip),
			skip == "all" && !wanted(tags, "always"),
			skip == "tagged" && len(tags) > 0,
			skip == "untagged" && len(tags) == 0:
			return true
		}
	}
	named := wanted(tags, "always") // or a requested tag is among the step's own
	for _, tag := range p.o.Tags {
		named = named || wanted(tags, tag)
	}
	if wanted(tags, "never") && !named {
		return true
	}
	if len(p.o.Tags) == 0 || named {
		return false
	}
	for _, tag := range p.o.Tags {
		if tag == "all" || tag == "tagged" && len(tags) > 0 || tag == "untagged" && len(tags) == 0 {
			return false
		}
	}
	return true
}

var specialTags = []string{"all", "tagged", "untagged", "always", "never"}

// checkTags warns about requested tags that no step has.
func (p *evaluator) checkTags() {
	known := sortedKeys(p.tagsSeen)
	for _, list := range []struct {
		flag string
		tags []string
	}{{"--tags", p.o.Tags}, {"--skip-tags", p.o.SkipTags}} {
		var lost []string
		for _, tag := range list.tags {
			if !p.tagsSeen[tag] && !slices.Contains(specialTags, tag) {
				lost = append(lost, tag)
			}
		}
		severity := diag.Warning
		if list.flag == "--tags" && len(lost) == len(list.tags) {
			severity = diag.Error
		}
		for _, tag := range lost {
			hint := suggest.DidYouMean(tag, known)
			if hint == "" && len(known) > 0 {
				hint = "the playbook has the tags " + strings.Join(known, ", ")
			}
			p.report(diag.Diagnostic{Severity: severity, Pos: diag.Pos{File: list.flag + " " + tag}, Message: "no step has the tag `" + tag + "`", Hint: hint})
		}
	}
}
