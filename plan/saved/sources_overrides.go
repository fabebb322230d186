package saved

import (
	"slices"

	"moon/plan"
)

// keepOverrides are the overrides without what is secret.
func keepOverrides(list []plan.Override) []plan.Override {
	var kept []plan.Override
	for _, o := range list {
		if o.Secret {
			o.Value, o.Withheld = withheldValue, true
		}
		kept = append(kept, o)
	}
	return kept
}

// withheldValue stands for a secret that is not kept, so that the plan can be shown again. Nothing may be run with it.
const withheldValue = "'(a secret that is not kept)'"

// known are the overrides whose values are.
func knownOverrides(list []plan.Override) []plan.Override {
	return slices.DeleteFunc(slices.Clone(list), func(o plan.Override) bool { return o.Withheld })
}

// Withheld names the overrides of a plan whose values were secret, and are not known any more.
func (s *Sources) Withheld() (names []string) {
	for _, o := range s.Overrides {
		if o.Withheld {
			names = append(names, o.Label())
		}
	}
	return names
}
