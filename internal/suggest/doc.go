// Package suggest answers "did you mean": the name among those that exist which a user most likely meant by one that
// does not.
//
//	a name that does not exist, those that do ──Nearest──▶ one of them, or "" ──DidYouMean──▶ the words of a hint
//
// It imports nothing of moon's, so that keys, actions, hosts, steps and packages are all suggested alike.
package suggest
