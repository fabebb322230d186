package plain

// WriteResult is a result as a style writes it.
func (s ResultStyle) WriteResult(result map[string]any) string { return s.write(result, true) }
