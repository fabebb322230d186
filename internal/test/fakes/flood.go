package fakes

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// FloodVariable is the environment variable that makes the test binary a step of a flood. Its words are the bytes and the length of a line.
const FloodVariable = "TEST_FLOOD"

// WriteFlood writes what a step of a flood prints: lines of numbers, so that nothing can be lost, doubled or out of order unseen.
func WriteFlood(w io.Writer, size, line int64) error {
	buf := make([]byte, 0, 64<<10)
	for n, number := int64(0), int64(0); n < size; number++ {
		at := len(buf)
		buf = strconv.AppendInt(buf, number, 10)
		buf = append(buf, ' ')
		if n += int64(len(buf) - at); n/line != (n-int64(len(buf)-at))/line {
			buf[len(buf)-1] = '\n'
		}
		if len(buf) > 60<<10 || n >= size {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// pour prints a flood of which the words of the variable are given, and ends.
func pour(words string) {
	var size, line int64
	if _, err := fmt.Sscan(words, &size, &line); err != nil {
		panic(err)
	}
	if err := WriteFlood(os.Stdout, size, line); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}
