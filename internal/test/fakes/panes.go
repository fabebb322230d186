package fakes

import (
	"regexp"
	"strings"
	"time"
)

// padding is what keeps the right column of the tree at its edge, and the times in it, which are there only when something takes long.
var (
	padding = regexp.MustCompile(`(\w) {2,}(\S)`)
	clocks  = regexp.MustCompile(`\s+\d+:\d\d$`)
)

// panes are the cells on both sides of the divider of a screen of 120: the rows of the tree without times and with two blanks before
// the right column, and the lines of the detail as they are.
func (c *Terminal) panes() (tree, detail string) {
	for i, line := range strings.Split(c.Screen(), "\n") {
		cells := []rune(line)
		if i < 2 || len(cells) < 64 || cells[64] != '│' {
			continue
		}
		if left := clocks.ReplaceAllString(strings.TrimRight(string(cells[:64]), " "), ""); left != "" {
			tree += padding.ReplaceAllString(left, "$1  $2") + "\n"
		}
		if strings.HasPrefix(string(cells[65:]), "   cwd ") {
			cells = append(cells[:65], []rune("   cwd          DIR")...) // a test's own
		}
		detail += strings.TrimRight(strings.TrimPrefix(string(cells[65:]), " "), " ") + "\n"
	}
	return tree, strings.TrimRight(detail, "\n") + "\n"
}

// SeePanes compares what the panes show with what they should; "" for what does not matter. It waits, since a frame may be on its way.
func (c *Terminal) SeePanes(tree, detail string) {
	c.T.Helper()
	gotTree, gotDetail := "", ""
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if gotTree, gotDetail = c.panes(); (tree == "" || gotTree == tree) && (detail == "" || gotDetail == detail) {
			return
		}
	}
	c.T.Fatalf("the tree is\n%s\nand not\n%s\nthe detail is\n%s\nand not\n%s", gotTree, tree, gotDetail, detail)
}
