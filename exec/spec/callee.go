package spec

// What a template may call that is written in Python.
const (
	CalleeFilter = "filter"
	CalleeTest   = "test"
	CalleeLookup = "lookup"

	CalleeInventory = "inventory" // reads a source of hosts: no template calls it
	CalleeAction    = "action"    // does the work of a step, or a part of it, where moon runs: no template calls it
)

// Callee is a filter, test or lookup that is not moon's own: in Python, as Ansible has them, or of a plugin. Plans keep it.
type Callee struct {
	Kind    string   `json:"kind"`              // CalleeFilter and so on
	Name    string   `json:"name"`              // as texts call it
	Given   string   `json:"given"`             // as its file calls it
	Module  string   `json:"module,omitempty"`  // the full name of its file in Python; "" if it is in no collection
	Path    string   `json:"path"`              // of its file, absolute
	Digest  string   `json:"digest"`            // SHA-256 of the file
	Members []Member `json:"members,omitempty"` // what the file imports of collections

	Protocol int    `json:"protocol,omitempty"` // of moon's for plugins; 0: it is written in Python for Ansible
	Speaks   Speech `json:"speaks,omitempty"`   // of a plugin; "" while it was not run to tell, as it is not trusted

	Own     bool `json:"own,omitempty"`     // it counts before what moon has under that name
	Brought bool `json:"brought,omitempty"` // the file came with the playbook
	// Untrusted says that it, or what it imports, came with the playbook, and no one had said that it may run when the plan was made. A
	// plan that is read is the same whatever has been trusted since; Barred is the answer of now.
	Untrusted bool `json:"untrusted,omitempty"`
	Barred    bool `json:"-"`
	Guessed   bool `json:"-"` // its file is not trusted, and only running it would tell whether it has it
}

// Files are the files whose text runs.
func (c *Callee) Files() []Member {
	own := Member{Path: c.Path, Digest: c.Digest, Brought: c.Brought}
	return append([]Member{own}, c.Members...)
}
