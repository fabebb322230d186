package action

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("mysql_db", exec.Action{Plan: planMysqlDB, Supplies: func(args any) string {
	a := args.(*spec.MysqlDBArgs)
	if what := suppliesMysql(&a.MysqlLogin); what != "" {
		return what
	}
	return exec.QuoteGiven("dump_extra_args", a.DumpExtraArgs)
}})

// mysqlDBStep is one mysql_db step being planned.
type mysqlDBStep struct {
	*mysqlServer
	args    *spec.MysqlDBArgs
	c       *exec.Change
	there   []string // of the databases that it names
	missing []string
}

func planMysqlDB(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlDBArgs)
	server, err := openMysql(ctx, a, &args.MysqlLogin, args.CheckImplicitAdmin, args.ConfigOverridesDefaults)
	if err != nil {
		return nil, err
	}
	s := &mysqlDBStep{mysqlServer: server, args: args}
	s.c = &exec.Change{Fields: map[string]any{"db": strings.Join(args.Name, " "), "db_list": anyList(args.Name)}}
	s.c.PlanNothing()
	if err := s.plan(ctx); err != nil {
		s.c.Close()
		return nil, err
	}
	if s.Predicts() {
		return s.c, nil
	}
	if args.State == "present" || args.State == fsys.Absent {
		s.c.Fields["executed_commands"] = []any{}
	}
	return s.c, nil
}

func (s *mysqlDBStep) plan(ctx context.Context) error {
	if err := s.look(ctx); err != nil {
		return err
	}
	switch s.args.State {
	case fsys.Absent:
		return s.planRemoval(ctx)
	case "dump":
		return s.planDump()
	case "import":
		return s.planImport()
	}
	if len(s.missing) > 0 {
		s.planCreation()
	}
	return nil
}

