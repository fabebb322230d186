// Package database has what databases and their command line clients read and print: names and values in SQL, option files, rows.
//
//	action ─▶ Name, Literal, Fill ─▶ SQL ─┐
//	          Options ─▶ an option file ──┴─▶ client ─▶ output ─▶ ParseXML, ParseRows ─▶ rows
//
// It starts no programs and opens no files: who asks a server what is the caller's affair.
package database
