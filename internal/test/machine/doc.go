// Package machine runs actions on scratch machines: an overlay over this one, in name spaces of its own.
//
//	testdata/{actions,modules}/* ──▶ moon on the machine ──▶ its files and processes, before and after ──▶ dry run, run, second run agree
package machine
