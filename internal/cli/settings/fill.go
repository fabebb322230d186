package settings

import (
	"errors"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"moon/internal/app"
)

// Fill gives flags that no command has the values of the settings and of the environment. They are a pointer to a struct.
func Fill(call *app.Invocation, flags any) error {
	parser, err := kong.New(flags, kong.Name("moon"), kong.DefaultEnvars("MOON"), kong.Resolvers(NewResolver(call)))
	if err != nil {
		return err
	}
	IgnoreEmpty(parser.Model.Node)
	_, err = parser.Parse(nil)
	if wrong, ok := errors.AsType[*app.Exit](err); ok {
		return wrong
	}
	return err
}

// IgnoreEmpty has variables of the environment that are empty count as not set, as elsewhere: an empty word is the value of no choice.
func IgnoreEmpty(n *kong.Node) {
	for _, f := range n.Flags {
		f.Tag.Envs = slices.DeleteFunc(slices.Clone(f.Tag.Envs), func(name string) bool { return os.Getenv(name) == "" })
	}
	for _, child := range n.Children {
		IgnoreEmpty(child)
	}
}
