package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandWords are the words of a command line as a shell reads it that expands nothing: quotes of both kinds, and
// backslashes, keep together what they stand for. Its error names the quote or backslash that has no end.
func commandWords(line string) (words []string, err error) {
	word, begun := "", false
	for i := 0; i < len(line); {
		c, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case c == '\'' || c == '"':
			text, length := quoted(line[i:])
			if length == 0 {
				return nil, fmt.Errorf("the quote %c at byte %d has no end", c, i)
			}
			word, begun, size = word+text, true, length
		case c == '\\':
			_, after := utf8.DecodeRuneInString(line[i+1:])
			if after == 0 {
				return nil, fmt.Errorf(`nothing follows the \ at byte %d`, i)
			}
			size += after
			word, begun = word+line[i+1:i+size], true
		case unicode.IsSpace(c):
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+line[i:i+size], true
		}
		i += size
	}
	if begun {
		words = append(words, word)
	}
	return words, nil
}

// quoted is the text between the quote that line begins with and the next of its kind, and the length of all of it, 0 if
// there is no other. A backslash in double quotes stands for itself, but before those characters that a shell would take
// for more.
func quoted(line string) (text string, length int) {
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == line[0]:
			return b.String(), i + 1
		case line[0] == '"' && line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0:
			i++
		}
		b.WriteByte(line[i])
	}
	return "", 0
}
