// Package asking reads the values that are written as !secret: a program prints them when a run needs them.
//
//	!secret [pass, show, "db/{{ stage }}"] ──Rewrite──▶ {{ secret(["pass", "show", "db/" ~ (stage)]) }}
//
// It makes the template of them that gives the value, so that everything else treats them as other values that are known later.
package asking
