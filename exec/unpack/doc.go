// Package unpack plans how an archive is unpacked into a directory, and does it. It owns the comparison of the members with what is there;
// where the archive comes from is its callers' business.
//
//	archive ──New──▶ Unpacking ──Compare each member, Plan──▶ exec.Change ──Apply──▶ files
package unpack
