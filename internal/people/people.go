package people

import (
	"fmt"
	"slices"
	"strings"
)

// PlainQuestion is what a step asks that has no question of its own.
const PlainQuestion = "run this step?"

// MostPeople is how many a step may demand.
const MostPeople = 10

// Demand is who has to confirm a step: so many different people, each of the group if there is one.
type Demand struct {
	By    int    // at least 1
	Group string // "": any
}

// Person is a user who has decided, as the run knows them, and not as they say.
type Person struct {
	User   string   `json:"user"`             // "": it is not known who
	Host   string   `json:"host,omitempty"`   // whose user that is; "": the servers know them, and not a machine
	Groups []string `json:"groups,omitempty"` // of those that the plan asks for
}

// Words say whom it demands: "2 people of the group ops".
func (d *Demand) Words() string { return d.count(d.By, "") }

func (d *Demand) count(n int, more string) string {
	words := fmt.Sprintf("%d %speople", n, more)
	if n == 1 {
		words = "1 " + more + "person"
	}
	if d.Group != "" {
		words += " of the group " + d.Group
	}
	return words
}

// Admits reports whether the decision of a person counts.
func (d *Demand) Admits(p Person) bool {
	return p.User != "" && (d.Group == "" || slices.Contains(p.Groups, d.Group))
}

// Refuse says why a person cannot confirm the step, which these have confirmed, or "".
func (d *Demand) Refuse(p Person, have []string) string {
	switch {
	case p.User == "":
		return "it is not known who confirms it, and it needs " + d.Words()
	case !d.Admits(p):
		return fmt.Sprintf("%s is not in the group %s", p.User, d.Group)
	case slices.Contains(have, p.User):
		return fmt.Sprintf("%s has confirmed it already; it needs %s", p.User, d.Missing(have))
	}
	return ""
}

// Missing says who is still needed, or "" if there are enough. No one is in the list twice.
func (d *Demand) Missing(have []string) string {
	switch n := d.By - len(have); {
	case n <= 0:
		return ""
	case len(have) == 0:
		return d.Words()
	default:
		return d.count(n, "more ")
	}
}

// Asked is a question together with whom it is for, and who has answered.
func (d *Demand) Asked(question string, have []string) string {
	if d == nil {
		return question
	}
	question += " (needs " + d.Words()
	if len(have) > 0 {
		question += "; confirmed by " + strings.Join(have, ", ")
	}
	return question + ")"
}
