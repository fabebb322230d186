// Package unmatched looks at the tasks of plays that no host is for.
//
//	play without hosts ──walk──▶ Rule: keys, templates, arguments as written ──▶ mistakes
//
// A play whose pattern matches no host plans nothing, and its mistakes would only show in the inventory of the day on which it does.
// So its tasks are read without a host: what stands in keys, arguments and templates is looked at as far as it is plain, and what a
// variable would decide is left open.
package unmatched
