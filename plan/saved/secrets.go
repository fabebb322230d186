package saved

import (
	"moon/plan"
	"moon/secret"
	"moon/secret/program"
)

// OpenSecrets puts the secrets back into values of a run that were stored without them. Programs that print some of them are asked again:
// they have been run for this run before. What one fails to print is missing as other secrets are that cannot be read again; a step
// that still needs it says why.
func OpenSecrets(p *plan.Plan, set *secret.Set, stored map[string]any) (any, bool) {
	if ask := p.Basis.O.Outside.Secret; ask != nil && set != nil {
		for _, from := range set.Missing(stored) {
			request, ok := program.ParseKey(from)
			if !ok {
				continue
			}
			if text, err := ask(request.Command, p.Root); err == nil {
				_, _ = request.Learn(set, text)
			}
		}
	}
	return set.Open(stored)
}
