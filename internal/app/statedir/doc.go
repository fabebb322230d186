// Package statedir knows where moon keeps what outlives a call: every path below the state directory is made here, and the
// directory itself is refused if another user can change it. What is in the files belongs to the packages that write them.
//
//	$XDG_STATE_HOME/moon ─┬─ runs/RUN/…       engine: journal, output, plans; see events/rundir
//	                      ├─ sources/         engine: what incremental steps were made from
//	                      ├─ durations/       engine: how long steps took
//	                      ├─ state/           engine: what runs have created
//	                      ├─ view/            cli: how the TUI was left
//	                      └─ plugins/trusted  plugin: what the user trusts
package statedir
