// Package outline writes the outline of a plan: its scopes, the paths in them, which are identities, and the order between steps.
//
//	OpenScope ─▶ steps, scopes inside, UniqueLabel ─▶ CloseScope
//	NameStep, AddNeeds ──ResolveNeeds──▶ Step.Needs, or steps that need each other
//
// It knows the plan as far as it is written, and no host or variable. HasRoom and OpenScope bound what is written, Reached and Rounds how
// often a task is.
package outline
