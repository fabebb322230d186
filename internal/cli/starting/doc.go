// Package starting is moon without a command: the user chooses what to begin with.
//
//	runs, directory ──launch──▶ choices ──List──▶ text
//	                                └─────Ask───▶ the arguments of the call that was chosen
package starting
