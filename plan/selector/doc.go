// Package selector finds the steps of a plan that a person names.
//
//	step-0003, an id, a path, file:line, a name, SELECTOR@HOST ──Match──▶ numbers of steps
//	                                            names nothing ──ToCome──▶ open places that may add it, or
//	                                                          ──NoMatch─▶ what may have been meant
package selector
