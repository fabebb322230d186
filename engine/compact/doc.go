// Package compact makes what steps have given fit for records of the journal: values that steps need go to files of their own when they are
// large, what is only for people is cut, and what no_log hides is left out.
//
//	fact ─▶ Hide, Shrink ─▶ record + files by digest ─▶ Restore ─▶ the same values
package compact
