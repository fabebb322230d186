// Package python has what is written in Python called where moon runs: Ansible's filters, tests and lookups, by the Python that Ansible is
// installed for. It owns the programs that do it, what is said to them, and how they are ended. It knows no templates and no trust: callers
// say which file is meant, and with which SHA-256 it may run.
//
//	Pool ──start──▶ python3 ── helper.py, over its standard input ──▶ {"ready": …}
//	  │ Ask: a request on one line
//	  └──▶ helper ◀── questions: variables, entries of maps ──▶ answers
//	         └──▶ {"result": …} or {"error": …}
//
// A helper does one thing at a time. A question may lead to another request, which another helper then gets; those that are idle are kept
// until the pool is closed.
package python
