// Package signals sends moon signals in every phase of its life.
//
//	phase × front end × signal ──▶ moon ──▶ exit code, processes left, journal, terminal
package signals
