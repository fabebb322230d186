// Package feature answers what an editor asks about a place in a playbook. It reads books and texts, and changes nothing.
//
//	Site: a place in a text, and the books that have it ──▶ Define, Hover, Complete, Rename
//	Page: a whole text, and the books that have it      ──▶ Outline, Lenses, Hints, Fixes
//
// What stands around a place is read off the text itself (surroundings): while someone types it is YAML only now and then.
package feature
