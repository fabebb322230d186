// Package ci tests what other systems take from the tree as it is: the action for GitHub, the hooks for pre-commit, the component for
// GitLab.
//
//	action.yml · .pre-commit-hooks.yaml · templates/ ──▶ scripts, as each system runs them ──▶ moon, from a release that the test serves
package ci
