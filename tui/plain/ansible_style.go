package plain

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/plan/eval/pyyaml"
	"moon/plan/eval/value"
)

// ResultStyle is how results are written in the format of ansible-playbook.
type ResultStyle uint8

// The styles. Each is that of one of Ansible's callback plugins.
const (
	ResultsJSON     ResultStyle = iota // default
	ResultsYAML                        // community.general.yaml
	ResultsFormYAML                    // default, with callback_result_format = yaml
	ResultsDebug                       // ansible.posix.debug
)

// write is a result behind ` => `. One that is always shown, as that of debug is, may take several lines.
func (s ResultStyle) write(result map[string]any, always bool) string {
	switch s {
	case ResultsYAML:
		return yamlResult(result)
	case ResultsFormYAML:
		return strings.TrimRight("\n"+indentLines(pyyaml.Write(withoutLines(result), pyyaml.Style{
			Indent: 4, Flow: pyyaml.FlowNever, Block: blockOf,
		}), "    "), "\n")
	case ResultsDebug:
		return debugResult(result)
	case ResultsJSON:
	}
	if always {
		return indentedJSON(result)
	}
	return oneLine(result)
}

// yamlResult has what stands for the whole result on the line itself, and the rest below it.
func yamlResult(result map[string]any) string {
	result = withoutLines(result)
	var head strings.Builder
	for _, key := range []string{"changed", "skipped"} {
		if v, ok := result[key]; ok {
			head.WriteString(key + "=" + strings.ToLower(value.PythonText(v)) + " ")
			delete(result, key)
		}
	}
	if len(result) == 0 {
		return strings.TrimRight(head.String(), " ")
	}
	text := pyyaml.Write(result, pyyaml.Style{Width: 1000, Flow: pyyaml.FlowNever, Block: looseBlockOf})
	return strings.TrimRightFunc(head.String()+strings.ReplaceAll("\n"+text, "\n", "\n  "), unicode.IsSpace)
}

// withoutLines is a result that does not have its texts twice.
func withoutLines(result map[string]any) map[string]any {
	result = maps.Clone(result)
	for _, name := range []string{"stdout", "stderr"} {
		_, text := result[name]
		if _, lines := result[name+"_lines"]; text && lines {
			result[name+"_lines"] = "<omitted>"
		}
	}
	plain, _ := plainValue(result).(map[string]any)
	return plain
}

// plainValue is a value of a result as YAML has it: with one kind of list, and whole numbers that JSON has made floats of.
func plainValue(v any) any {
	switch v := v.(type) {
	case []string:
		items := make([]any, len(v))
		for i := range v {
			items[i] = v[i]
		}
		return items
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = plainValue(v[i])
		}
		return items
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			m[key] = plainValue(inner)
		}
		return m
	case float64:
		if n := int(v); float64(n) == v && math.Abs(v) < 1<<53 {
			return n
		}
	}
	return v
}

// indentLines moves the lines that are not empty to the right.
func indentLines(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// blockOf shows texts of several lines as blocks. To be readable counts for more than to be exact: what would not fit into a block,
// such as a tab or a space at the end of a line, is changed.
func blockOf(text string) (shown string, block bool) {
	if !strings.ContainsAny(text, "\n\u0085\u2028\u2029") {
		return text, false
	}
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r >= ' ' && r <= '~' || r == 0x85 || r >= 0xa0 && r != 0xfeff && utf8.ValidRune(r) {
			return r
		}
		return -1
	}, expandTabs(strings.TrimRightFunc(text, unicode.IsSpace)))
	return trimLines(text), true
}

// looseBlockOf is blockOf as community.general.yaml does it, which takes more characters for ends of lines and shows fewer.
func looseBlockOf(text string) (shown string, block bool) {
	if !strings.ContainsAny(text, "\n\r\x1c\x1d\x1e\u0085\u2028\u2029") {
		return text, false
	}
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r <= '~' || r >= 0xa0 {
			return r
		}
		return -1
	}, strings.TrimRightFunc(text, unicode.IsSpace))
	return trimLines(expandTabs(text)), true
}

// trimLines takes spaces off the ends of all lines but the last.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines[:len(lines)-1] {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// expandTabs has spaces up to the next column of eight for tabs.
func expandTabs(text string) string {
	var b strings.Builder
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case '\n', '\r':
			column = -1
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}

// debugTexts are the fields that the style for debugging shows by themselves.
var debugTexts = []string{"stdout", "stderr", "msg", "module_stdout", "module_stderr"}

// debugResult has the texts of a result below it, as they are.
func debugResult(result map[string]any) string {
	rest := maps.Clone(result)
	maps.DeleteFunc(rest, func(key string, _ any) bool {
		return slices.Contains(debugTexts, key) || key == "stdout_lines" || key == "stderr_lines"
	})
	var b strings.Builder
	b.WriteString(indentedJSON(rest))
	for _, key := range debugTexts {
		if v := plainValue(result[key]); v != nil && value.Truthy(v) {
			b.WriteString("\n\n" + strings.ToUpper(key) + ":\n\n" + value.PythonText(v) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
