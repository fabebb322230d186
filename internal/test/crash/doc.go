// Package crash kills moon, fills its disk and fails its calls of the system.
//
//	playbook ──▶ moon ──killed or failed at a point──▶ resume ──▶ compared with an unbroken run
package crash
