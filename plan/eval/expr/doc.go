// Package expr reads and decides conditions of the step form, in the language of expr-lang.
//
// It owns what differs from expr: a name that does not exist is an error, and what an unknown value does not touch is decided. It looks
// up nothing: a Reader gives it the values of paths, and it says which paths those are.
//
//	text ── Compile ──▶ Decision: and, or, not, ?:          Use: the variables, for whoever asks what a text depends on
//	                       │ leaves
//	                       ▼
//	       Reader ──▶ values for slots ──▶ a program of expr ──▶ value
//	       package eval
//
// errors.go says in moon's words what expr complains about.
package expr
