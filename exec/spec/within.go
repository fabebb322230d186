package spec

// WithinArgs say where a command runs, and when it need not: what shell, command and script can say of themselves, beside
// the keys creates, removes and cwd of their step. Paths are relative to the file that holds the step.
type WithinArgs struct {
	Creates string `arg:"creates" kind:"path" doc:"Do nothing when this exists."`
	Removes string `arg:"removes" kind:"path" doc:"Do nothing when this does not exist."`
	Chdir   string `arg:"chdir" kind:"path" implied:"the step's cwd" doc:"The directory to run it in."`
}
