package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("postgresql_db", exec.Action{Plan: planPostgresqlDB, Supplies: func(args any) string {
	a := args.(*spec.PostgresqlDBArgs)
	return exec.QuoteGiven("target_opts", a.TargetOpts) + exec.QuoteGiven("dump_extra_args", a.DumpExtraArgs)
}})

// postgresqlDBStep is one postgresql_db step being planned.
type postgresqlDBStep struct {
	*postgresServer
	args *spec.PostgresqlDBArgs
	c    *exec.Change
	is   *database.Row // nil: there is none
}

func planPostgresqlDB(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.PostgresqlDBArgs)
	server, err := openPostgres(a, &args.PostgresLogin, args.MaintenanceDB)
	if err != nil {
		return nil, err
	}
	s := &postgresqlDBStep{postgresServer: server, args: args, c: &exec.Change{Fields: map[string]any{"db": args.Name}}}
	s.c.PlanNothing()
	if err := s.plan(ctx); err != nil {
		s.c.Close()
		return nil, err
	}
	return s.c, nil
}

func (s *postgresqlDBStep) plan(ctx context.Context) error {
	encoding := "NULL"
	if s.args.Encoding != "" {
		encoding = "pg_char_to_encoding(" + s.text(s.args.Encoding) + ")"
	}
	rows, err := s.askOne(ctx, `SELECT datname, pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding,
encoding = `+encoding+` AS same_encoding, datcollate, datctype, datconnlimit, spcname
FROM pg_database JOIN pg_tablespace ON pg_tablespace.oid = dattablespace WHERE datname IN (`+s.text(s.args.Name)+", "+s.text(s.args.Target)+")")
	if err != nil {
		return err
	}
	var other *database.Row
	for i := range rows {
		if rows[i].Get("datname") == s.args.Name {
			s.is = &rows[i]
		} else {
			other = &rows[i]
		}
	}
	switch s.args.State {
	case fsys.Absent:
		return s.planRemoval(ctx)
	case "dump":
		return s.planDump()
	case "restore":
		return s.planRestore()
	case "rename":
		return s.planRename(other)
	}
	if s.is == nil {
		s.planCreation()
		return nil
	}
	return s.planUpdate()
}

func (s *postgresqlDBStep) planCreation() {
	args := s.args
	var query strings.Builder
	query.WriteString("CREATE DATABASE " + s.quote(args.Name))
	for _, part := range []struct{ word, value string }{
		{"OWNER ", s.named(args.Owner)},
		{"TEMPLATE ", s.named(args.Template)},
		{"ENCODING ", s.given(args.Encoding)},
		{"LC_COLLATE ", s.given(args.LCCollate)},
		{"LC_CTYPE ", s.given(args.LCCtype)},
		{"TABLESPACE ", s.named(args.Tablespace)},
		{"CONNECTION LIMIT ", args.ConnLimit},
	} {
		if part.value != "" {
			query.WriteString(" " + part.word + part.value)
		}
	}
	s.addCreated(s.c, "postgresql_db", args.Name, s.undo("postgresql_db", s.undoArgs()))
	s.planCommands(events.ChangeCreate, []string{query.String()}, "new database "+args.Name)
}

// planCommands makes a change of the database, each statement alone: some may not be in a transaction.
func (s *postgresqlDBStep) planCommands(kind events.ChangeKind, statements []string, words ...string) {
	s.planQueries(s.c, kind, "postgresql_db", s.args.Name, "executed_commands", statements, true, words...)
}

func (s *postgresqlDBStep) undoArgs() map[string]any {
	in := map[string]any{"name": s.args.Name, "if_empty": true}
	if s.args.MaintenanceDB != "postgres" {
		in["maintenance_db"] = s.args.MaintenanceDB
	}
	return in
}

// named is a name in quotes, and given a text; "" stays.
func (s *postgresServer) named(name string) string {
	if name == "" {
		return ""
	}
	return s.quote(name)
}

func (s *postgresServer) given(text string) string {
	if text == "" {
		return ""
	}
	return s.text(text)
}

func (s *postgresqlDBStep) planUpdate() error {
	args, is := s.args, s.is
	for _, fixed := range []struct {
		what, want, has string
		differs         bool
	}{
		{"encoding", args.Encoding, is.Get("encoding"), is.Get("same_encoding") != "t"},
		{"lc_collate", args.LCCollate, is.Get("datcollate"), args.LCCollate != is.Get("datcollate")},
		{"lc_ctype", args.LCCtype, is.Get("datctype"), args.LCCtype != is.Get("datctype")},
	} {
		if fixed.want != "" && fixed.differs {
			// In check mode Ansible's module takes it for a change, and fails when it is to be made.
			return fmt.Errorf("the %s of database %s is %s and cannot be changed to %s; dump it, and restore it into a new one",
				fixed.what, args.Name, fixed.has, fixed.want)
		}
	}
	var queries, words []string
	alter := "ALTER DATABASE " + s.quote(args.Name)
	change := func(what, want, has, query string) {
		if want != "" && want != has {
			queries, words = append(queries, alter+query), append(words, what+" "+has+" → "+want)
		}
	}
	change("owner", args.Owner, is.Get("owner"), " OWNER TO "+s.quote(args.Owner))
	change("connections", args.ConnLimit, is.Get("datconnlimit"), " CONNECTION LIMIT "+args.ConnLimit)
	change("tablespace", args.Tablespace, is.Get("spcname"), " SET TABLESPACE "+s.quote(args.Tablespace))
	s.planCommands(events.ChangeUpdate, queries, words...)
	return nil
}

