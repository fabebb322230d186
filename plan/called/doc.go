// Package called is what templates of a plan have called in Python, as the plan keeps it: which files, and what they have answered.
//
//	planner ──Note──▶ Notes: callees, answers ──▶ digest of the plan, saved sources
//	saved sources ──▶ Asked ──▶ the same answers when the plan is made again, and nothing is run
package called
