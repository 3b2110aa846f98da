package scan

import "unicode/utf8"

// Cut shortens a text to at most maxBytes bytes. A rune that would be cut in two goes as a whole.
func Cut(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// Clip is Cut that says so: what was shortened ends with an ellipsis, which comes on top of maxBytes.
func Clip(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	return Cut(text, maxBytes) + "…"
}
