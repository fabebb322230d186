// Package pinned has the files that a step reads, held to what was approved.
//
//	source.Source as verified ──Pin──▶ Files ──fsys.Files──▶ exec: what is read is what was compared, or an error
package pinned
