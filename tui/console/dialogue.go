package console

// dialogue holds the question that the next line answers.
type dialogue struct {
	question *question // or nil
}

// question is something that a person is asked.
type question struct {
	again  string // what to say to an empty line; "": that is an answer too
	answer func(text string) (done bool)
	leave  bool // it is whether to leave
	secret bool // the answer is shown and kept nowhere
}
