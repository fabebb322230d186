// Package calls finds out which handlers a task notifies: those that its `notify` names, and where only the run knows the name, those that
// it could name.
//
//	an entry of notify ──Of──▶ names, known now or said by each step in the run
//	names and what is known ──Said.Could──▶ the names that it may come to
package calls
