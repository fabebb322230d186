package saved

import (
	"bytes"
	"encoding/json"

	"moon/plan"
)

// keepStored adds what was used of the facts that earlier runs have kept. A host without any is among them: a plan that is made again must
// not take what the run itself has kept meanwhile.
func (s *PlaySources) keepStored(m *plan.Basis) error {
	if m.O.Mode.FactFiles.Dir == "" {
		return nil
	}
	s.Stored = map[string]map[string]any{}
	for name, host := range m.Machines {
		facts, hidden := host.UsedStored()
		if hidden != "" {
			return &SecretError{"the variable " + hidden + " of the kept environment of " + name + ", which a step with no_log uses,"}
		}
		s.Stored[name] = facts
	}
	return nil
}

// stored are those facts for the plan that is made again.
func (s *PlaySources) stored() map[string]map[string]any {
	stored := make(map[string]map[string]any, len(s.Stored))
	for host, facts := range s.Stored {
		stored[host], _ = WholeNumbers(facts).(map[string]any)
	}
	return stored
}

// staleStored says which facts of earlier runs are not what the plan was made with.
func (s *PlaySources) staleStored(o plan.Options, say func(string, ...any)) {
	if o.Outside.StoredFacts == nil {
		return
	}
	for _, host := range plan.SortedKeys(s.Stored) {
		if len(s.Stored[host]) == 0 {
			continue
		}
		now := o.Outside.StoredFacts(s.FactFiles, host)
		if now == nil {
			say("the kept facts of %s have expired, or were cleared", host)
			continue
		}
		for _, name := range plan.SortedKeys(s.Stored[host]) {
			was, is := s.Stored[host][name], now[name]
			if env, ok := was.(map[string]any); ok && name == "ansible_env" { // of which only some variables were used
				is = variablesOf(is, env)
			}
			// Compared as JSON: one side has been through it and the other has not.
			a, _ := json.Marshal(was) // plain data
			b, _ := json.Marshal(is)
			if !bytes.Equal(a, b) {
				say("the kept fact %s of %s has changed", name, host)
			}
		}
	}
}

// variablesOf are those of an environment that another has, too.
func variablesOf(all any, of map[string]any) map[string]any {
	some, env := map[string]any{}, map[string]any{}
	if m, ok := all.(map[string]any); ok {
		env = m
	}
	for name := range of {
		if v, ok := env[name]; ok {
			some[name] = v
		}
	}
	return some
}
