// Package pack puts a saved plan together with the files that its run needs, so that a machine that has nothing of the playbook can run it.
//
//	saved plan ──Make: what steps read, plugins──▶ pack: plan, places, files ──Unpack──▶ the plan, where it was submitted
//	                                                                              └────▶ directories made of it, the plan moved there
//
// It does not say what may run: moon compares the plan, and the files that it names, with what was approved.
package pack
