package spec

import (
	"reflect"
	"strings"
)

// MysqlQueryArgs are the arguments of mysql_query. Once decoded, Queries and Values are those of Query and PositionalArgs.
type MysqlQueryArgs struct {
	Query             any            `arg:"query" need:"yes" doc:"The query, or a list of queries. With values, %s takes the next one, %(name)s one by its name, and %% is a percent sign."`
	PositionalArgs    any            `arg:"positional_args" doc:"Values for %s. Each query of a list takes all of them."`
	NamedArgs         map[string]any `arg:"named_args" doc:"Values for %(name)s."`
	LoginDB           string         `arg:"login_db" doc:"The database to use."`
	SingleTransaction bool           `arg:"single_transaction" default:"false" doc:"Run all queries in one transaction, instead of each in its own."`
	MysqlLogin

	Queries []string
	Values  []any // of PositionalArgs
}

var _ = declareAction(&Action{
	Name:    "mysql_query",
	Aliases: mysqlNames("mysql_query"),
	Doc:     "Runs queries on a server of MySQL or MariaDB.",
	Subject: "query",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[MysqlQueryArgs](),
	Returns: []Return{
		{"executed_queries", "The queries, with their values."},
		{"query_result", "The rows of each query, as maps of columns."},
		{"rowcount", "How many rows each query has changed, or given."},
	},
	Least: "mysql_query: {query: SELECT 1}",
	Example: `- mysql_query: {query: SELECT COUNT(*) AS n FROM stock.items, login_unix_socket: /tmp/my/sock}
  register: items
- mysql_query:
    query: INSERT INTO items (name, amount) VALUES (%(name)s, %(amount)s)
    named_args: {name: nail, amount: 7}
    login_db: stock
    login_unix_socket: /tmp/my/sock
  when: items.query_result[0][0].n == 0
`,
})

func (a *MysqlQueryArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	a.Queries, problems = queryList(a.Query)
	if given("positional_args") && given("named_args") {
		problems = append(problems, Problem{"named_args", "`positional_args` and `named_args` exclude each other", "give one of them"})
	}
	list, ok := a.PositionalArgs.([]any)
	if !ok && a.PositionalArgs != nil {
		list = []any{a.PositionalArgs}
	}
	a.Values = list
	return append(a.problems(), problems...)
}

// queryList are the queries that are written as text, or as a list of texts.
func queryList(query any) (list []string, problems []Problem) {
	items, isList := query.([]any)
	if !isList {
		items = []any{query}
	}
	for _, item := range items {
		text, ok := item.(string)
		if !ok || strings.TrimSpace(text) == "" || strings.Contains(text, "\x00") {
			return nil, []Problem{{"query", "`query` must be text, or a list of texts", ""}}
		}
		list = append(list, text)
	}
	return list, nil
}
