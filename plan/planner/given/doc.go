// Package given reads what the command line gives: the variables, the options, the playbook.
//
//	--vars-file, -e @file, -e '{…}' ──library──▶ map ──▶ Layer
//	-e name=value ──────────────────────────────────────▶ Layer
//
// Variables are data: nothing in them is rendered.
package given
