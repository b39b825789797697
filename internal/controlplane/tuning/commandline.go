package tuning

import (
	"errors"
	"strings"
)

// word is a word of a command line in a unit file, with its position in the file's text.
type word struct {
	// text is the word without its quotes. Escapes are kept.
	text       string
	start, end int
}

// readCommandLine splits a part of a unit file into words, as systemd.service(5) does: they are separated by white space and by ends of lines after a
// backslash, quotes keep them together, and comment lines are skipped.
func readCommandLine(text string, start, end int) ([]word, error) {
	var words []word
	for position := start; position < end; {
		if width := blankWidth(text[position:end], position > start && text[position-1] == '\n'); width > 0 {
			position += width
			continue
		}
		next, err := readWord(text, position, end)
		if err != nil {
			return nil, err
		}
		words = append(words, next)
		position = next.end
	}
	return words, nil
}

// blankWidth returns the length of the separator at the start of a text.
func blankWidth(text string, startsLine bool) int {
	switch {
	case startsLine && isComment(strings.TrimSpace(lineAt(text, 0))):
		return min(len(lineAt(text, 0))+1, len(text))
	case strings.HasPrefix(text, "\\\n") || text == `\`:
		return min(2, len(text))
	case strings.ContainsRune(" \t\r\n", rune(text[0])):
		return 1
	default:
		return 0
	}
}

func readWord(text string, start, end int) (word, error) {
	var (
		plain strings.Builder
		quote byte
	)
	for position := start; position < end; position++ {
		character := text[position]
		switch {
		case quote == 0 && blankWidth(text[position:end], false) > 0:
			return word{text: plain.String(), start: start, end: position}, nil
		case character == '\\' && position+1 < end:
			plain.WriteString(text[position : position+2])
			position++
		case quote == 0 && (character == '"' || character == '\''):
			quote = character
		case quote != 0 && character == quote:
			quote = 0
		default:
			plain.WriteByte(character)
		}
	}
	if quote != 0 {
		return word{}, errors.New("a quote is opened and never closed")
	}
	return word{text: plain.String(), start: start, end: end}, nil
}
