package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/database"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("mysql_query", exec.Action{Plan: planMysqlQuery, Supplies: func(args any) string {
	return suppliesMysql(&args.(*spec.MysqlQueryArgs).MysqlLogin)
}})

var (
	onlyReads = pattern.New(`(?i)^\s*(select|show|describe|desc|explain|values|table)\b`)
	mayWrite  = pattern.New(`(?i);\s*\S|\binto\b|\bfor\s+update\b|\banalyze\b`)
)

// onlyRead reports whether queries can do nothing but read, as far as their words show. What they call may do more, so a dry run sends
// them in a transaction that may not write, and only those of a playbook that is trusted.
func onlyRead(a *exec.Attempt, queries []string) bool {
	for _, q := range queries {
		if !a.Trusted || !onlyReads.MatchString(q) || mayWrite.MatchString(q) {
			return false
		}
	}
	return true
}

func planMysqlQuery(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlQueryArgs)
	s, err := openMysql(ctx, a, &args.MysqlLogin, false, false)
	if err != nil {
		return nil, err
	}
	s.database = args.LoginDB
	queries := make([]string, len(args.Queries))
	for i, q := range args.Queries {
		if queries[i], err = database.MySQL.Fill(q, args.Values, args.NamedArgs); err != nil {
			return nil, err
		}
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	switch {
	case !a.Predicts():
		c.Always, c.Apply = true, func(ctx context.Context) error { return runMysqlQueries(ctx, s, c, queries, args.SingleTransaction) }
	case onlyRead(a, queries):
		s.session = append(s.session, "START TRANSACTION READ ONLY")
		results, err := s.ask(ctx, counted(queries)...)
		if err != nil {
			return nil, err
		}
		_, err = sayMysqlQueries(c, queries, results)
		return c, err
	default:
		c.Diff.Kind, c.Diff.Summary = events.ChangeUnknown, "what a query changes is known once it has run"
	}
	return c, nil
}

// counter is the column with the number of rows that the query before it has changed.
const counter = "moon's count"

// counted are queries, each followed by one that asks how many rows it has changed.
func counted(queries []string) (statements []string) {
	for _, q := range queries {
		statements = append(statements, strings.TrimRight(strings.TrimSpace(q), ";"), "SELECT ROW_COUNT() AS `"+counter+"`")
	}
	return statements
}

func runMysqlQueries(ctx context.Context, s *mysqlServer, c *exec.Change, queries []string, together bool) error {
	statements := counted(queries)
	if together {
		statements = append(append([]string{"START TRANSACTION"}, statements...), "COMMIT")
	}
	results, err := s.run(ctx, statements...)
	if err != nil {
		return err
	}
	changed, err := sayMysqlQueries(c, queries, results)
	if changed > 0 {
		c.AddResource(events.ChangeUpdate, "mysql_query", s.fullName(strings.TrimSpace(queries[0])))
		c.Diff.Kind, c.Diff.Summary = events.ChangeUpdate, countThings(changed, "query", "queries")
	}
	return err
}

func countThings(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

var (
	changesRows   = pattern.New(`(?i)^\s*(insert|update|delete|replace)\b`)
	changesTables = pattern.New(`(?i)^\s*(create|drop|alter|rename|truncate)\b`)
	canonical     = pattern.New(`^(0|-?[1-9][0-9]{0,17})$`)
)

// sayMysqlQueries puts what the queries have given into the result, and counts those that have changed something.
func sayMysqlQueries(c *exec.Change, queries []string, results [][]database.Row) (changed int, err error) {
	var rows []any
	all, counts, at := []any{}, []any{}, 0
	for _, result := range results {
		if len(result) != 1 || len(result[0].Names) != 1 || result[0].Names[0] != counter {
			for _, row := range result {
				rows = append(rows, mysqlValues(row))
			}
			continue
		}
		if at == len(queries) {
			return 0, errors.New("the client has answered more than it was asked")
		}
		n, _ := strconv.Atoi(result[0].Text(0))
		if n < 0 { // it gives rows, and changes none
			n = len(rows)
		}
		q := queries[at]
		if changesTables.MatchString(q) || changesRows.MatchString(q) && n > 0 {
			changed++
		}
		if rows == nil {
			rows = []any{}
		}
		all, counts, rows = append(all, rows), append(counts, n), nil
		at++
	}
	if at != len(queries) {
		return 0, fmt.Errorf("the client has answered %d of %d queries", at, len(queries))
	}
	c.Fields["executed_queries"], c.Fields["query_result"], c.Fields["rowcount"] = anyList(queries), all, counts
	return changed, nil
}

// mysqlValues is a row as a map. The client does not say which type a column has: what is written as a whole number is one.
func mysqlValues(row database.Row) map[string]any {
	m := map[string]any{}
	for i, name := range row.Names {
		switch v := row.Values[i]; {
		case v == nil:
			m[name] = nil
		case canonical.MatchString(*v):
			m[name], _ = strconv.Atoi(*v)
		default:
			m[name] = *v
		}
	}
	return m
}
