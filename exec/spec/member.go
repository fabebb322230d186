package spec

// Member is a file that goes with a module in Python.
type Member struct {
	Name   string `json:"name"`   // in the pack
	Path   string `json:"path"`   // absolute
	Digest string `json:"digest"` // SHA-256

	Brought bool `json:"brought,omitempty"` // it came with the playbook
}

// Speech is how a plugin is talked to.
type Speech string

// A program for each call, with the request on its standard input; one program for all calls of a run; a module as Ansible
// has them, with its arguments in a file, or in Python and packed with what it imports.
const (
	SpeaksOnce   Speech = "once"
	SpeaksLines  Speech = "lines"
	SpeaksFile   Speech = "file"
	SpeaksPython Speech = "python"
)
