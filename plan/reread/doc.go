// Package reread reads the sources of an inventory again while a playbook runs, for meta: refresh_inventory. What they say then is plain
// data, which the journal keeps and the next plan is made from.
//
//	sources ──Read──▶ Reading ── result of the step ──▶ Disk ──▶ the inventory of the next plan
//
// It starts programs only through the function that it is given, and knows neither steps nor variables.
package reread
