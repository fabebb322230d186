// Package install gets the collections and roles that files of requirements name, with all that they need, and puts them where
// playbooks find them.
//
//	requirements.yml ──Read──▶ Requirement ──resolve (servers, git, archives)──▶ Release ──fetch──▶ tree of files ──place──▶ collections, roles
//	                                             ▲ versions and digests                                  │ digest
//	                                             └───────────────────── requirements.lock ◀──────────────┘
//
// What was once installed is installed again from the lock file: the same version with the same content, or nothing. It runs nothing
// of what it gets, and the only program that it starts is git.
package install
