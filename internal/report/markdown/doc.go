// Package markdown writes the summary of a run as Markdown, for places that show little: the summary of a job of GitHub Actions, a comment
// on a merge request, a ticket.
//
//	reading.Reading ──▶ outcome, counts, failures with their last lines, changes, hosts, slow steps ──▶ Markdown
//
// What comes from the run stands in code or is escaped, so that none of it is a link, an image or markup.
package markdown
