// Package pymodule reads modules in Python and packs them, without running any.
//
//	module ─┬─ Read ──▶ DOCUMENTATION and its fragments ──▶ documented.Module: what it takes
//	        └─ imports, of these their imports … ─────────▶ Members ── Pack ──▶ one zip: wrapper, module, module_utils
//
// A pack needs nothing but Python where it runs: what a module imports of ansible.module_utils is in it. It is known by a digest over
// the names and the bytes of its members, which both ends compute, and which a plan keeps.
package pymodule
