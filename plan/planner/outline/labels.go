package outline

import (
	"cmp"
	"fmt"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// StepLabel is the step's part of its path. It does not hold what the step does, so that an edited step keeps its path.
func StepLabel(s *plan.Step, t *playbook.Task) string {
	label := plan.FirstLine(t.Name.Text())
	if label == "" {
		label = s.Action
	}
	if s.Loop != nil {
		label += "#" + s.Loop.Label
	}
	return label
}

// ItemLabel is what stands for an item of a loop in paths, unless the loop says otherwise.
func ItemLabel(item any, index int) string {
	switch item := item.(type) {
	case map[string]any:
		// The label is part of the path: a name lasts when the list around it changes, and a number does not.
		for _, key := range []string{"name", "path", "key", "id", "dest", "src", "title"} {
			if v, ok := item[key]; ok {
				if s := value.Text(v); s != "" {
					return plan.FirstLine(s)
				}
			}
		}
		// The result of a round of another loop is called what that round is.
		if _, result := item["changed"]; result {
			loopVar, _ := item["ansible_loop_var"].(string)
			if of, ok := item[cmp.Or(loopVar, "item")]; ok {
				return ItemLabel(of, index)
			}
		}
		return fmt.Sprint(index)
	case []any:
		return fmt.Sprint(index)
	default:
		if s := plan.FirstLine(value.Text(item)); s != "" {
			return s
		}
		return fmt.Sprint(index)
	}
}
