package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"moon/engine/statefile"
	"moon/events"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/nats/link"
	shared "moon/nats/states"
	"moon/plan"
	"moon/plan/prior"
)

// states is what runs have made on hosts. It connects when something asks for it: most commands of moon do not.
var states *shared.Log

// AfterState is called after the stream has taken what was made, before anything else happens. Tests let it crash there.
var AfterState func()

// standsFor is the variable by which a worker says which directory the one of a job stands for: DIR=ORIGINAL.
const standsFor = "MOON_NATS_STANDS_FOR"

// shareStates has what runs make on hosts be recorded in the stream, and read from there.
func shareStates(ctx context.Context, o link.Options) error {
	states = shared.New(func() (*link.Link, error) { return link.Dial(ctx, o) })
	states.Taken = AfterState
	statefile.Share(states)
	if dir, original, ok := strings.Cut(os.Getenv(standsFor), "="); ok {
		statefile.StandFor(dir, original)
	}
	return os.Unsetenv(standsFor) // steps may start moon-nats, too
}

// tellHistory prints what was recorded of a playbook: when, by whom, in which run, of which host.
func tellHistory(args []string) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return errors.New("moon-nats state --history takes a playbook, and nothing else")
	}
	file, err := app.StateOf(args[0])
	if err != nil {
		return err
	}
	list, err := states.History(file.Name())
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Printf("nothing is recorded of hosts of %s\n", termtext.CleanName(filepath.Base(args[0])))
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHEN\tWHO\tRUN\tHOST\tSTEP\tWHAT")
	for _, e := range list {
		for i := range e.Records {
			r := &e.Records[i]
			fmt.Fprintf(w, "%s\t%s on %s\t%s\t%s\t%s\t%s\n", e.At.Local().Format(time.DateTime), termtext.CleanName(e.User), termtext.CleanName(e.Machine),
				cmp.Or(termtext.CleanName(r.Run), "-"), cmp.Or(termtext.CleanName(e.Host), "-"), cmp.Or(termtext.CleanName(r.Step), "-"), termtext.CleanName(wordsOf(r)))
		}
	}
	return w.Flush()
}

// wordsOf says what a record does to the state.
func wordsOf(r *prior.Record) string {
	var parts []string
	for _, t := range r.Things {
		word := "changed"
		switch t.Change { //nolint:exhaustive // the others are changes
		case events.ChangeCreate:
			word = "created"
		case events.ChangeDelete:
			word = "removed"
		}
		parts = append(parts, word+" "+t.Type+" "+t.Name)
	}
	if r.Undo != nil || r.Withheld != "" {
		parts = append(parts, "done, with an undo")
	}
	for _, k := range r.Gone {
		parts = append(parts, "no longer counts: "+k.Type+" "+k.Name)
	}
	for _, k := range r.Deposed {
		parts = append(parts, "replaced "+k.Type+" "+k.Name)
	}
	for _, a := range r.Accepted {
		parts = append(parts, "accepted "+a.Type+" "+a.Name)
	}
	if len(r.Moved) > 0 {
		parts = append(parts, plan.CountOf(len(r.Moved), "step")+" with a new path")
	}
	if r.Part != "" {
		parts = append(parts, "all there is: "+plan.CountOf(len(r.Whole), "thing"))
	}
	if len(parts) == 0 {
		return "other definition"
	}
	return strings.Join(parts, ", ")
}