// look finds out which of the databases there are.
func (s *mysqlDBStep) look(ctx context.Context) error {
	if s.all() {
		return nil
	}
	names := make([]string, len(s.args.Name))
	for i, name := range s.args.Name {
		names[i] = s.text(name)
	}
	rows, err := s.askOne(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ("+strings.Join(names, ", ")+")")
	if err != nil {
		return err
	}
	for _, name := range s.args.Name {
		found := false
		for _, row := range rows {
			// On a server that ignores case, the name it has is the one of the database.
			found = found || strings.EqualFold(row.Text(0), name)
		}
		if found {
			s.there = append(s.there, name)
		} else {
			s.missing = append(s.missing, name)
		}
	}
	return nil
}

// all reports whether a dump or an import is about all databases.
func (s *mysqlDBStep) all() bool {
	return slices.Equal(s.args.Name, []string{"all"}) && (s.args.State == "dump" || s.args.State == "import")
}

func (s *mysqlDBStep) creations() (statements []string) {
	for _, name := range s.missing {
		one := "CREATE DATABASE " + s.quote(name)
		if s.args.Encoding != "" {
			one += " CHARACTER SET " + s.text(s.args.Encoding)
		}
		if s.args.Collation != "" {
			one += " COLLATE " + s.text(s.args.Collation)
		}
		statements = append(statements, one)
	}
	return statements
}

func (s *mysqlDBStep) recordCreations() {
	for _, name := range s.missing {
		s.addCreated(s.c, "mysql_db", name, s.undo("mysql_db", map[string]any{"name": name, "if_empty": true}))
	}
}

func (s *mysqlDBStep) planCreation() {
	statements := s.creations()
	s.recordCreations()
	s.c.Plan(events.ChangeCreate, func(ctx context.Context) error {
		s.c.Fields["executed_commands"] = anyList(statements)
		_, err := s.run(ctx, statements...)
		return err
	}, "new "+countDatabases(s.missing))
}

func countDatabases(names []string) string {
	if len(names) == 1 {
		return "database " + names[0]
	}
	return "databases " + strings.Join(names, ", ")
}

func (s *mysqlDBStep) planRemoval(ctx context.Context) error {
	if len(s.there) == 0 {
		return nil
	}
	var words strings.Builder
	words.WriteString(countDatabases(s.there))
	var statements []string
	for _, name := range s.there {
		full, err := s.fullness(ctx, name)
		if err != nil {
			return err
		}
		if s.args.IfEmpty && full != "" {
			return fmt.Errorf("database %s is not empty: it has %s; save what you need and remove it without `if_empty`, or keep it", name, full)
		}
		if full != "" {
			words.WriteString(", with " + full)
		}
		statements = append(statements, "DROP DATABASE "+s.quote(name))
		s.c.AddResource(events.ChangeDelete, "mysql_db", s.fullName(name))
	}
	s.c.Plan(events.ChangeDelete, func(ctx context.Context) error {
		for _, name := range s.there {
			if !s.args.IfEmpty {
				break
			}
			// Approving may have taken its time, and something may have been put into it since.
			if full, err := s.fullness(ctx, name); err != nil || full != "" {
				return orError(err, "database %s is not empty any more: it has %s", name, full)
			}
		}
		s.c.Fields["executed_commands"] = anyList(statements)
		_, err := s.run(ctx, statements...)
		return err
	}, words.String())
	return nil
}

// orError is an error, or one with these words.
func orError(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(format, args...)
}

// fullness says what a database holds; "": nothing.
func (s *mysqlDBStep) fullness(ctx context.Context, name string) (string, error) {
	results, err := s.ask(ctx,
		"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+s.text(name),
		"SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = "+s.text(name))
	if err != nil || len(results) != 2 || len(results[0]) != 1 || len(results[1]) != 1 {
		return "", orError(err, "it cannot be found out whether database %s is empty", name)
	}
	var words []string
	for i, what := range []string{"table", "routine"} {
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

// planDump writes the databases to a file.
func (s *mysqlDBStep) planDump() error {
	if len(s.missing) > 0 {
		return fault.Missing("", "%s does not exist, so it cannot be dumped", countDatabases(s.missing))
	}
	program := "mariadb-dump"
	if !s.Installed(program) {
		program = "mysqldump"
	}
	if err := lacksTool(s.Attempt, program, mysqlPackages); err != nil {
		return err
	}
	argv := append([]string{program, "--defaults-file=/dev/fd/3"}, s.dumpOptions()...)
	switch {
	case s.all():
		argv = append(argv, "--all-databases")
	case len(s.args.Name) > 1:
		argv = append(append(argv, "--databases", "--"), s.args.Name...)
	default:
		argv = append(append(argv, "--"), s.args.Name...)
	}
	a := s.inChdir()
	if err := planDump(a, s.c, s.args.Target, exec.Tool{Argv: argv, Private: &s.options}); err != nil {
		return err
	}
	apply := s.c.Apply
	s.c.Apply = func(ctx context.Context) error {
		s.c.Fields["executed_commands"], s.c.Fields["msg"] = []any{strings.Join(argv, " ")}, ""
		return apply(ctx)
	}
	return nil
}

func (s *mysqlDBStep) dumpOptions() (options []string) {
	args := s.args
	for option, wanted := range map[string]bool{
		"--force": args.Force, "--skip-lock-tables": args.SkipLockTables, "--single-transaction": args.SingleTransaction,
		"--quick": args.Quick, "--hex-blob": args.HexBlob,
	} {
		if wanted {
			options = append(options, option)
		}
	}
	slices.Sort(options)
	if args.Encoding != "" {
		options = append(options, "--default-character-set="+args.Encoding)
	}
	for _, table := range args.IgnoreTables {
		options = append(options, "--ignore-table="+table)
	}
	if args.MasterData > 0 {
		options = append(options, "--master-data="+strconv.Itoa(args.MasterData))
	}
	return append(options, args.ExtraWords...)
}

// inChdir is the attempt where the step has its programs run.
func (s *mysqlDBStep) inChdir() *exec.Attempt {
	if s.args.Chdir == "" {
		return s.Attempt
	}
	a, _ := s.Within(&spec.WithinArgs{Chdir: s.args.Chdir})
	return a
}

// planImport reads a file into a database, which is created if it does not exist.
func (s *mysqlDBStep) planImport() error {
	if err := mustFile(s.Attempt, s.args.Target); err != nil {
		return err
	}
	statements := s.creations()
	words, kind := "import of "+s.args.Target, events.ChangeUpdate
	if len(statements) > 0 {
		kind, words = events.ChangeCreate, "new "+countDatabases(s.missing)+", "+words
		s.recordCreations()
	} else {
		s.c.AddResource(events.ChangeUpdate, "mysql_db", s.fullName(strings.Join(s.args.Name, " ")))
	}
	argv := []string{s.client, "--defaults-file=/dev/fd/3", "--binary-mode"}
	if s.args.Force {
		argv = append(argv, "--force")
	}
	if s.args.Encoding != "" {
		argv = append(argv, "--default-character-set="+s.args.Encoding)
	}
	if !s.all() {
		argv = append(argv, "--one-database", "--", s.args.Name[0])
	}
	s.c.Plan(kind, func(ctx context.Context) error {
		if _, err := s.run(ctx, statements...); err != nil {
			return err
		}
		said, err := feedFile(ctx, s.inChdir(), s.args.Target, exec.Tool{Argv: argv, Private: &s.options})
		s.c.Fields["executed_commands"] = anyList(append(statements, strings.Join(argv, " ")+" < "+s.args.Target))
		s.c.Fields["msg"] = said.Stdout
		return err
	}, words)
	return nil
}
