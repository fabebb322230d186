package spec

import (
	"reflect"

	"moon/internal/pattern"
)

// TimezoneArgs are the arguments of timezone.
type TimezoneArgs struct {
	Name string `arg:"name" need:"yes" doc:"The zone, as the files below /usr/share/zoneinfo are named: Europe/Berlin, UTC."`
}

var _ = declareAction(&Action{
	Name:    "timezone",
	Aliases: []string{"community.general.timezone"},
	Doc:     "Sets the time zone of the machine.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[TimezoneArgs](),
	Returns: []Return{{"name", "The zone."}},
	Least:   "timezone: {name: UTC}",
	Example: "- timezone: {name: Etc/GMT-1}\n",
})

var zoneName = pattern.New(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)

func (a *TimezoneArgs) validateArgs(func(string) bool) []Problem {
	if !zoneName.MatchString(a.Name) {
		return []Problem{{
			"name", "`name` must be a time zone like Europe/Berlin, found " + nameValue(a.Name),
			"the files below /usr/share/zoneinfo are the zones",
		}}
	}
	return nil
}
