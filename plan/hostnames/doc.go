// Package hostnames says which hosts something is about in few words, and takes their names out of texts that are to be compared.
//
//	web1, web2, web3, db1 ──List──▶ web[1:3], db1        "ready on web1" ──Nameless──▶ "ready on <host>"
//
// It knows names only: which hosts there are, and what a step did on them, is the caller's.
package hostnames
