package action

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("mysql_variables", exec.Action{Plan: planMysqlVariables, Supplies: func(args any) string {
	return suppliesMysql(&args.(*spec.MysqlVariablesArgs).MysqlLogin)
}})

// persisted asks what the server keeps for its next start.
const persisted = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = "

func planMysqlVariables(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.MysqlVariablesArgs)
	s, err := openMysql(ctx, a, &args.MysqlLogin, false, false)
	if err != nil {
		return nil, err
	}
	query := "SHOW GLOBAL VARIABLES WHERE Variable_name = " + s.text(args.Variable)
	if args.Mode == "persist_only" {
		query = persisted + s.text(args.Variable)
	}
	rows, err := s.askOne(ctx, query)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	if len(rows) == 0 && args.Mode != "persist_only" {
		return nil, fmt.Errorf("the server has no variable %s", args.Variable)
	}
	is := ""
	if len(rows) > 0 {
		is = rows[0].Text(1)
	}
	if args.Value == nil {
		c.Fields["msg"] = is
		return c, nil
	}
	// What is in effect and what is kept for the next start may differ; persist wants both.
	same := len(rows) > 0 && sameVariable(is, *args.Value)
	if same && args.Mode == "persist" {
		kept, err := s.askOne(ctx, persisted+s.text(args.Variable))
		if err != nil {
			return nil, err
		}
		same = len(kept) > 0 && sameVariable(kept[0].Text(1), *args.Value)
	}
	if same {
		c.Fields["msg"] = "Variable is already set to requested value."
		return c, nil
	}
	value := s.text(*args.Value)
	if plainNumber.MatchString(*args.Value) {
		value = *args.Value
	}
	set := "SET " + strings.ToUpper(args.Mode) + " " + s.quote(args.Variable) + " = "
	c.PlanFor(events.ChangeUpdate, "mysql_variable", s.fullName(args.Variable), func(ctx context.Context) error {
		c.Fields["queries"] = []any{set + *args.Value}
		_, err := s.run(ctx, set+value)
		return err
	}, args.Variable+": "+is+" → "+*args.Value)
	return c, nil
}

var plainNumber = pattern.New(`^-?[0-9]+(\.[0-9]+)?$`)

// sameVariable compares values as the server does: a switch has several words.
func sameVariable(is, want string) bool {
	words := map[string]string{"on": "1", "true": "1", "off": "0", "false": "0"}
	norm := func(text string) string {
		text = strings.ToLower(text)
		if same, ok := words[text]; ok {
			return same
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return text
	}
	return norm(is) == norm(want)
}
