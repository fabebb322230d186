package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"moon/exec/facts"
	"moon/exec/spec"
	"moon/internal/app"
	"moon/internal/suggest"
)

// Facts prints the facts of this machine.
type Facts struct {
	Names  []string `arg:"" optional:"" help:"Only these, such as date_time or docker_version."`
	Format string   `enum:"text,json" default:"text" help:"text or json."`
}

// Help says what is left out without names.
func (Facts) Help() string {
	return `Without names, prints all facts that moon can gather without running a program. The others are gathered only if they are named, here or
in a playbook: ` + strings.Join(slices.Sorted(maps.Keys(facts.Costly())), ", ") + `.

  moon facts
  moon facts date_time docker_version`
}

// Run prints them.
func (c *Facts) Run(call *app.Invocation) error {
	all := facts.Local()
	maps.Copy(all, facts.Volatile())
	if len(c.Names) > 0 {
		only, err := named(all, c.Names)
		if err != nil {
			return err
		}
		all = only
	}
	if c.Format == "json" {
		enc := json.NewEncoder(call.Out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	if err := printFacts(w, "", all); err != nil {
		return err
	}
	return w.Flush()
}

// named picks facts, and finds out those that are costly.
func named(all map[string]any, names []string) (map[string]any, error) {
	only := map[string]any{}
	costly := facts.Costly()
	for _, name := range names {
		v, ok := all[name]
		// Costly facts are gathered only by name.
		if get, dear := costly[name]; dear {
			v, ok = get(), true
		}
		if !ok {
			known := slices.Concat(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(costly)))
			if hint := suggest.DidYouMean(name, known); hint != "" {
				return nil, app.Usage("there is no fact `%s`; %s", name, hint)
			}
			return nil, app.Usage("there is no fact `%s`; moon facts lists them", name)
		}
		only[name] = v
	}
	return only, nil
}

// printFacts writes one line for each fact, under the name that a template would use. A list is shown as in JSON.
func printFacts(w io.Writer, prefix string, facts map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if m, ok := facts[name].(map[string]any); ok {
			if err := printFacts(w, prefix+name+".", m); err != nil {
				return err
			}
			continue
		}
		text, ok := facts[name].(string)
		if !ok {
			b, err := json.Marshal(facts[name])
			if err != nil {
				return err
			}
			text = string(b)
		}
		// A tab or a new line, as an environment may hold, would break the table.
		if strings.ContainsFunc(text, unicode.IsControl) {
			text = strconv.Quote(text)
		}
		if _, err := fmt.Fprintf(w, "%s\t%s\n", prefix+name, text); err != nil {
			return err
		}
	}
	return nil
}

// Actions lists the actions, or describes one.
type Actions struct {
	Name string `arg:"" optional:"" help:"An action to describe."`
}

// Help shows how an action is described.
func (Actions) Help() string {
	return `Without a name, lists all actions with a line about each.

  moon actions
  moon actions copy`
}

// Run lists or describes.
func (c *Actions) Run(call *app.Invocation) error {
	if c.Name == "" {
		w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
		for _, a := range spec.All() {
			fmt.Fprintf(w, "%s\t%s\n", strings.Join(append([]string{a.Name}, shortNames(a)...), ", "), FirstSentence(a.Doc))
		}
		return w.Flush()
	}
	a, ok := spec.Lookup(c.Name)
	if !ok {
		var names []string
		for _, a := range spec.All() {
			names = append(names, append([]string{a.Name}, shortNames(a)...)...)
		}
		return app.Usage("there is no action `%s`; %s", c.Name, cmp.Or(suggest.DidYouMean(c.Name, names), "moon actions lists them"))
	}
	fmt.Fprintf(call.Out, "%s\n\n%s\n\n", a.Name, a.Doc)
	if len(a.Aliases) > 0 {
		fmt.Fprintf(call.Out, "Other names: %s\n\n", strings.Join(a.Aliases, ", "))
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	PrintFields(w, a.Fields())
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(call.Out, "\nExample:\n\n%s\n", strings.TrimRight(indent(a.Example), "\n"))
	return nil
}

// shortNames are the other names of an action, without those that name the collection it is in.
func shortNames(a *spec.Action) (names []string) {
	for _, name := range a.Aliases {
		if !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// PrintFields writes a line for each argument of an action.
func PrintFields(w *tabwriter.Writer, fields []spec.Field) {
	for _, f := range fields {
		if f.Hidden {
			continue
		}
		notes := []string{cmp.Or(f.Type, f.Kind.String())}
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
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// FirstSentence is the beginning of a documentation.
func FirstSentence(doc string) string {
	s, _, _ := strings.Cut(doc, ". ")
	return strings.TrimSuffix(s, ".")
}
