// Package content looks at the files that steps copy and render, when the plan is made.
//
//	step, src ──Look──▶ no such file yet: a warning
//	             └────▶ template rendered ──▶ mistakes with their places in it, what it uses and lacks, its digest
package content
