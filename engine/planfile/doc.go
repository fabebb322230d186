// Package planfile saves a plan with its execution graph, and reads it back.
//
//	Plan, Graph, sources ──Write──▶ file ──Read: plan again from its sources, compare──▶ Plan, Graph, or what is stale
//
// A saved plan may also keep what its steps were predicted to do, which no planning gives again: the seal alone guards that.
//
// A saved plan is the plan document (moon plan --format json) together with what the plan was made from: the text of its
// files, what it used of the facts, the flags. Reading it back is planning again from those sources alone, building the
// graph again, and comparing what comes out with the file, byte for byte. So there is one way to make a plan, a file is
// as trustworthy as the planner, and whatever is changed in a file makes it refused.
package planfile
