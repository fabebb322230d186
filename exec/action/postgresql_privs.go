package action

import (
	"context"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("postgresql_privs", exec.Action{Plan: planPostgresqlPrivs})

// privsStep is one postgresql_privs step being planned.
type privsStep struct {
	*postgresServer
	args *spec.PostgresqlPrivsArgs
	c    *exec.Change
}

// planPostgresqlPrivs compares what the objects say of privileges before and after, in a transaction that is taken back: so only the
// server decides what a privilege means.
func planPostgresqlPrivs(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PostgresqlPrivsArgs)
	server, err := openPostgres(a, &args.PostgresLogin, args.Database)
	if err != nil {
		return nil, err
	}
	s := &privsStep{server, args, &exec.Change{Fields: map[string]any{"queries": []any{}}}}
	s.c.PlanNothing()
	roles, err := s.findRoles(ctx)
	if err != nil || len(roles) == 0 {
		return s.c, err
	}
	objects, err := s.findObjects(ctx)
	if err != nil || len(objects) == 0 {
		return s.c, err
	}
	query := s.statement(objects, roles)
	status := s.status(objects)
	// What a statement would change only the server can say: it is tried, and taken back.
	results, err := s.ask(ctx, "BEGIN", status, query, status, "ROLLBACK")
	if err != nil {
		return nil, err
	}
	changed := !sameRows(results[1], results[3])
	s.c.Fields["queries"] = []any{query}
	if !changed {
		return s.c, nil
	}
	verb := "grant "
	if args.State == fsys.Absent {
		verb = "revoke "
	}
	what := strings.Join(args.Privileges, ", ")
	if args.Type == "group" {
		what = "membership in " + strings.Join(args.Objects, ", ")
	} else {
		what += " on " + args.Type + " " + args.Objs
	}
	name := s.fullName(args.Database + ": " + what + ", " + args.Roles)
	s.c.PlanFor(events.ChangeUpdate, "postgresql_privs", name, func(ctx context.Context) error {
		return s.run(ctx, query)
	}, verb+what)
	return s.c, nil
}

func sameRows(a, b []database.Row) bool {
	return slices.EqualFunc(a, b, func(x, y database.Row) bool { return x.Text(0) == y.Text(0) })
}

// findRoles are the roles in quotes, without those that do not exist if that is not a failure.
func (s *privsStep) findRoles(ctx context.Context) (roles []string, err error) {
	if slices.Equal(s.args.To, []string{"PUBLIC"}) {
		return s.args.To, nil
	}
	for _, role := range s.args.To {
		rows, err := s.askOne(ctx, "SELECT 1 FROM pg_roles WHERE rolname = "+s.text(role))
		switch {
		case err != nil:
			return nil, err
		case len(rows) > 0:
			roles = append(roles, s.quote(role))
		case s.args.FailOnRole:
			return nil, fault.Missing("", "role %s does not exist", role)
		default:
			s.c.Warnings = append(s.c.Warnings, "role "+role+" does not exist")
		}
	}
	return roles, nil
}

// catalogues are where objects of a type are: the table, the columns of the name, the privileges and the schema, and what else is true
// of them.
var catalogues = map[string]struct{ table, name, acl, schema, also string }{
	"table":                {"pg_class", "relname", "relacl", "relnamespace", "relkind IN ('r', 'v', 'm', 'p')"},
	"sequence":             {"pg_class", "relname", "relacl", "relnamespace", "relkind = 'S'"},
	"function":             {"pg_proc", "proname", "proacl", "pronamespace", "prokind = 'f'"},
	"procedure":            {"pg_proc", "proname", "proacl", "pronamespace", "prokind = 'p'"},
	"type":                 {"pg_type", "typname", "typacl", "typnamespace", "true"},
	"database":             {"pg_database", "datname", "datacl", "", "true"},
	"schema":               {"pg_namespace", "nspname", "nspacl", "", "true"},
	"language":             {"pg_language", "lanname", "lanacl", "", "true"},
	"tablespace":           {"pg_tablespace", "spcname", "spcacl", "", "true"},
	"foreign_data_wrapper": {"pg_foreign_data_wrapper", "fdwname", "fdwacl", "", "true"},
	"foreign_server":       {"pg_foreign_server", "srvname", "srvacl", "", "true"},
}

