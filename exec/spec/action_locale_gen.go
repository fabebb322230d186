package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// LocaleGenArgs are the arguments of locale_gen.
type LocaleGenArgs struct {
	Name  []string `arg:"name" need:"yes" doc:"The locales, as /etc/locale.gen has them: de_DE.UTF-8."`
	State string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether they should exist."`
}

var _ = declareAction(&Action{
	Name:    "locale_gen",
	Aliases: []string{"community.general.locale_gen"},
	Doc:     "Creates or removes locales on Debian and related systems: it switches their lines of /etc/locale.gen on or off, and runs locale-gen.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[LocaleGenArgs](),
	Returns: []Return{{"name", "The locales."}},
	Least:   "locale_gen: {name: C.UTF-8}",
	Example: "- locale_gen: {name: de_DE.UTF-8}\n",
})

var localeName = pattern.New(`^[A-Za-z][A-Za-z_]*(\.[A-Za-z0-9-]+)?(@[A-Za-z]+)?$`)

func (a *LocaleGenArgs) validateArgs(func(string) bool) []Problem {
	for _, name := range a.Name {
		if !localeName.MatchString(name) {
			return []Problem{{"name", "`name` must be a locale like de_DE.UTF-8, found " + nameValue(name), ""}}
		}
	}
	return nil
}
