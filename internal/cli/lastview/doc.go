// Package lastview remembers how the screen of a playbook was left: what was folded, watched and typed.
//
//	tui.View ──Keeper──▶ view/PLAYBOOK.json in the state directory ──Read──▶ the next screen of the same playbook
package lastview
