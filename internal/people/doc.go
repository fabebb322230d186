// Package people says who has to confirm a step, and counts who has.
//
//	confirm: {by: 2, group: ops} ──▶ Demand ──Missing(those who have)──▶ "1 more person of the group ops"
//
// It knows names and nothing else: who a person is, and which groups they are in, is found out where their request is taken.
package people
