package plan

// task is what running a step needs beyond what is shown.
type task struct{}
