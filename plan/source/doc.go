// Package source knows files by their content: what a step reads on the machine that moon runs on, such as the `src` of a copy.
//
//	path ──Look──▶ digest, size, kind ──compared when the step starts──▶ the file that was approved, or another
//
// The content is not kept.
package source
