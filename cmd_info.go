package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"moon/exec"
	"moon/exec/spec"
	"moon/themes"
)

type factsCmd struct{}

func (factsCmd) Run(io stdio) error {
	enc := json.NewEncoder(io.out)
	enc.SetIndent("", "  ")
	return enc.Encode(exec.Facts())
}

type actionsCmd struct {
	Name string `arg:"" optional:"" help:"An action to describe."`
}

func (c *actionsCmd) Run(io stdio) error {
	if c.Name == "" {
		w := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
		for _, a := range spec.All() {
			fmt.Fprintf(w, "%s\t%s\n", strings.Join(append([]string{a.Name}, a.Aliases...), ", "), firstSentence(a.Doc))
		}
		return w.Flush()
	}
	a, ok := spec.Lookup(c.Name)
	if !ok {
		return usage("there is no action `%s`; moon actions lists them", c.Name)
	}
	fmt.Fprintf(io.out, "%s\n\n%s\n\n", a.Name, a.Doc)
	w := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
	for _, f := range a.Fields() {
		notes := []string{f.Kind.String()}
		if f.Required {
			notes = append(notes, "required")
		}
		if f.Default != "" {
			notes = append(notes, "default "+f.Default)
		}
		if len(f.Enum) > 0 {
			notes = append(notes, strings.Join(f.Enum, " | "))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", strings.Join(append([]string{f.Name}, f.Aliases...), ", "), strings.Join(notes, "; "), f.Doc)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(io.out, "\nExample:\n\n%s\n", strings.TrimRight(indent(a.Example), "\n"))
	return nil
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString("  " + line)
	}
	return b.String()
}

func firstSentence(doc string) string {
	s, _, _ := strings.Cut(doc, ". ")
	return strings.TrimSuffix(s, ".")
}

type themesCmd struct{}

func (themesCmd) Run(io stdio) error {
	_, err := fmt.Fprintln(io.out, strings.Join(themes.Names(themeDir()), "\n"))
	return err
}
