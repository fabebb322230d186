package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// answer is the result of execute. What else a plugin says is for a later moon, and ignored.
type answer struct {
	Status   string         `json:"status"`
	Changed  *bool          `json:"changed"`
	Failed   bool           `json:"failed"`
	Skipped  bool           `json:"skipped"`
	Msg      string         `json:"msg"`
	Data     map[string]any `json:"data"`
	Facts    map[string]any `json:"facts"`
	Diff     []difference   `json:"diff"`
	Warnings []string       `json:"warnings"`
}

// difference is what changes at one place. Before or After is missing where there is nothing.
type difference struct {
	Path   string  `json:"path"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// The statuses of an answer.
const (
	statusOK      = "ok"
	statusChanged = "changed"
	statusFailed  = "failed"
	statusSkipped = "skipped"
	statusUnknown = "unknown"
)

var statuses = []string{statusOK, statusChanged, statusFailed, statusSkipped, statusUnknown}

// readAnswer takes what a plugin has answered.
func readAnswer(text []byte) (answer, error) {
	var a answer
	if len(text) == 0 {
		return a, fmt.Errorf("answered nothing")
	}
	if text[0] != '{' {
		return a, fmt.Errorf("answered %s, which is not a JSON object", quoteText(text))
	}
	if err := decodeJSON(text, &a); err != nil {
		return a, fmt.Errorf("answered %s, which cannot be read: %s", quoteText(text), jsonError(err))
	}
	a.Data, _ = nativeValues(a.Data).(map[string]any)
	a.Facts, _ = nativeValues(a.Facts).(map[string]any)
	switch {
	case a.Status != "":
		if !slices.Contains(statuses, a.Status) {
			return a, fmt.Errorf("answered the status %q; there are %s", a.Status, strings.Join(statuses, ", "))
		}
	case a.Failed:
		a.Status = statusFailed
	case a.Skipped:
		a.Status = statusSkipped
	case a.Changed != nil && *a.Changed:
		a.Status = statusChanged
	default:
		a.Status = statusOK
	}
	// A plugin that says both ok and changed means changed.
	if a.Status == statusOK && a.Changed != nil && *a.Changed {
		a.Status = statusChanged
	}
	return a, nil
}

// readAnswerOf takes what a plugin has answered to what it is called with. Facts are one fact, which has the name of the plugin.
func readAnswerOf(g *spec.Plugin, text []byte) (answer, error) {
	a, err := readAnswer(text)
	if err != nil || !g.Looks || a.Status == statusFailed {
		return a, err
	}
	if a.Facts == nil {
		return a, fmt.Errorf("answered %s, which has no facts", quoteText(text))
	}
	facts := map[string]any{g.Fact(): a.Facts}
	return answer{Status: statusOK, Facts: facts, Data: map[string]any{"ansible_facts": facts}, Warnings: a.Warnings}, nil
}

// moduleAnswer takes what a module of Ansible's has answered: everything it says is data, but for what says how it went.
func moduleAnswer(text []byte) (answer, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return answer{}, fmt.Errorf("answered nothing")
	}
	object, junk := cutObject(text)
	var said map[string]any
	if len(object) == 0 || decodeJSON(object, &said) != nil {
		return answer{}, fmt.Errorf("answered %s, which is not a JSON object", quoteText(bytes.TrimSpace(text)))
	}
	said, _ = nativeValues(said).(map[string]any)
	a := answer{Data: said}
	truth := func(name string) bool { b, _ := said[name].(bool); return b }
	changed := truth("changed")
	a.Changed = &changed
	rc, _ := said["rc"].(int)
	// Without a word of its own about failure, a module has failed if its rc is not 0.
	_, judged := said["failed"]
	switch {
	case truth("failed"), !judged && rc != 0:
		a.Status = statusFailed
	case truth("skipped"):
		a.Status = statusSkipped
	case changed:
		a.Status = statusChanged
	default:
		a.Status = statusOK
	}
	a.Msg, _ = said["msg"].(string)
	a.Facts, _ = said["ansible_facts"].(map[string]any)
	a.Warnings = slices.Concat(readWarnings(said["warnings"]), readDeprecations(said["deprecations"]))
	if len(junk) > 0 {
		a.Warnings = append(a.Warnings, "it printed something after its answer: "+quoteText(junk))
	}
	a.Diff = moduleDiff(said["diff"])
	for _, name := range []string{"changed", "failed", "skipped", "invocation"} {
		delete(said, name)
	}
	maps.DeleteFunc(said, func(name string, _ any) bool { return strings.HasPrefix(name, "_ansible_") }) // words for Ansible itself
	splitLines(said)
	if a.Status == statusFailed {
		delete(said, "msg") // it is the error
	}
	return a, nil
}

// cutObject finds the JSON object in what a module has printed: from the first line that begins one to the last that ends one. junk
// came after it.
func cutObject(text []byte) (object, junk []byte) {
	var begun bool
	end := 0
	var rest []byte
	for line := range bytes.Lines(text) {
		if !begun && !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			continue // something was printed before it
		}
		begun = true
		rest = append(rest, line...)
		if bytes.HasSuffix(bytes.TrimSpace(line), []byte("}")) {
			end = len(rest)
		}
	}
	return bytes.TrimSpace(rest[:end]), bytes.TrimSpace(rest[end:])
}

// splitLines adds the lines of what a command printed, as Ansible does.
func splitLines(said map[string]any) {
	for _, name := range []string{"stdout", "stderr"} {
		text, isText := said[name].(string)
		if _, split := said[name+"_lines"]; isText && !split {
			said[name+"_lines"] = linesOf(text)
		}
	}
}

func linesOf(text string) []any {
	lines := []any{}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// readDeprecations words what a module says will be gone in a later version.
func readDeprecations(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		msg, ok := m["msg"].(string)
		if !ok {
			continue
		}
		when := ""
		for _, key := range []string{"version", "date"} {
			if text, ok := m[key].(string); ok && text != "" {
				when = ", which goes away in " + text
			}
		}
		if of, ok := m["collection_name"].(string); ok && of != "" && when != "" {
			when += " of " + of
		}
		all = append(all, "deprecated: "+msg+when)
	}
	return all
}

func readWarnings(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// moduleDiff reads the forms that modules give: one, or a list; texts, or maps of attributes.
func moduleDiff(v any) []difference {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var all []difference
	for _, item := range list {
		m, _ := item.(map[string]any)
		if len(m) == 0 {
			continue
		}
		// A module may give the difference ready-made.
		if prepared, ok := m["prepared"].(string); ok {
			all = append(all, difference{After: &prepared})
			continue
		}
		d := difference{Before: diffSide(m["before"]), After: diffSide(m["after"])}
		for _, name := range []string{"after_header", "before_header"} {
			if header, ok := m[name].(string); ok && d.Path == "" {
				d.Path = header
			}
		}
		if d.Before != nil || d.After != nil {
			all = append(all, d)
		}
	}
	return all
}

// diffSide is a text of a difference. Attributes are a line each.
func diffSide(v any) *string {
	switch v := v.(type) {
	case string:
		return &v
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := json.Marshal(v[name])
			if err != nil {
				continue // not from JSON
			}
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
		text := b.String()
		return &text
	}
	return nil
}

// toResult returns what the answer means for the step.
func (a answer) toResult(c *exec.PluginCall) exec.Result {
	if c.Check && (a.Status == statusUnknown || a.Status == statusSkipped) {
		r := c.Unknown(a.Msg)
		r.Warnings = a.Warnings
		return r
	}
	r := exec.Result{Outcome: events.OK, Fields: a.Data, Warnings: a.Warnings}
	if r.Fields == nil {
		r.Fields = map[string]any{}
	}
	// The rc of a module in Python is a field like others. A status of the step would have its output next to it.
	if rc, ok := a.Data["rc"].(int); ok && c.Args.Plugin.Speaks != spec.SpeaksPython {
		r.RC = &rc
	}
	switch a.Status {
	case statusChanged:
		r.Outcome = events.Changed
	case statusFailed:
		r.Outcome, r.Class, r.Error = events.Failed, fault.Fatal, a.Msg
		if r.Error == "" {
			r.Error = "the plugin says that it failed, and not why"
		}
	case statusSkipped:
		r.Outcome, r.Reason, r.Detail = events.Skipped, events.SkipPlugin, a.Msg
		if a.Msg == "" {
			r.Detail = "by its plugin"
		}
		if speaks := c.Args.Plugin.Speaks; speaks == spec.SpeaksPython || speaks == spec.SpeaksFile { // plays register what a module said of it
			r.Fields["skipped"] = true
		}
	case statusUnknown:
		r.Outcome, r.Class, r.Error = events.Failed, fault.Fatal, "the plugin does not know how it went: "+a.Msg
	}
	if a.Msg != "" && r.Outcome != events.Failed {
		if _, said := r.Fields["msg"]; !said {
			r.Fields["msg"] = a.Msg
		}
	}
	if len(a.Facts) > 0 {
		r.Values = a.Facts
		if _, module := a.Data["ansible_facts"]; !module {
			r.Fields["facts"] = a.Facts
		}
	}
	if r.Outcome == events.Changed {
		r.Diff = a.toDiff(c)
	}
	if r.Diff == nil && r.Outcome != events.Failed && r.Outcome != events.Skipped {
		r.Message = a.Msg // else it stands there already
	}
	return r
}

// toDiff returns the change as views show it; nil in a run that shows none.
func (a answer) toDiff(c *exec.PluginCall) *events.Diff {
	if !c.Check && len(a.Diff) == 0 {
		return nil
	}
	d := &events.Diff{Kind: events.ChangeUpdate, Summary: firstLine(a.Msg)}
	var text strings.Builder
	for i, one := range a.Diff {
		if i == 0 {
			d.Path = one.Path
			switch {
			case one.Before == nil && one.After != nil && len(a.Diff) == 1:
				d.Kind = events.ChangeCreate
			case one.After == nil && one.Before != nil && len(a.Diff) == 1:
				d.Kind = events.ChangeDelete
			}
		}
		if c.Diff {
			text.WriteString(exec.Unified(one.Path, one.Before, one.After))
		}
	}
	d.Text = text.String()
	return d
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
