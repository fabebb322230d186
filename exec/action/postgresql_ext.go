package action

import (
	"context"
	"fmt"
	"slices"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("postgresql_ext", exec.Action{Plan: planPostgresqlExt})

func planPostgresqlExt(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PostgresqlExtArgs)
	s, err := openPostgres(a, &args.PostgresLogin, args.DB)
	if err != nil {
		return nil, err
	}
	name := s.text(args.Name)
	results, err := s.ask(ctx, "SELECT extversion FROM pg_extension WHERE extname = "+name,
		"SELECT version FROM pg_available_extension_versions WHERE name = "+name,
		"SELECT source, target FROM pg_extension_update_paths("+name+") WHERE path IS NOT NULL")
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"db": args.DB, "ext": args.Name, "queries": []any{}}}
	c.PlanNothing()
	is := ""
	if len(results[0]) == 1 {
		is = results[0][0].Text(0)
	}
	var available []string
	for _, row := range results[1] {
		available = append(available, row.Text(0))
	}
	// The server knows by itself which version is the latest, and how to get there.
	kind, query, words := events.ChangeUpdate, "", "extension "+args.Name
	switch wanted := args.Version; {
	case args.State == fsys.Absent && is != "":
		kind, query = events.ChangeDelete, "DROP EXTENSION "+s.quote(args.Name)
	case args.State == fsys.Absent:
	case is != "" && (wanted == "" || wanted == is):
	case is != "" && wanted == "latest":
		query, words = "ALTER EXTENSION "+s.quote(args.Name)+" UPDATE", "version "+is+" → the latest"
	case is != "":
		for _, row := range results[2] {
			if row.Text(0) == is && row.Text(1) == wanted {
				query, words = "ALTER EXTENSION "+s.quote(args.Name)+" UPDATE TO "+s.text(wanted), "version "+is+" → "+wanted
			}
		}
		if query == "" {
			return nil, fmt.Errorf("extension %s cannot be updated from %s to %s", args.Name, is, wanted)
		}
	case len(available) == 0, wanted != "" && wanted != "latest" && !slices.Contains(available, wanted):
		return nil, fault.Missing("", "extension %s %s is not installed on the host of the server", args.Name, wanted)
	default:
		kind, query, words = events.ChangeCreate, "CREATE EXTENSION "+s.quote(args.Name), "new "+words
		if args.Schema != "" {
			query += " WITH SCHEMA " + s.quote(args.Schema)
		}
		if wanted != "" && wanted != "latest" {
			query += " VERSION " + s.text(wanted)
		}
		undo := s.undo("postgresql_ext", map[string]any{"name": args.Name, "db": args.DB})
		s.addCreated(c, "postgresql_ext", args.DB+": "+args.Name, undo)
	}
	if query == "" {
		return c, nil
	}
	if args.Cascade && kind != events.ChangeUpdate {
		query += " CASCADE"
	}
	s.planQueries(c, kind, "postgresql_ext", args.DB+": "+args.Name, "queries", []string{query}, false, words)
	return c, nil
}
