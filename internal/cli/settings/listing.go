package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"moon/config"
	"moon/internal/app"
	"moon/internal/termtext"
)

// Listing says how the settings are listed.
type Listing struct {
	Format string `enum:"text,json" default:"text" env:"-" help:"text or json."`
	Path   bool   `env:"-" help:"Print only the paths of the files: your own, and those of the project that are there."`

	Only string `kong:"-"` // the name of the one that is asked for; "": all
}

// setting is one with what holds, and why.
type setting struct {
	Name     string `json:"name"`
	Value    any    `json:"value"`             // null: nothing sets it
	Default  string `json:"default,omitempty"` // what holds then, in words
	Source   string `json:"source"`            // flag, environment, project, ansible, user or default
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Variable string `json:"variable,omitempty"`
}

// List prints the settings as the flags of a call have them.
func (r *Resolver) List(ctx *kong.Context, how Listing) error {
	if !r.read { // if the flags or the environment say everything
		if err := r.readFiles(ctx); err != nil {
			return err
		}
	}
	if how.Path {
		return r.printPaths()
	}
	set, err := app.AnsibleConfig(".")
	if err != nil {
		return err
	}
	var list []setting
	for _, s := range config.Settings() {
		if how.Only == "" || how.Only == s.Name {
			list = append(list, r.holds(ctx, s, set))
		}
	}
	if len(list) == 0 {
		return app.Usage("%s is neither a playbook nor a setting; moon config lists the settings", how.Only)
	}
	if how.Format == "json" {
		enc := json.NewEncoder(r.call.Doc)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	t := tabwriter.NewWriter(r.call.Out, 0, 4, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.Name, termtext.CleanName(s.words()), termtext.CleanName(s.place()))
	}
	return t.Flush()
}

func (r *Resolver) printPaths() error {
	if dir, err := os.UserConfigDir(); err == nil {
		fmt.Fprintln(r.call.Out, termtext.CleanName(filepath.Join(dir, "moon", config.Name)))
	}
	for _, f := range r.own {
		fmt.Fprintln(r.call.Out, termtext.CleanName(f.Path))
	}
	return nil
}

// holds is a setting with what holds, in the order in which one source overrides another.
func (r *Resolver) holds(ctx *kong.Context, s *config.Setting, set app.AnsibleSettings) setting {
	is := setting{Name: s.Name}
	at := slices.IndexFunc(ctx.Flags(), func(f *kong.Flag) bool { return f.Name == s.Flag() })
	flag := ctx.Flags()[at] // a test sees to it that there is one
	text, line := set.Where(s.Ansible)
	typed := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag == flag && !p.Resolved })
	variable := givenBy(s, flag)
	switch v := r.from[s.Name]; {
	case typed:
		is.Source, is.Value = "flag", valueOf(ctx.FlagValue(flag))
	case variable != "":
		is.Source, is.Variable, is.Value = "environment", variable, os.Getenv(variable)
		if slices.Contains(flag.Tag.Envs, variable) {
			is.Value = valueOf(ctx.FlagValue(flag))
		}
	case v != nil:
		is.Source, is.File, is.Line, is.Value = "user", v.Pos.File, v.Pos.Line, fromText(s.Kind, v.Items)
		if v.File.Project {
			is.Source = "project"
		}
		if v.Light != "" {
			is.Value = map[string]string{"dark": v.Items[0], "light": v.Light}
		}
	case text != "":
		is.Source, is.File, is.Line, is.Value = "ansible", shownFrom(set.File), line, text
	default:
		is.Source, is.Default = "default", s.Usual
	}
	return is
}

// fromText is a value of a file as a document has it.
func fromText(kind config.Kind, items []string) any {
	switch kind {
	case config.List:
		return items
	case config.Bool:
		return items[0] == "true"
	case config.Number:
		n, _ := strconv.Atoi(items[0]) // it was read as one
		return n
	default:
		return items[0]
	}
}

// valueOf is the value of a flag as a document has it.
func valueOf(value any) any {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return d.String()
	}
	return v.Interface()
}

// words is the value for people.
func (s *setting) words() string {
	switch v := s.Value.(type) {
	case nil:
		if s.Default == "" {
			return "-"
		}
		return s.Default
	case []string:
		return strings.Join(v, ", ")
	case map[string]string:
		return "light " + v["light"] + ", dark " + v["dark"]
	default:
		if text := fmt.Sprint(v); text != "" {
			return text
		}
		return `""`
	}
}

// place says where the value is from.
func (s *setting) place() string {
	switch {
	case s.Variable != "":
		return "$" + s.Variable
	case s.Line > 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return s.Source
}
