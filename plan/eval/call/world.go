package call

import (
	"errors"
	"time"

	"moon/plan/eval/value"
	"moon/secret/program"
)

// World is what lookups reach for, of the place that env stands for. What is nil is refused. A function that cannot say
// while planning, because the answer may be another one when the step runs, gives ErrLater: the value is then unknown.
type World struct {
	// File reads a file, searched as actions search theirs: dir is "files" or "templates".
	File func(env value.Env, dir, name string) (text string, err error)
	// Find gives the path of a file searched in the same way, "" if there is none. Dir may be "vars" as well, and "" where
	// it is for the task to say.
	Find func(env value.Env, dir, name string) (path string, err error)
	// Glob gives the files that match a pattern, sorted.
	Glob func(env value.Env, pattern string) ([]string, error)
	// Hosts gives the hosts of the inventory that match a pattern.
	Hosts func(env value.Env, pattern string) ([]string, error)
	// Env reads a variable of moon's own environment; if nil it is read directly.
	Env func(env value.Env, name string) (string, bool)
	// Version gives the version of one of Ansible's collections, "" if it says none.
	Version func(collection string) (version string, found bool)
	// Run gives the output of a shell command on this machine, Get the body at a URL.
	Run func(env value.Env, command string) (string, error)
	Get func(env value.Env, url string) (string, error)
	// Secret gives what a program prints, which is secret.
	Secret func(env value.Env, request program.Request) (any, error)
	// Chance gives a number that is another one each time.
	Chance func(env value.Env) (uint64, error)
	// Now is the time.
	Now func(env value.Env) (time.Time, error)
	// Password gives what a file keeps, and makes the file of what made gives if there is none. The file /dev/null keeps nothing.
	// always says that made gives the same each time.
	Password func(env value.Env, file string, always bool, made func() (string, error)) (string, error)
}

// ErrLater is what a function of World gives for what is known only when the step runs.
var ErrLater = errors.New("known when the step runs")

// Ask words what the world says. name is that of the lookup, term what was asked for.
func Ask[T any](name, term string, answer T, err error) (T, error) {
	// Not a mistake: the answer is open, under a name that says what was asked.
	if errors.Is(err, ErrLater) {
		what := "lookup('" + name + "', '" + term + "')"
		switch name {
		case "secret":
			what = "the secret of `" + term + "`"
		case "now":
			what = "now()"
		case "chance":
			what = "what is drawn by `" + term + "`"
		}
		return answer, &value.Open{Missing: []value.Missing{{Name: what, Asked: true}}}
	}
	if err != nil {
		if e, ok := value.AsError(err); ok {
			return answer, e
		}
		return answer, value.Errorf(value.Failure, "", "%s", value.Sentence(err.Error()))
	}
	return answer, nil
}

// Unavailable is the error for what the world does not have here.
func Unavailable(name string) error {
	return value.Errorf(value.Failure, "", "`%s` is not available here", name)
}

// Layered is an environment with some names of its own.
type Layered struct {
	value.Env
	Extra func(name string) (any, bool)
}

// Base is the environment that a World was given names for, without what a template has put on top: an included file, or a lookup, sees
// more names than the step that it is for.
func Base(e value.Env) value.Env {
	for {
		l, ok := e.(Layered)
		if !ok {
			return e
		}
		e = l.Env
	}
}

// Lookup implements Env.
func (l Layered) Lookup(name string) (any, bool) {
	if v, ok := l.Extra(name); ok {
		return v, true
	}
	return l.Env.Lookup(name)
}
