package action

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec"
	"moon/exec/database"
	"moon/exec/spec"
)

var _ = exec.Register("mysql_info", exec.Action{Plan: planMysqlInfo, Supplies: func(args any) string {
	return suppliesMysql(&args.(*spec.MysqlInfoArgs).MysqlLogin)
}})

func planMysqlInfo(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlInfoArgs)
	s, err := openMysql(ctx, a, &args.MysqlLogin, false, false)
	if err != nil {
		return nil, err
	}
	s.database = args.LoginDB
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	look := mysqlLook{s, args}
	for _, name := range chooseSubsets(args.Filter, c) {
		if c.Fields[name], err = look.at(ctx, name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// chooseSubsets are those that a filter asks for: the ones that it names, or all but those that it excludes.
func chooseSubsets(filter []string, c *exec.Change) []string {
	var wanted, excluded []string
	for _, word := range filter {
		name, not := strings.CutPrefix(word, "!")
		switch {
		case !slices.Contains(spec.MysqlSubsets, name):
			c.Warnings = append(c.Warnings, "filter element: "+word+" is not allowable, ignored") // as the module says it
		case not:
			excluded = append(excluded, name)
		default:
			wanted = append(wanted, name)
		}
	}
	if len(wanted) > 0 {
		return wanted
	}
	return slices.DeleteFunc(slices.Clone(spec.MysqlSubsets), func(name string) bool { return slices.Contains(excluded, name) })
}

// mysqlLook asks a server about itself.
type mysqlLook struct {
	*mysqlServer
	args *spec.MysqlInfoArgs
}

func (l mysqlLook) at(ctx context.Context, subset string) (map[string]any, error) {
	switch subset {
	case "version":
		return l.version(ctx)
	case "databases":
		return l.databases(ctx)
	case "settings":
		return l.pairs(ctx, "SHOW GLOBAL VARIABLES")
	case "global_status":
		return l.pairs(ctx, "SHOW GLOBAL STATUS")
	case "engines":
		return l.under(ctx, "SHOW ENGINES", "Engine")
	case "users":
		return l.under(ctx, "SELECT * FROM mysql.user", "Host", "User")
	case "slave_hosts":
		return l.under(ctx, "SHOW SLAVE HOSTS", "Server_id")
	case "slave_status":
		return l.under(ctx, "SHOW SLAVE STATUS", "Master_Host", "Master_Port", "Master_User")
	default: // master_status, which is one row
		return l.under(ctx, "SHOW MASTER STATUS")
	}
}

// version takes the text apart: 10.11.19-MariaDB-0+deb12u1.
func (l mysqlLook) version(ctx context.Context) (map[string]any, error) {
	rows, err := l.askOne(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name = 'version'")
	if err != nil || len(rows) == 0 {
		return map[string]any{}, err
	}
	full := rows[0].Text(1)
	parts := append(strings.Split(full, "."), "", "")
	release, suffix, _ := strings.Cut(parts[2], "-")
	return map[string]any{
		"full": full, "major": wholeOr(parts[0]), "minor": wholeOr(parts[1]), "release": wholeOr(release), "suffix": suffix,
	}, nil
}

// pairs are rows of a name and a value.
func (l mysqlLook) pairs(ctx context.Context, query string) (map[string]any, error) {
	rows, err := l.askOne(ctx, query)
	m := map[string]any{}
	for _, row := range rows {
		m[row.Text(0)] = wholeOr(row.Text(1))
	}
	return m, err
}

// under gives the other columns of rows below the values of some, one map in the other.
func (l mysqlLook) under(ctx context.Context, query string, keys ...string) (map[string]any, error) {
	rows, err := l.askOne(ctx, query)
	m := map[string]any{}
	for _, row := range rows {
		columns := columnsOf(row)
		into := m
		for _, key := range keys {
			name, _ := columns[key].(string)
			inner, ok := into[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[name] = inner
			}
			into = inner
			delete(columns, key)
		}
		for name, v := range columns {
			if text, ok := v.(string); ok {
				columns[name] = wholeOr(text)
			}
		}
		maps.Copy(into, columns)
	}
	return m, err
}

// columnsOf are the texts of a row by the names of their columns, nil for what is NULL.
func columnsOf(row database.Row) map[string]any {
	m := map[string]any{}
	for i, name := range row.Names {
		m[name] = nil
		if v := row.Values[i]; v != nil {
			m[name] = *v
		}
	}
	return m
}

// databases are those with tables, and the others if they are asked for.
func (l mysqlLook) databases(ctx context.Context) (map[string]any, error) {
	sized := !slices.Contains(l.args.ExcludeFields, "db_size")
	size := "0"
	if sized {
		size = "COALESCE(SUM(data_length + index_length), 0)"
	}
	rows, err := l.askOne(ctx, "SELECT table_schema, "+size+" FROM information_schema.TABLES GROUP BY table_schema")
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	add := func(name string, bytes any) {
		if m[name] != nil {
			return
		}
		one := map[string]any{}
		if sized {
			one["size"] = bytes
		}
		m[name] = one
	}
	for _, row := range rows {
		add(row.Text(0), wholeOr(row.Text(1)))
	}
	if l.args.EmptyDBs {
		if rows, err = l.askOne(ctx, "SHOW DATABASES"); err != nil {
			return nil, err
		}
		for _, row := range rows {
			add(row.Text(0), 0)
		}
	}
	return m, nil
}

// wholeOr is a text as a whole number if it is one.
func wholeOr(text string) any {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return n
	}
	return text
}
