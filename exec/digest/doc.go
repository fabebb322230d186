// Package digest reads what says what is at a place: checksums as playbooks write them, and what moon records of what it leaves.
//
//	"sha256:…", "link:/srv/app" ──Read──▶ kind, rest
package digest
