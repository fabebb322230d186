package overlay

import (
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
)

// CopyMenu offers what can be copied of the node under the cursor, by one more key.
type CopyMenu struct{ items []CopyItem }

// CopyItem is a text that can be copied, and what it is.
type CopyItem struct {
	Key, Words string
	Text       string
	Output     string // the prefix of the files to read it from
}

// NewCopyMenu offers some texts.
func NewCopyMenu(items []CopyItem) *CopyMenu { return &CopyMenu{items} }

// Press takes the key of a text.
func (c *CopyMenu) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	for _, item := range c.items {
		if item.Key == msg.String() {
			return []Want{Close{}, Copy{item}}
		}
	}
	return []Want{Close{}}
}

// Click copies what the line names.
func (c *CopyMenu) Click(_ Screen, row int, _ bool) []Want {
	if row >= len(c.items) {
		return []Want{Close{}}
	}
	return []Want{Close{}, Copy{c.items[row]}}
}

// Draw lists the texts.
func (c *CopyMenu) Draw(Screen, int, int) (title string, body [][]draw.Text, foot string) {
	for _, item := range c.items {
		body = append(body, draw.Hint(item.Key, item.Words))
	}
	body = append(body, []draw.Text{draw.Inked(themes.Dim, " esc  nothing")})
	return "Copy", body, ""
}
