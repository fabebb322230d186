// Package pattern has regular expressions that are compiled when they are first used.
//
//	var word = pattern.New(`\w+`) ──first call──▶ *regexp.Regexp
//
// Most calls of moon need few of its patterns, and to compile them all takes longer than anything else at its start. A test
// compiles them all.
package pattern