func (s *postgresqlDBStep) planRemoval(ctx context.Context) error {
	if s.is == nil {
		s.planCommands(events.ChangeDelete, nil)
		return nil
	}
	full, err := s.fullness(ctx)
	if err != nil && s.args.IfEmpty {
		return err
	}
	words := "database " + s.args.Name
	if full != "" && s.args.IfEmpty {
		return fmt.Errorf("database %s is not empty: it has %s; save what you need and remove it without `if_empty`, or keep it", s.args.Name, full)
	}
	if full != "" {
		words += ", with " + full
	}
	query := "DROP DATABASE " + s.quote(s.args.Name)
	queries := []string{query}
	if s.args.Force {
		queries = []string{
			"UPDATE pg_database SET datallowconn = false WHERE datname = " + s.text(s.args.Name),
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = " + s.text(s.args.Name), query,
		}
	}
	s.planCommands(events.ChangeDelete, queries, words)
	apply := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		if s.args.IfEmpty { // something may have been put into it since
			if full, err := s.fullness(ctx); err != nil || full != "" {
				return orError(err, "database %s is not empty any more: it has %s", s.args.Name, full)
			}
		}
		defer func() { s.c.Fields["executed_commands"] = []any{query} }()
		return apply(ctx)
	}
	return nil
}

// fullness says what the database holds in addition to what every new one does; "": nothing.
func (s *postgresqlDBStep) fullness(ctx context.Context) (string, error) {
	in := *s.postgresServer
	in.database = s.args.Name
	const own = ` n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema' AND NOT EXISTS
(SELECT FROM pg_depend d WHERE d.objid = o.oid AND d.deptype = 'e')`
	results, err := in.ask(ctx,
		"SELECT count(*) FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace WHERE o.relkind IN ('r', 'v', 'm', 'p', 'S', 'f') AND"+own,
		"SELECT count(*) FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace WHERE"+own)
	if err != nil || len(results[0]) != 1 || len(results[1]) != 1 {
		return "", orError(err, "it cannot be found out whether database %s is empty", s.args.Name)
	}
	var words []string
	for i, what := range []string{"table", "function"} {
		switch n := results[i][0].Text(0); n {
		case "0":
		case "1":
			words = append(words, "1 "+what)
		default:
			words = append(words, n+" "+what+"s")
		}
	}
	return strings.Join(words, " and "), nil
}

func (s *postgresqlDBStep) planRename(other *database.Row) error {
	args := s.args
	switch {
	case s.is != nil && other != nil:
		return fmt.Errorf("both databases exist, %s and %s", args.Name, args.Target)
	case s.is == nil && other == nil:
		return fault.Missing("", "neither database exists, %s nor %s", args.Name, args.Target)
	}
	var queries []string
	if s.is != nil {
		queries = []string{"ALTER DATABASE " + s.quote(args.Name) + " RENAME TO " + s.quote(args.Target)}
	}
	s.planCommands(events.ChangeUpdate, queries, "new name "+args.Target)
	return nil
}

// targetPath is the file of a dump.
func (s *postgresqlDBStep) targetPath() string {
	target := s.args.Target
	if target == "" {
		target = s.args.Name + ".sql"
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(s.Cwd, target)
	}
	return target
}

// dumpFormats are pg_dump's own formats, by the ending of the file.
var dumpFormats = map[string]string{"tar": "t", "pgc": "c", "dir": "d"}

func (s *postgresqlDBStep) planDump() error {
	if err := lacksTool(s.Attempt, "pg_dump", postgresPackages); err != nil {
		return err
	}
	if s.is == nil {
		return fault.Missing("", "database %s does not exist, so it cannot be dumped", s.args.Name)
	}
	target := s.targetPath()
	argv := []string{"pg_dump", "-w"}
	format := dumpFormats[packedBy(target)]
	if format == "d" {
		return errors.New("a dump into a directory is not supported; use .pgc, pg_dump's own compressed format")
	}
	if format != "" {
		argv = append(argv, "--format="+format)
	}
	argv = append(append(argv, s.args.ExtraWords...), "-d", s.conninfo(s.args.Name))
	if err := planDump(s.Attempt, s.c, target, exec.Tool{Argv: argv, Env: s.environment()}); err != nil {
		return err
	}
	apply := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		command := strings.Join(argv, " ") + " > " + target
		s.c.Fields = map[string]any{"executed_commands": []any{command}, "cmd": command, "msg": "", "stderr": "", "rc": 0}
		return apply(ctx)
	}
	return nil
}

func (s *postgresqlDBStep) planRestore() error {
	target := s.targetPath()
	if err := mustFile(s.Attempt, target); err != nil {
		return err
	}
	if s.is == nil {
		return fault.Missing("", "database %s does not exist, so nothing can be restored into it", s.args.Name)
	}
	argv := []string{"psql", "-X", "-w"}
	if dumpFormats[packedBy(target)] != "" {
		argv = []string{"pg_restore", "-w", "--format=" + dumpFormats[packedBy(target)]}
		if err := lacksTool(s.Attempt, "pg_restore", postgresPackages); err != nil {
			return err
		}
	}
	argv = append(append(argv, s.args.ExtraWords...), "-d", s.conninfo(s.args.Name))
	s.c.AddResource(events.ChangeUpdate, "postgresql_db", s.fullName(s.args.Name))
	s.c.Plan(events.ChangeUpdate, func(ctx context.Context) error {
		said, err := feedFile(ctx, s.Attempt, target, exec.Tool{Argv: argv, Env: s.environment()})
		cmd := strings.Join(argv, " ") + " < " + target
		s.c.Fields = map[string]any{"executed_commands": []any{cmd}, "cmd": cmd, "msg": said.Stdout, "stderr": said.Stderr, "rc": said.Code}
		return err
	}, "restore of "+target)
	return nil
}
