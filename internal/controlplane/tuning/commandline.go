package tuning

import (
	"errors"
	"strings"
)

// word is a word of a command line in a unit file, and where it stands in the file's text.
type word struct {
	// text is the word without its quotes. Escapes stay as they are.
	text       string
	start, end int
}

// readCommandLine splits the text between two positions of a unit file into words, after the manner of systemd.service(5):
// they are separated by white space and by ends of lines behind a backslash, quotes hold them together, and lines of comments
// between them do not count.
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

// blankWidth returns how much at the start of some text separates words.
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
