package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"moon/engine/graph"
	"moon/engine/planfile"
	"moon/events"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/saved"
	"moon/plan/show"
)

// savedFlags are the flags of commands that plan a playbook or take a plan that was saved.
type savedFlags struct {
	playbookFlags
	Saved      string `group:"saved" name:"plan" type:"path" placeholder:"FILE" help:"Use a plan saved with moon plan -o instead of a playbook."`
	AllowStale bool   `group:"saved" help:"Accept a saved plan although its files have changed since."`

	expected *events.Expectations // what the saved plan keeps of predictions; nil: nothing
}

func (f *savedFlags) build(call *app.Invocation) (*plan.Plan, *graph.Graph, error) {
	if f.Saved == "" {
		if f.AllowStale {
			return nil, nil, app.Usage("--allow-stale is for saved plans; give one with --plan FILE")
		}
		return f.playbookFlags.build(call)
	}
	if given := f.shaping(); given != "" {
		return nil, nil, app.Usage("--plan takes exactly what was saved; %s cannot be given with it", given)
	}
	// The plan was made elsewhere, perhaps: what this machine is may differ.
	here, err := thisMachine(call, f.vaultPasswords())
	if err != nil {
		return nil, nil, err
	}
	here.MaxSteps, here.MaxExpansion = f.MaxSteps, f.MaxExpansion
	t, err := call.Truster(f.TrustPlugins || f.approved)
	if err != nil {
		return nil, nil, err
	}
	f.reachable(&here, call, t)
	f.called(&here)
	if here.Outside.TrustsFiles, err = app.TrustsFiles(&here, f.TrustPlugins); err != nil {
		return nil, nil, err
	}
	doc, err := os.ReadFile(f.Saved)
	if err != nil {
		return nil, nil, app.Usage("--plan: %s", app.Unreadable(f.Saved, err))
	}
	if err := f.askPlugins(call, planfile.Root(doc), here); err != nil {
		return nil, nil, err
	}
	kept, err := planfile.Read(doc, here, build.Version)
	var stale *planfile.StaleError
	var lost *saved.NotKeptError
	switch {
	case errors.As(err, &stale):
		return nil, nil, isStale(f.Saved, stale.What, false)
	case errors.As(err, &lost):
		return nil, nil, isStale(f.Saved, []string{lost.Error()}, false)
	case err != nil:
		return nil, nil, app.Usage("%s cannot be used: %s", f.Saved, err)
	// --allow-stale is offered only if the plan holds all that it needs to run unchanged.
	case len(kept.Stale) > 0 && !f.AllowStale:
		return nil, nil, isStale(f.Saved, kept.Stale, len(kept.Lost) == 0)
	case len(kept.Lost) > 0:
		return nil, nil, notSaved(f.Saved, kept.Lost)
	// The person has seen the list and takes it anyway.
	case len(kept.Stale) > 0:
		kept.Plan.TakeAsSaved()
		fmt.Fprintf(call.Err, "moon: %s is stale, and used anyway\n%s\n", f.Saved, indented(kept.Stale))
	}
	f.expected = kept.Expected
	return kept.Plan, kept.Graph, f.checkPlugins(kept.Plan)
}

// isStale is the refusal of a plan that is not of today. usable says that it could be run as it was saved.
func isStale(file string, what []string, usable bool) error {
	way := "plan again"
	if usable {
		way += ", or use --allow-stale to run it unchanged"
	}
	return app.NewExit(app.ExitStale, fmt.Sprintf("%s is stale; nothing was run\n%s\n%s", file, indented(what), way))
}

// notSaved is the refusal of a plan that could not be run as it was saved.
func notSaved(file string, what []string) error {
	return app.NewExit(app.ExitStale,
		fmt.Sprintf("%s cannot be run unchanged; nothing was run\n%s\na saved plan holds no more of these than their digests; put them back, or plan again", file, indented(what)))
}

// indented lists things, each on its line, and no more than can be read.
func indented(list []string) string {
	const most = 20
	var lines []string
	for i, s := range list {
		if i == most && len(list) > most+1 {
			lines = append(lines, fmt.Sprintf("  and %d more", len(list)-most))
			break
		}
		lines = append(lines, "  "+termtext.CleanName(s))
	}
	return strings.Join(lines, "\n")
}

// save writes a plan to a file, with what its steps were predicted to do, if that is known.
func save(call *app.Invocation, path string, p *plan.Plan, g *graph.Graph, expected *events.Expectations) error {
	err := call.WriteFile(path, func(w io.Writer) error { return planfile.Write(w, p, g, expected, build.Version) })
	if whole, ok := errors.AsType[*saved.WholeError](err); ok {
		return app.Usage("the plan cannot be saved: %s", whole)
	}
	if hidden, ok := errors.AsType[*saved.SecretError](err); ok {
		return app.Usage("the plan cannot be saved: %s", hidden)
	}
	return err
}

// writePlan writes the plan as a document.
func writePlan(w io.Writer, p *plan.Plan, g *graph.Graph) error {
	return show.WriteJSON(w, p, g.JSON)
}
