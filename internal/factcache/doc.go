// Package factcache keeps the facts of hosts from run to run, in the files of Ansible's jsonfile cache: both tools read what the other has
// written.
//
//	planning ── Read(host) ──▶ the file of the host, unless it is too old ──▶ plan.Options.Facts.Stored
//	a step has ended ── Keep ──▶ facts of its result ──▶ the file, with them
//	meta: clear_facts ── Keep ──▶ the file is removed
//
// A cache is read while planning and written in the run only. Whatever it cannot read it treats as missing, and says so: facts can be
// gathered again.
package factcache
