package show

import "bytes"

// appendIndented adds a JSON value to a text, laid out as json.Indent does with the prefix and two spaces. The value is as json.Marshal
// writes it, without white space and without mistakes: that nothing is looked for but ends makes this several times as fast.
func appendIndented(to, value []byte, prefix string) []byte {
	depth := 0
	breakLine := func() {
		to = append(append(to, '\n'), prefix...)
		for range depth {
			to = append(to, ' ', ' ')
		}
	}
	for i := 0; i < len(value); {
		c := value[i]
		end := i + 1
		switch c {
		case '"':
			end = endOfString(value, i)
		case '{', '[':
			// What is empty stays on its line. In ASCII a closing bracket is two behind the one that opens.
			if end < len(value) && value[end] == c+2 {
				end++
				break
			}
			depth++
			to = append(to, c)
			breakLine()
			i = end
			continue
		case '}', ']':
			depth--
			breakLine()
		case ',':
			to = append(to, c)
			breakLine()
			i = end
			continue
		case ':':
			to = append(to, ':', ' ')
			i = end
			continue
		}
		to = append(to, value[i:end]...)
		i = end
	}
	return to
}

// endOfString is behind the string that begins at a place.
func endOfString(value []byte, begin int) int {
	for end := begin + 1; ; {
		n := bytes.IndexByte(value[end:], '"')
		if n < 0 {
			return len(value)
		}
		end += n + 1
		escapes := 0
		for value[end-2-escapes] == '\\' {
			escapes++
		}
		// An even number of them are characters of their own.
		if escapes%2 == 0 {
			return end
		}
	}
}
