// Package replanning has a run plan again for the user of another process, who has edited its playbook.
//
//	attached TUI ──Ask──▶ control socket ──Serve──▶ the process of the run: reads, plans ──▶ feed of both: the new plan
//
// What is read is what the process of the run finds, and what it plans has to be approved as after an edit of its own.
package replanning
