package graph

import (
	"encoding/json"
	"reflect"
)

type graphJSON struct {
	Nodes []nodeJSON `json:"nodes"`
	Pools []poolJSON `json:"pools,omitempty"`
}

type poolJSON struct {
	Label string `json:"label"`
	Slots int    `json:"slots"`
}

type nodeJSON struct {
	Name      string     `json:"node"`
	Kind      string     `json:"kind"`
	Join      string     `json:"join,omitempty"`
	Needs     []edgeJSON `json:"needs,omitempty"`
	Essential bool       `json:"essential,omitempty"`
	Rescued   bool       `json:"rescued,omitempty"`
	Pool      *int32     `json:"pool,omitempty"`
	Throttle  *int32     `json:"throttle,omitempty"`
	Spare     int32      `json:"spare,omitempty"`
	Open      bool       `json:"open,omitempty"`
	Terminal  bool       `json:"terminal,omitempty"`
}

type edgeJSON struct {
	Node string `json:"node"`
	On   string `json:"on"`
	Data bool   `json:"data,omitempty"`
}

// DocumentType is the type of what JSON writes, for what describes it.
func DocumentType() reflect.Type { return reflect.TypeFor[graphJSON]() }

// JSON is the graph as part of a plan document: nodes in topological order, each with the edges into it.
func (g *Graph) JSON() ([]byte, error) {
	doc := graphJSON{Nodes: make([]nodeJSON, len(g.Nodes))}
	for _, p := range g.Pools {
		doc.Pools = append(doc.Pools, poolJSON(p))
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		j := nodeJSON{
			Name: g.Name(ID(i)), Kind: n.Kind.String(), Essential: n.Essential, Rescued: n.Rescued, Spare: n.Spare,
			Open: n.Open, Terminal: n.Terminal, Join: joinWords[n.Join],
		}
		if n.Pool >= 0 {
			j.Pool = &n.Pool
		}
		if pool, ok := n.HostPool(); ok {
			j.Throttle = &pool
		}
		for _, e := range g.In(ID(i)) {
			j.Needs = append(j.Needs, edgeJSON{g.Name(e.From), e.On.String(), e.Data})
		}
		doc.Nodes[i] = j
	}
	return json.Marshal(doc)
}
