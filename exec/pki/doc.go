// Package pki has keys as files hold them.
//
//	action ─▶ Generate ─▶ key ─▶ Marshal ─▶ the text of a file
//	the text of a file ─▶ Parse ─▶ key, format ─▶ Describe, Fingerprints ─▶ what a result says
//
// It opens no files and keeps nothing.
package pki
