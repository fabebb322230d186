package mooncake

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/internal/pattern"
)

// rewriter is the work on one playbook.
type rewriter struct {
	notes []string // what a person has to look at
}

// note says what is not the same, and where it was.
func (r *rewriter) note(at *yaml.Node, format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("line %d: ", at.Line)+fmt.Sprintf(format, args...))
}

// From makes a playbook of moon of the text of one for mooncake.
func From(name, text string) (string, error) {
	doc, err := parse(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return "", err
	}
	r := &rewriter{}
	root := doc.Content[0]
	steps := root
	if root.Kind == yaml.MappingNode {
		if steps = get(root, "steps"); steps == nil {
			return "", errors.New("it has no steps; a file of variables is used as it is, with vars_files or --vars-file")
		}
	}
	if steps.Kind != yaml.SequenceNode {
		return "", errors.New("it has no list of steps")
	}
	for _, s := range steps.Content {
		if get(s, "hosts") != nil || get(s, "import_playbook") != nil {
			return "", errors.New("it has plays, which moon runs as they are")
		}
	}
	r.rewriteSteps(steps)
	rewriteTexts(root)
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of %s, a playbook for mooncake.\n", name)
	for _, n := range r.notes {
		fmt.Fprintf(&b, "# Look at %s\n", n)
	}
	b.WriteString("\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}

// mostRepairs is how many lines are repaired at most.
const mostRepairs = 200

var (
	errorLine  = pattern.New(`^yaml: line (\d+):`)
	plainValue = pattern.New(`^(\s*(?:- +)?[A-Za-z_][\w.-]*: +)([^'"|>{\[&*!].*)$`)
)

// parse reads the text. A plain value with a colon in it, which is the commonest mistake, is quoted.
func parse(text string) (*yaml.Node, error) {
	lines := strings.Split(text, "\n")
	for range mostRepairs {
		var doc yaml.Node
		err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &doc)
		if err == nil && len(doc.Content) == 0 {
			return nil, errors.New("it is empty")
		}
		if err == nil {
			return &doc, nil
		}
		if !repair(lines, err) {
			return nil, errors.New("it is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
	return nil, errors.New("it is not YAML")
}

// repair quotes the value on the line that an error is about, or on the one before: the library counts from where it noticed.
func repair(lines []string, err error) bool {
	m := errorLine.FindStringSubmatch(err.Error())
	if m == nil {
		return false
	}
	at := 0
	for _, digit := range m[1] {
		at = at*10 + int(digit-'0')
	}
	for _, i := range []int{at - 1, at - 2, at} {
		if i < 0 || i >= len(lines) {
			continue
		}
		v := plainValue.FindStringSubmatch(lines[i])
		if v == nil || !strings.Contains(v[2], ": ") && !strings.HasSuffix(v[2], ":") {
			continue
		}
		lines[i] = v[1] + "'" + strings.ReplaceAll(v[2], "'", "''") + "'"
		return true
	}
	return false
}

var (
	padded   = pattern.New(`\{\{\s*([^{}|]+?)\s*\|\s*(l|r)just\((\d+)\)\s*\}\}`)
	negated  = pattern.New(`\{\{\s*!\s*`)
	negation = pattern.New(`^!\s*`)
	braced   = pattern.New(`^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$`)
	homeWord = pattern.New(`\buser_home\b`)
	dateWord = pattern.New(`\bansible_date_time\b`)
	envCall  = pattern.New(`\blookup_env\(`)
	listText = pattern.New(`\b(ip_addresses|dns_servers|cpu_flags)_string\b`)
)

// rewriteTexts gives names in templates and conditions those that moon has for them.
func rewriteTexts(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		v := padded.ReplaceAllStringFunc(n.Value, func(text string) string {
			m := padded.FindStringSubmatch(text)
			sign := ""
			if m[2] == "l" {
				sign = "-"
			}
			return "{{ '%" + sign + m[3] + "s' | format(" + m[1] + ") }}"
		})
		v = negated.ReplaceAllString(v, "{{ not ")
		v = homeWord.ReplaceAllString(v, "home")
		v = listText.ReplaceAllString(v, "($1 | join(', '))")
		v = dateWord.ReplaceAllString(v, "facts.date_time")
		if v = envCall.ReplaceAllString(v, "env("); v != n.Value {
			n.Value = v
		}
		return
	}
	for _, c := range n.Content {
		rewriteTexts(c)
	}
}

func (r *rewriter) rewriteSteps(list *yaml.Node) {
	for _, s := range list.Content {
		if s.Kind == yaml.MappingNode {
			r.rewriteStep(s)
		}
	}
}

// actions make those of moon of an action that is only mooncake's, or of arguments that only mooncake's has.
var actions map[string]func(r *rewriter, step, args *yaml.Node)

// Filled here, since steps are rewritten in steps.
func init() {
	actions = map[string]func(r *rewriter, step, args *yaml.Node){
		"file_replace": (*rewriter).fileReplace, "file_insert": (*rewriter).fileInsert, "file_delete_range": (*rewriter).fileDeleteRange,
		"file_patch_apply": (*rewriter).filePatch, "repo_apply_patchset": (*rewriter).repoPatch,
		"artifact_capture": (*rewriter).artifactCapture, "artifact_validate": (*rewriter).artifactValidate,
		"service": (*rewriter).service, "file": (*rewriter).file, "wait": (*rewriter).wait, "assert": (*rewriter).assert,
		"shell": (*rewriter).ownKeys, "command": (*rewriter).ownKeys, "get_url": (*rewriter).ownKeys, "download": (*rewriter).ownKeys,
	}
}

func (r *rewriter) rewriteStep(step *yaml.Node) {
	for _, inner := range []string{"block", "rescue", "always", "steps"} {
		if list := get(step, inner); list != nil && list.Kind == yaml.SequenceNode {
			r.rewriteSteps(list)
		}
	}
	if v := get(step, "loop_var"); v != nil && get(step, "loop_control") == nil {
		remove(step, "loop_var")
		set(step, "loop_control", mapOf("loop_var", v))
	}
	for _, key := range []string{"when", "changed_when", "failed_when"} {
		if v := get(step, key); v != nil && v.Kind == yaml.ScalarNode {
			if m := braced.FindStringSubmatch(v.Value); m != nil {
				v.Value = negation.ReplaceAllString(m[1], "not ")
			}
		}
	}
	// The keys are looked at before they change: an action has one step.
	for i := 0; i+1 < len(step.Content); i += 2 {
		rewrite, known := actions[step.Content[i].Value]
		if args := step.Content[i+1]; known && args.Kind == yaml.MappingNode {
			rewrite(r, step, args)
			return
		}
	}
}

// ownKeys puts what belongs to the step next to the action.
func (r *rewriter) ownKeys(step, args *yaml.Node) {
	for _, name := range []string{"cwd", "env", "retries", "retry_delay", "timeout"} {
		if v := get(args, name); v != nil && get(step, name) == nil && (name != "timeout" || get(args, "cmd") != nil) {
			remove(args, name)
			set(step, name, v)
		}
	}
}
