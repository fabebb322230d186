package linting

import (
	"encoding/json"
	"fmt"
	"strings"

	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/lint"
)

// write prints what was found.
func (c *Lint) write(call *app.Invocation, all []finding, rules []lint.Rule) error {
	switch c.Format {
	case "json":
		return writeJSON(call, map[string]any{"findings": asJSON(all)})
	case "sarif":
		return writeJSON(call, asSARIF(all, rules))
	case "github":
		for _, f := range all {
			fmt.Fprintf(call.Out, "::warning file=%s,line=%d,col=%d,title=%s::%s\n", escaped(f.Pos.File), f.Pos.Line, f.Pos.Column, f.rule,
				strings.ReplaceAll(escaped(f.Message+"; "+f.Hint), "%2C", ","))
		}
		return nil
	}
	var ds diag.List
	fixes := 0
	for _, f := range all {
		f.Message += " [" + f.rule + "]"
		ds.Add(f.Diagnostic)
		if f.fixes {
			fixes++
		}
	}
	if err := ds.Print(call.Out); err != nil || len(all) == 0 {
		return err
	}
	_, err := fmt.Fprintf(call.Out, "\n%s found", plan.CountOf(len(all), "place"))
	if fixes > 0 && err == nil {
		_, err = fmt.Fprintf(call.Out, "; --fix fixes %d", fixes)
	}
	fmt.Fprintln(call.Out)
	return err
}

// escaped is a text in a workflow command of GitHub.
func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(termtext.CleanName(text))
}

func asJSON(all []finding) []map[string]any {
	list := []map[string]any{}
	for _, f := range all {
		list = append(list, map[string]any{
			"rule": f.rule, "file": f.Pos.File, "line": f.Pos.Line, "column": f.Pos.Column, "message": f.Message, "hint": f.Hint,
			"fixable": f.fixes,
		})
	}
	return list
}

// asSARIF is what code scanning of GitHub and others reads.
func asSARIF(all []finding, rules []lint.Rule) map[string]any {
	described, results := []map[string]any{}, []map[string]any{}
	for _, r := range rules {
		described = append(described, map[string]any{"id": r.ID, "shortDescription": map[string]any{"text": r.About}})
	}
	for _, f := range all {
		results = append(results, map[string]any{
			"ruleId": f.rule, "level": "warning", "message": map[string]any{"text": f.Message + "; " + f.Hint},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{
				"artifactLocation": map[string]any{"uri": f.Pos.File},
				"region":           map[string]any{"startLine": f.Pos.Line, "startColumn": max(f.Pos.Column, 1)},
			}}},
		})
	}
	return map[string]any{
		"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "moon lint", "version": build.Version, "rules": described}},
			"results": results,
		}},
	}
}

func writeJSON(call *app.Invocation, v any) error {
	enc := json.NewEncoder(call.Doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
