// Package netaddr computes with IP and hardware addresses, for the filters of playbooks that ask for networks, hosts and ranges.
//
// It owns what the filter ipaddr and its relatives answer, and nothing of templates: it takes texts and numbers, and gives values.
//
//	"192.0.2.10/24" ── parse ─▶ network ── queries["network"] ─▶ "192.0.2.0"      query.go
//	                                   └── Host, Subnets, Within, Merge           subnet.go
//	"52:54:00:12:34:56" ─ Hardware ─▶ the same, as another program writes it      hardware.go
package netaddr
