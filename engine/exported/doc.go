// Package exported keeps what the last good run of a playbook has exported, for the playbooks that import it: a file for each playbook in
// the state directory. It knows neither runs nor plans.
//
//	engine.Session ──Keep──▶ exports/<playbook>.json ──Read──▶ imports of another playbook
package exported
