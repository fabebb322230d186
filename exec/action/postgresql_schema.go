package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("postgresql_schema", exec.Action{Plan: planPostgresqlSchema})

func planPostgresqlSchema(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PostgresqlSchemaArgs)
	s, err := openPostgres(a, &args.PostgresLogin, args.Database)
	if err != nil {
		return nil, err
	}
	rows, err := s.askOne(ctx, "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = "+s.text(args.Name))
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"schema": args.Name}}
	c.PlanNothing()
	name := args.Database + ": " + args.Name
	kind, query, words := events.ChangeCreate, "", "new schema "+args.Name
	switch {
	case args.State == fsys.Absent && len(rows) > 0:
		kind, query, words = events.ChangeDelete, "DROP SCHEMA "+s.quote(args.Name), "schema "+args.Name
		if args.CascadeDrop {
			query, words = query+" CASCADE", words+", with everything in it"
		}
	case args.State == fsys.Absent:
	case len(rows) == 0:
		query = "CREATE SCHEMA " + s.quote(args.Name)
		if args.Owner != "" {
			query += " AUTHORIZATION " + s.quote(args.Owner)
		}
		undo := s.undo("postgresql_schema", map[string]any{"name": args.Name, "database": args.Database})
		s.addCreated(c, "postgresql_schema", name, undo)
	case args.Owner != "" && rows[0].Text(0) != args.Owner:
		kind, query = events.ChangeUpdate, "ALTER SCHEMA "+s.quote(args.Name)+" OWNER TO "+s.quote(args.Owner)
		words = "owner " + rows[0].Text(0) + " → " + args.Owner
	}
	var queries []string
	if query != "" {
		queries = []string{query}
	}
	s.planQueries(c, kind, "postgresql_schema", name, "queries", queries, false, words)
	return c, nil
}
