// Package fsys reads and changes files by names that stay where they were looked at.
//
// A path is walked component by component (pathWalk), links are followed only as far as their owner may lead, and the end
// is an Anchored name: a directory that is held open, and a name in it. What is done to it is done there, whatever happens
// to the path meanwhile. A dry run puts an Overlay above: what earlier steps would have made.
//
//	path ─▶ Overlay.OpenPlace ─▶ Anchored ─▶ Look ─▶ Entry ─▶ Attributes.For ─▶ Wanted
//	              │                  └─▶ Replacement.Apply    one step: whoever opens it finds the old file or the new one
//	              └ nil: the machine as it is
//
// Archives are read and packed here too. The package knows no jobs; what it needs of a step is in its arguments.
package fsys
