// Package draw puts text on the screen, cell by cell. Its owner is the screen, which decides what is drawn; draw knows nothing of
// plans and runs.
//
//	text from outside ──▶ Plain ──▶ Text (ink, words) ──▶ Doc (lines, wrapped) ─┐
//	theme ──▶ Pen, Glyphs ──────────────────────────────────────────────────────┴─▶ Brush ──▶ rows of a frame
//	                                                                                └──▶ Spots: where a click means something
//
// What must hold: after Plain or Settle a text has the same width under every way of counting, and each stretch that a Brush has
// ended has exactly the cells that it began with.
package draw
