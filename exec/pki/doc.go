// Package pki has keys, requests for certificates and certificates as files hold them.
//
//	arguments ─▶ Generate ─▶ key ─▶ Marshal ─▶ the text of a file
//	the text of a file ─▶ Parse ─▶ key, format ─▶ Describe, Fingerprints ─▶ what a result says
//	arguments ─▶ Request, Certificate ─▶ Sign ─▶ the text of a file
//	the text of a file ─▶ Differs ─▶ why it is made again, or "": it is what was asked for
//
// Names and extensions are built as bytes (name.go, extension.go), since a request that is there is compared with what it should be
// part by part, as Python's cryptography would read it, and not by how crypto/x509 describes it. The package opens no files and keeps
// nothing.
package pki
