package spec

// WithinArgs say where a command runs, and when it need not: what shell, command and script can say of themselves, beside
// the keys creates, removes and cwd of their step. Paths are relative to the file that holds the step; in plays, as with Ansible, those of
// creates and removes are relative to where the command runs.
type WithinArgs struct {
	Creates string `arg:"creates" kind:"target" doc:"Do nothing when this exists."`
	Removes string `arg:"removes" kind:"target" doc:"Do nothing when this does not exist."`
	Chdir   string `arg:"chdir" kind:"path" implied:"the step's cwd" doc:"The directory to run it in."`
}