// findObjects are the names of the objects, without quotes.
func (s *privsStep) findObjects(ctx context.Context) (objects []string, err error) {
	if !s.args.AllInSchema {
		return s.args.Objects, nil
	}
	k := catalogues[s.args.Type]
	schema := s.text(s.quote(s.args.Schema)) + "::regnamespace"
	rows, err := s.askOne(ctx, "SELECT "+k.name+" FROM "+k.table+" WHERE "+k.also+" AND "+k.schema+" = "+schema)
	for _, row := range rows {
		objects = append(objects, row.Text(0))
	}
	return objects, err
}

// status asks for the privileges on the objects.
func (s *privsStep) status(objects []string) string {
	var names []string
	for _, o := range objects {
		name, _, _ := strings.Cut(o, "(") // the arguments of a function
		names = append(names, s.text(name))
	}
	in := " IN (" + strings.Join(names, ", ") + ")"
	switch s.args.Type {
	case "group":
		return "SELECT (roleid, grantor, member, admin_option)::text FROM pg_auth_members JOIN pg_roles r ON r.oid = roleid WHERE rolname" + in + " ORDER BY 1"
	case "default_privs":
		return "SELECT (defaclrole, defaclnamespace, defaclobjtype, defaclacl)::text FROM pg_default_acl ORDER BY 1"
	}
	k := catalogues[s.args.Type]
	query := "SELECT (oid, " + k.acl + ")::text FROM " + k.table + " WHERE " + k.also + " AND " + k.name + in
	if k.schema != "" && s.args.Schema != "" {
		query += " AND " + k.schema + " = " + s.text(s.quote(s.args.Schema)) + "::regnamespace"
	}
	return query + " ORDER BY oid"
}

// statement grants or revokes.
func (s *privsStep) statement(objects, roles []string) string {
	args := s.args
	whom := strings.Join(roles, ",")
	if args.Type == "default_privs" {
		return s.defaults(objects, whom)
	}
	var ids []string
	for _, o := range objects {
		name, signature, function := strings.Cut(o, "(")
		id := s.quote(name)
		if args.Schema != "" {
			id = s.quote(args.Schema) + "." + id
		}
		if function && (args.Type == "function" || args.Type == "procedure") {
			id += "(" + signature
		} else if function {
			id = strings.Replace(id, s.quote(name), s.quote(o), 1)
		}
		ids = append(ids, id)
	}
	what := strings.Join(args.Privileges, ",") + " ON " + strings.ReplaceAll(args.Type, "_", " ") + " " + strings.Join(ids, ",")
	option := "GRANT"
	switch {
	case args.Type == "group":
		what, option = strings.Join(ids, ","), "ADMIN"
	case args.AllInSchema:
		what = strings.Join(args.Privileges, ",") + " ON ALL " + strings.ToUpper(args.Type) + "S IN SCHEMA " + s.quote(args.Schema)
	}
	if args.State == fsys.Absent {
		return "REVOKE " + what + " FROM " + whom + ";"
	}
	query := "GRANT " + what + " TO " + whom
	switch {
	case args.GrantOption == nil:
		return query + ";"
	case *args.GrantOption:
		return query + " WITH " + option + " OPTION;"
	}
	return query + ";\nREVOKE " + option + " OPTION FOR " + what + " FROM " + whom + ";"
}

func (s *privsStep) defaults(objects []string, whom string) string {
	args := s.args
	alter := "ALTER DEFAULT PRIVILEGES"
	if len(args.For) > 0 {
		var quoted []string
		for _, role := range args.For {
			quoted = append(quoted, s.quote(role))
		}
		alter += " FOR ROLE " + strings.Join(quoted, ",")
	}
	if args.Schema != "" {
		alter += " IN SCHEMA " + s.quote(args.Schema)
	}
	var queries []string
	if args.State == fsys.Absent {
		for _, what := range []string{"TABLES", "SEQUENCES", "TYPES"} {
			queries = append(queries, alter+" REVOKE ALL ON "+what+" FROM "+whom+";")
		}
		return strings.Join(queries, "\n")
	}
	option := ";"
	if args.GrantOption != nil && *args.GrantOption {
		option = " WITH GRANT OPTION;"
	}
	for _, what := range objects {
		queries = append(queries, alter+" REVOKE ALL ON "+what+" FROM "+whom+";")
	}
	for _, what := range objects {
		queries = append(queries, alter+" GRANT "+strings.Join(args.Privileges, ",")+" ON "+what+" TO "+whom+option)
	}
	if args.UsageTypes {
		queries = append(queries, alter+" GRANT USAGE ON TYPES TO "+whom+option)
	}
	return strings.Join(queries, "\n")
}
