package plan

// Prompt is a question of vars_prompt: what is to be typed before the plan can be made, because the playbook says so and
// nothing else gives the variable.
type Prompt struct {
	Name    string `json:"name"`              // of the variable
	Text    string `json:"text,omitempty"`    // what to ask; "": the name
	Default string `json:"default,omitempty"` // what an empty answer means
	Private bool   `json:"private,omitempty"` // what is typed is not to be seen
	Confirm bool   `json:"confirm,omitempty"` // it is typed twice
}

// Question is what a person is asked.
func (p Prompt) Question() string {
	if p.Text == "" {
		return p.Name
	}
	return p.Text
}
