// Package picker is a list on the whole terminal from which a person takes one thing: what is typed narrows it.
//
//	items ──▶ Picker ◀── keys        Picker ──▶ frame
//	             └──▶ the number of the item, or that none was taken
//
// It knows nothing of playbooks and runs.
package picker
