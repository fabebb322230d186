// Package imports gives a playbook what others have exported.
//
//	imports: ──Read──▶ for each playbook: Values.Imported, or Options.Outside.Exports ──▶ variables, with the run they come from
//
// What is read is an input of the plan: it is kept with it, and a plan that is made again asks no more. A playbook that has
// exported nothing yet is an error with its place, unless the import is optional.
package imports
