// Package inventory knows the hosts that plays run on: who they are, which groups they are in, and which variables they bring.
//
//	sources (-i) ──Load──▶ Inventory ──Match(pattern)──▶ hosts
//	                                 ──Layers(host)────▶ variables as written, lowest precedence first
//
// It renders nothing and starts nothing: files, directories and the output of executable inventories come from its caller.
package inventory
