// Package pyregexp matches with regular expressions as Python writes them, which is what playbooks have.
//
// Most of them mean the same to Go, whose matching takes no longer than the text is long. What Go cannot do, such as looking ahead and
// behind and referring back, is left to a matcher that backtracks, as Python's does, and ends after a while. So everything that
// matches may fail.
//
//	text ─▶ toGo ─▶ regexp.Compile ─▶ Pattern
//	          └ no ─▶ toBacktracking ─▶ regexp2.Compile ─▶ Pattern
package pyregexp
