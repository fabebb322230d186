// Package text says where in a document something is, in the three ways that count: bytes, the positions of the Language Server Protocol,
// and the lines and columns of diagnostics.
//
//	wire.Position: lines end at \n, \r\n and \r; units of UTF-16, unless the client counts otherwise
//	diag.Pos:      lines end at what YAML takes for an end; characters, from 1; a mark in front of the text does not count
//
// Every place is brought into the document: a client that is ahead or behind gets the nearest place, and never an error.
package text
