package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"moon/internal/pattern"
)

// CronArgs are the arguments of cron. Once decoded, Time is when the job runs, as crontabs have it, and CronFile is
// absolute.
type CronArgs struct {
	Name         string `arg:"name" need:"yes" doc:"Name of the job, which identifies it later. With env, the name of the variable."`
	State        string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the job should exist."`
	Job          string `arg:"job,value" doc:"The command, in one line. With env, the value of the variable."`
	User         string `arg:"user" implied:"the user who runs moon" doc:"Whose crontab it is; with cron_file, who runs the job."`
	CronFile     string `arg:"cron_file" doc:"A file in /etc/cron.d, or with its whole path, instead of a user's crontab. It is removed when it becomes empty."`
	Minute       string `arg:"minute" default:"*" doc:"0-59, *, */5, 1,31."`
	Hour         string `arg:"hour" default:"*" doc:"0-23."`
	Day          string `arg:"day,dom" default:"*" doc:"Day of the month, 1-31."`
	Month        string `arg:"month" default:"*" doc:"1-12, or jan to dec."`
	Weekday      string `arg:"weekday,dow" default:"*" doc:"0-7, Sunday is 0 and 7, or sun to sat."`
	SpecialTime  string `arg:"special_time" enum:"annually|daily|hourly|monthly|reboot|weekly|yearly" doc:"Instead of the five fields."`
	Disabled     bool   `arg:"disabled" default:"false" doc:"Keep the job, as a comment."`
	Env          bool   `arg:"env" default:"false" doc:"Set a variable for the jobs below it instead."`
	InsertAfter  string `arg:"insertafter" implied:"at the top" doc:"With env, the variable to put a new one after."`
	InsertBefore string `arg:"insertbefore" doc:"With env, the variable to put a new one before."`
	Backup       bool   `arg:"backup" default:"false" doc:"Keep a backup of the old crontab: of a file in the same directory, of a user's crontab in the directory for temporary files."`
	Checksum     string `arg:"checksum" doc:"With state: absent, remove only the job that moon left: the SHA-1 of its lines, as moon records it. Otherwise the step fails."`

	Time string
}

var _ = declareAction(&Action{
	Name:  "cron",
	Doc:   "Puts a job into a crontab, changes it or removes it. It has a line with its name above it, as Ansible writes it.",
	Check: true,
	Diff:  true,
	args:  reflect.TypeFor[CronArgs](),
	Returns: []Return{
		{"jobs", "The names of all jobs that are in it now."},
		{"envs", "The names of all variables."},
		{"cron_file", "The file, with cron_file."},
		{"state", "present or absent."},
		{"backup_file", "Where the old one was kept, with backup."},
	},
	Least: "cron: {name: x, job: x}",
	Example: `- cron: {name: rotate, minute: 0, hour: "3", job: /usr/local/bin/rotate --all}
- cron: {name: PATH, env: true, value: "/usr/local/bin:/usr/bin:/bin"}
- cron: {name: warm up, special_time: reboot, user: root, cron_file: app, job: /srv/app/warm}
- cron: {name: old report, state: absent}
`,
})

var (
	variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	monthNames   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	dayNames     = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

func (a *CronArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	for _, f := range []struct{ field, text string }{{"name", a.Name}, {"job", a.Job}} {
		if strings.ContainsAny(f.text, "\n\r") {
			add(f.field, "`"+f.field+"` has more than one line", "a crontab has a job in one line; put the rest into a script")
		}
	}
	if a.Name == "" {
		add("name", "`name` is empty", "the job is found again by it")
	}
	if strings.ContainsAny(a.User, " \t\n:") || strings.HasPrefix(a.User, "-") {
		add("user", "`user` is not a user name", "")
	}
	problems = append(problems, checkLeft(a.State, a.Checksum, given)...)
	present := a.State == "present"
	switch {
	case a.Env && !variableName.MatchString(a.Name):
		add("name", "`name` must be that of a variable with `env`", "")
	case present && !given("job"):
		add("job", "`cron` needs `job`", "")
	case present && !a.Env && a.CronFile != "" && a.User == "":
		add("user", "`cron_file` needs `user`", "the job is run by root there, or by whom you name")
	}
	for _, f := range []string{"insertafter", "insertbefore"} {
		if given(f) && !a.Env {
			// The order of jobs has no meaning to cron.
			add(f, "`"+f+"` goes with `env` only", "")
		}
	}
	if given("insertafter") && given("insertbefore") {
		add("insertbefore", "`insertafter` and `insertbefore` exclude each other", "give one of them")
	}
	if a.CronFile != "" && !strings.HasPrefix(a.CronFile, "/") {
		if strings.ContainsAny(a.CronFile, "/\n") || strings.HasPrefix(a.CronFile, ".") {
			add("cron_file", "`cron_file` must be a name in /etc/cron.d, or a whole path", "")
		}
		a.CronFile = "/etc/cron.d/" + a.CronFile
	}
	return append(problems, a.checkTime()...)
}

func (a *CronArgs) checkTime() (problems []Problem) {
	fields := []struct {
		field, text string
		from, to    int
		names       []string
	}{
		{"minute", a.Minute, 0, 59, nil},
		{"hour", a.Hour, 0, 23, nil},
		{"day", a.Day, 1, 31, nil},
		{"month", a.Month, 1, 12, monthNames},
		{"weekday", a.Weekday, 0, 7, dayNames},
	}
	var words []string
	for _, f := range fields {
		words = append(words, f.text)
		switch {
		case a.SpecialTime != "" && f.text != "*":
			problems = append(problems, Problem{f.field, "`" + f.field + "` and `special_time` exclude each other", "give one of them"})
		case !cronTime(f.text, f.from, f.to, f.names):
			problems = append(problems,
				Problem{f.field, fmt.Sprintf("`%s` must be *, numbers from %d to %d, ranges like 2-4 or steps like */2, with commas between, found %q", f.field, f.from, f.to, f.text), ""})
		}
	}
	// special_time stands in the place of all five fields.
	a.Time = strings.Join(words, " ")
	if a.SpecialTime != "" {
		a.Time = "@" + a.SpecialTime
	}
	return problems
}

// cronTime reports whether a field says something to cron: 5, 1-5, */10, 1-30/2, mon, and lists of those.
func cronTime(text string, from, to int, names []string) bool {
	number := func(word string) (int, bool) {
		// Names count from the first number of their field: jan is 1, sun is 0.
		if i := slices.Index(names, strings.ToLower(word)); i >= 0 {
			return i + from, true
		}
		n, err := strconv.Atoi(word)
		return n, err == nil && n >= from && n <= to && !strings.HasPrefix(word, "+")
	}
	for part := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > to || strings.HasPrefix(step, "+")) {
			return false
		}
		// A step may follow a star or a range.
		if span == "*" {
			continue
		}
		first, last, isRange := strings.Cut(span, "-")
		a, ok := number(first)
		if !isRange {
			last = first
		}
		if b, okLast := number(last); !ok || !okLast || b < a {
			return false
		}
	}
	return true
}
