package graph

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/internal/termtext"
)

// DOT is the graph for Graphviz. title gives the text of a step.
func (g *Graph) DOT(title func(step int) string) string {
	var b strings.Builder
	b.WriteString("digraph moon {\n  rankdir=LR\n  node [shape=box, fontname=\"sans-serif\"]\n")
	for n := range g.Nodes {
		node := g.Nodes[n]
		label, shape := dotText(node.Label), "point"
		if node.Step >= 0 {
			label, shape = dotText(g.Name(ID(n)))+`\n`+dotText(title(int(node.Step))), "box"
		}
		if node.Join == Whole {
			shape = "ellipse"
		}
		if node.Kind == Gate {
			shape = "diamond"
		}
		fmt.Fprintf(&b, "  n%d [label=\"%s\", shape=%s]\n", n, label, shape)
		for _, e := range g.In(ID(n)) {
			var attrs []string
			if e.On != events.OnSuccess {
				attrs = append(attrs, fmt.Sprintf("label=%q", e.On.String()))
			}
			if e.Data {
				attrs = append(attrs, "style=dashed")
			}
			list := ""
			if len(attrs) > 0 {
				list = " [" + strings.Join(attrs, ", ") + "]"
			}
			fmt.Fprintf(&b, "  n%d -> n%d%s\n", e.From, n, list)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText is a text inside quotes. A backslash begins an escape there, and the ones before letters are moon's own.
func dotText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(termtext.CleanName(text))
}

// Mermaid is the graph as a flowchart, which GitHub and others draw in Markdown. A dotted edge also carries a value.
// title gives the text of a step.
func (g *Graph) Mermaid(title func(step int) string) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for n := range g.Nodes {
		node := g.Nodes[n]
		left, right, label := "((", "))", mermaidText(node.Label)
		if node.Step >= 0 {
			left, right, label = "[", "]", mermaidText(g.Name(ID(n)))+"<br/>"+mermaidText(title(int(node.Step)))
		}
		if node.Kind == Gate {
			left, right = "{", "}"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", n, left, label, right)
		for _, e := range g.In(ID(n)) {
			arrow := "-->"
			if e.Data {
				arrow = "-.->"
			}
			if e.On != events.OnSuccess {
				arrow += "|\"" + mermaidText(e.On.String()) + "\"|"
			}
			fmt.Fprintf(&b, "  n%d %s n%d\n", e.From, arrow, n)
		}
	}
	return b.String()
}

// mermaidText writes what Mermaid would take for its own syntax, or for HTML or Markdown, as #code;.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range termtext.CleanName(text) {
		if r < 0x80 && strings.ContainsRune("\"#;<>&`*_|{}[]()\\~$", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
